"""`python -m tools.editor_schemas`: write stacks/.schemas for editors, or --check it."""

from __future__ import annotations

import sys
from pathlib import Path

from planner.files import write_whole
from planner.scaffold.writing import schema_files
from tools.shell_env import PROJECT


def main(arguments: list[str], root: Path = PROJECT) -> int:
    """Write the schemas anew, or with --check end with 1 where one differs."""
    for path, text in schema_files().items():
        file = root / path
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            print(f"{path} differs from the models: run `make docs`", file=sys.stderr)
            return 1
        write_whole(file, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
