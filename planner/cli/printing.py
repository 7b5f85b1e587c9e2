"""Text for people: verdicts in colour on a terminal, the same bytes without it elsewhere.

Colour repeats what the words say; nothing is told by colour alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import rich_click as click

_STYLES = (
    (r"\b(DENY|UNAVAILABLE|INFEASIBLE)\b|^\s*(error|denied):", "bold red"),
    (r"\b(WARN)\b|^\s*warning:", "yellow"),
    (r"\b(ALLOW)\b", "green"),
    (r"\b[A-Z]{3}-\d{3}\b", "bold"),
)
"""What is marked in a line, by pattern: verdicts, errors, ids of rules."""


def told_to(text: str, *, stderr: bool = False) -> None:
    """Print ``text`` as it is to stdout, or to stderr; in colour where a terminal shows it."""
    stream = sys.stderr if stderr else sys.stdout
    if not coloured(stream.isatty(), os.environ):
        click.echo(text, err=stderr, nl=False)
        return
    from rich.console import Console
    from rich.text import Text

    marked = Text(text, end="")
    for pattern, style in _STYLES:
        marked.highlight_regex(f"(?m){pattern}", style)
    # Lines stay whole, so that a copied line is a line.
    Console(stderr=stderr, highlight=False).print(marked, soft_wrap=True, end="")


def coloured(terminal: bool, environ: Mapping[str, str]) -> bool:
    """Whether colour is used: on a terminal, without NO_COLOR, other than TERM=dumb."""
    return terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
