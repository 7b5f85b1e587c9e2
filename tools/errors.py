"""docs/errors.md as the registry of errors has it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

from planner.errors import Code
from planner.faults import MODULES

PAGE = Path("docs/errors.md")
_WIDTH = 100

_HEAD = """# Errors

Every message about an error says where it is, what is wrong and how to fix it, and ends with a
code in brackets. `llm-capacity errors CODE` prints what stands here, without a network. A code
is never given to another kind of error. What each exit code means is in
[exit-codes.md](exit-codes.md); rules of the policies have ids and pages of their own, in
[policies](policies/README.md). An option that does not exist or is left out is told with the
command's usage, and ends with 2.

This page is written from planner/faults by `make docs`.
"""


def page_text() -> str:
    """Return the page: a section for each family, a heading for each code."""
    parts = [_HEAD]
    for module in MODULES:
        codes = [code for code in vars(module).values() if isinstance(code, Code)]
        parts.append(f"## {(module.__doc__ or '').rstrip('.')}\n")
        parts.extend(_entries(codes))
    return "\n".join(parts)


def texts(_root: Path) -> dict[Path, str]:
    """Return what the page has to hold."""
    return {PAGE: page_text()}


def _entries(codes: Iterable[Code]) -> Iterable[str]:
    for code in sorted(codes, key=lambda code: code.id):
        yield (
            f"### {code.id}\n\n"
            f"What is wrong: {code.title}.\n\n"
            f"- Where: {code.where}.\n"
            f"- How to fix: {code.fix}\n"
            f"- Exit code: {code.exit_code}.\n\n"
            f"{fill(code.why, _WIDTH)}\n"
        )
