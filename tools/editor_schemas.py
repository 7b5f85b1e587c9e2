"""stacks/.schemas: what editors check declared files with."""

from __future__ import annotations

from pathlib import Path

from planner.scaffold.writing import schema_files


def texts(_root: Path) -> dict[Path, str]:
    """Return what the schemas have to hold."""
    return {Path(path): text for path, text in schema_files().items()}
