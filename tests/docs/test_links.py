"""No dead link or anchor, and no page that nobody finds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.docs.links import DOCS, anchors, dead, links, pages
from tools.shell_env import PROJECT

INDEX = DOCS / "README.md"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert dead(page) == []


def test_every_page_is_found_from_the_index() -> None:
    direct = Counter(link.file for link in links(INDEX) if link.file.is_relative_to(DOCS))
    assert [page for page, times in direct.items() if times > 1] == []
    second = {link.file for page in direct for link in links(page)}
    lost = set(DOCS.rglob("*.md")) - {INDEX} - set(direct) - second
    assert lost == set()
    # The second step is for lists of pages alike: all others are in the index itself.
    listed = {page for page in DOCS.rglob("*.md") if page.parent.name in ("policies", "adr")}
    assert set(DOCS.rglob("*.md")) - listed - set(direct) == {INDEX}


def test_the_index_is_found() -> None:
    assert INDEX in {link.file for link in links(PROJECT / "README.md")}


def test_what_is_dead_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `page`: its [title](x.md)!\n\n## Twice\n\n## Twice\n\n"
        "[a](nowhere.md) [b](#a-page-its-title) [c](#twice-1) [d](#twice-2) [e](https://a/b)\n"
        "```\n# no heading\n[f](nothing.md)\n```\n"
    )
    assert anchors(page) == {"a-page-its-title", "twice", "twice-1"}
    assert dead(page) == ["x.md", "nowhere.md", "#twice-2"]
