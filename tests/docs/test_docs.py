"""Documentation is tested: commands, flags, keys, exit codes and links exist as written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from planner import errors
from planner.cli import main
from planner.declare import json_schemas
from planner.plan import Plan
from tools.readme import renewed, shown

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text()


def commands() -> Iterator[tuple[str, click.Command]]:
    yield from main.commands.items()


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_and_option_is_documented_and_has_help(
    name: str, command: click.Command
) -> None:
    page = text("cli.md")
    assert f"`{name}" in page
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, (name, parameter.name)
            assert parameter.opts[-1] in page, (name, parameter.opts)


def test_every_exit_code_is_documented() -> None:
    rows = set(re.findall(r"^\| (\d+) \|", text("exit-codes.md"), re.MULTILINE))
    codes = {str(value) for key, value in vars(errors).items() if key.startswith("EXIT_")}
    assert rows == codes


def keys(schema: dict[str, Any]) -> set[str]:
    found = set(schema.get("properties", {}))
    for definition in schema["$defs"].values():
        found |= set(definition.get("properties", {}))
    return found


@pytest.mark.parametrize("kind", ["workload", "platform"])
def test_every_key_of_the_declared_files_is_documented(kind: str) -> None:
    page = text("workloads.md")
    words = set(re.findall(r"[a-z_0-9]+", page))
    assert keys(json_schemas()[kind]) <= words


def test_every_key_of_the_plan_is_documented() -> None:
    page = text("plan-schema.md")
    wanted = {*Plan.model_fields, "capacity_digest", "evidence_digest"}
    assert wanted <= set(re.findall(r"`([a-z_]+)`", page))


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_decision_record_is_in_the_index() -> None:
    index = text("adr/README.md")
    for page in (DOCS / "adr").glob("2*.md"):
        assert page.name in index


def test_the_readme_has_the_two_commands_and_every_make_target_exists() -> None:
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    assert "make preview" in readme
    assert "make test" in readme
    for page in pages():
        for target in re.findall(r"`make ([a-z-]+)", page.read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (page, target)


def test_the_readme_shows_what_the_command_prints_today() -> None:
    readme = ROOT / "README.md"
    assert renewed(readme.read_text(), shown()) == readme.read_text(), "run `make readme`"
