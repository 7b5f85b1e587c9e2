"""`python -m tools.exit_codes`: renew the errors in docs/exit-codes.md, or --check them.

What lies between `<!-- errors -->` and `<!-- end -->` is written from the registry of errors:
which errors end with each code.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from planner import errors
from planner.faults import REGISTRY
from tools.shell_env import PROJECT

PAGE = "docs/exit-codes.md"

_BLOCK = re.compile(r"<!-- errors -->.*?<!-- end -->", re.DOTALL)


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
    block = f"<!-- errors -->\n{table()}\n<!-- end -->"
    return _BLOCK.sub(lambda _: block, text)


def main(arguments: list[str], root: Path = PROJECT) -> int:
    """Write the page anew, or with --check end with 1 where it differs."""
    path = root / PAGE
    text = path.read_text(encoding="utf-8")
    current = renewed(text)
    if "--check" not in arguments:
        path.write_text(current, encoding="utf-8")
        return 0
    if current == text:
        return 0
    print(f"{PAGE} differs from the registry: run `make errors`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
