"""Files that repeat what the code says: each is written where it differs, or checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from planner.files import write_whole
from planner.toolchain.progress import SetupError

Generator = Callable[[Path], Mapping[Path, str]]
"""Takes a project's folder; returns what files have to hold, by their path in that folder."""


def stale(root: Path, texts: Mapping[Path, str]) -> list[Path]:
    """Return the files that do not hold what they have to, in order."""
    return sorted(path for path, text in texts.items() if _held(root / path) != text)


def keep(generators: Iterable[Generator], *, check: bool, root: Path, by: str = "make docs") -> int:
    """Write the files that differ, or with ``check`` only name them; return the exit code.

    That is 1 where a check finds a file that differs; ``by`` is the command that renews it.
    Each generator runs after the files of those before it are written.
    """
    differing = 0
    for generator in generators:
        texts = generator(root)
        for path in stale(root, texts):
            differing += 1
            if check:
                print(f"{path} differs from what it is written from: run `{by}`", file=sys.stderr)
            else:
                write_whole(root / path, texts[path])
                print(f"wrote {path}")
    if not check and not differing:
        print("nothing to renew")
    return int(check and differing > 0)


def with_block(text: str, name: str, content: str) -> str:
    """Return a page with ``content`` between `<!-- NAME -->` and the next `<!-- end -->`.

    Raises SetupError where the page has no such block.
    """
    begin, end = f"<!-- {name} -->", "<!-- end -->"
    block = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    current, found = block.subn(lambda _: f"{begin}\n{content}\n{end}", text)
    if not found:
        raise SetupError(f"the page has no block from {begin} to {end}")
    return current


def _held(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
