"""Words that Markdown and HTML show as they are."""

from __future__ import annotations

import re

from planner.report.words import clean

_SPECIAL = re.compile(r"([\\`*_\[\]|#~])")


def escaped(text: str) -> str:
    """Return ``text`` for Markdown, in one line."""
    plain = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return a Markdown table; cells are Markdown already."""
    lines = [head, tuple("---" for _ in head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
