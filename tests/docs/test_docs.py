"""The README shows what is true today; make targets and decision records exist as written."""

from __future__ import annotations

import re

from tests.docs.links import DOCS, pages
from tools.readme import renewed, shown
from tools.shell_env import PROJECT


def test_every_decision_record_is_in_the_index() -> None:
    index = (DOCS / "adr" / "README.md").read_text()
    for page in (DOCS / "adr").glob("2*.md"):
        assert f"({page.name})" in index
        for part in ("Context: ", "Decision: ", "Consequences: "):
            assert f"\n{part}" in page.read_text(), (page.name, part)


def test_the_readme_has_the_two_commands_and_every_make_target_exists() -> None:
    readme = (PROJECT / "README.md").read_text()
    makefile = (PROJECT / "Makefile").read_text()
    assert "make preview" in readme
    assert "make test" in readme
    for page in pages():
        for target in re.findall(r"`make ([a-z-]+)", page.read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (page, target)


def test_the_readme_shows_what_the_command_prints_today() -> None:
    readme = PROJECT / "README.md"
    assert renewed(readme.read_text(), shown()) == readme.read_text(), "run `make docs`"
