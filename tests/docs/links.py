"""What pages link to: files, and headings by the anchors that Git hosts give them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.shell_env import PROJECT

DOCS = PROJECT / "docs"

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_PUNCTUATION = re.compile(r"[^\w\- ]")


class Link(NamedTuple):
    """A relative link: the file that it leads to, and the anchor in it, empty without one."""

    written: str
    file: Path
    anchor: str


def pages() -> list[Path]:
    """Every page: the two of the root, and all of docs."""
    return [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def links(page: Path) -> Iterator[Link]:
    """The relative links of a page, outside of its code."""
    for written in _LINK.findall(_FENCE.sub("", page.read_text())):
        if "://" not in written and not written.startswith("mailto:"):
            path, _, anchor = written.partition("#")
            yield Link(written, (page.parent / path).resolve() if path else page, anchor)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings; a repeated one gets a number."""
    found: dict[str, int] = {}
    names = []
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text())):
        plain = _PUNCTUATION.sub("", _MARKUP.sub(r"\1", heading).lower()).strip()
        slug = plain.replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        names.append(f"{slug}-{count}" if count else slug)
    return frozenset(names)


def dead(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    return [
        link.written
        for link in links(page)
        if not link.file.exists()
        or (link.anchor and link.file.suffix == ".md" and link.anchor not in anchors(link.file))
    ]
