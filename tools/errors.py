"""`python -m tools.errors`: write docs/errors.md from the registry, or check it with --check."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

from planner.errors import Code
from planner.faults import MODULES
from tools.shell_env import PROJECT

PAGE = Path("docs/errors.md")
_WIDTH = 100

_HEAD = """# Errors

Every message about an error says where it is, what is wrong and how to fix it, and ends with a
code in brackets. `llm-capacity errors CODE` prints what stands here, without a network. A code
is never given to another kind of error. What each exit code means is in
[exit-codes.md](exit-codes.md); rules of the policies have ids and pages of their own, in
[policies](policies/README.md). An option that does not exist or is left out is told with the
command's usage, and ends with 2.

This page is written from planner/faults by `make errors`.
"""


def page_text() -> str:
    """Return the page: a section for each family, a heading for each code."""
    parts = [_HEAD]
    for module in MODULES:
        codes = [code for code in vars(module).values() if isinstance(code, Code)]
        parts.append(f"## {(module.__doc__ or '').rstrip('.')}\n")
        parts.extend(_entries(codes))
    return "\n".join(parts)


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


def main(arguments: list[str], root: Path = PROJECT) -> int:
    """Write the page anew, or with --check end with 1 where it differs."""
    path, text = root / PAGE, page_text()
    if "--check" in arguments:
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE} differs from the registry: run `make errors`", file=sys.stderr)
        return 1
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
