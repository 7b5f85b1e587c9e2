"""The block `errors` of docs/exit-codes.md: which errors of the registry end with each code."""

from __future__ import annotations

from pathlib import Path

from planner import errors
from planner.faults import REGISTRY
from tools.generated import with_block

PAGE = Path("docs/exit-codes.md")


def exit_codes() -> list[int]:
    """Return every exit code that the command line has, in order."""
    return sorted(value for name, value in vars(errors).items() if name.startswith("EXIT_"))


def table() -> str:
    """Return the errors of each exit code, as Markdown."""
    lines = ["| code | errors |", "|---|---|"]
    for exit_code in exit_codes():
        ids = sorted(code.id for code in REGISTRY.values() if code.exit_code == exit_code)
        links = ", ".join(f"[{id}](errors.md#{id.lower()})" for id in ids)
        lines.append(f"| {exit_code} | {links or 'none'} |")
    return "\n".join(lines)


def renewed(text: str) -> str:
    """Return the page with the errors as the registry has them."""
    return with_block(text, "errors", table())


def texts(root: Path) -> dict[Path, str]:
    """Return what the page has to hold."""
    return {PAGE: renewed((root / PAGE).read_text(encoding="utf-8"))}
