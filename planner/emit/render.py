"""A plan as a folder of files, for pipelines that apply files.

The folder is replaced as a whole, and only if this program wrote all of it.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from planner import faults
from planner.emit.layout import documents
from planner.emit.yaml_text import to_yaml
from planner.errors import InputError, PlannerError
from planner.plan import Plan

__all__ = ["MARKER", "documents", "render", "to_yaml"]

MARKER = ".llm-capacity-render.json"
"""The file that names all others of a folder: what is not in it, no render wrote."""


def render(
    plan: Plan,
    out_dir: Path,
    record: Mapping[str, Any] | None = None,
    plan_json: str | None = None,
    guards: Mapping[str, str] = MappingProxyType({}),
) -> list[Path]:
    """Write the plan's files below ``out_dir`` and return them, sorted.

    The layout is that of :mod:`planner.emit.layout`; ``record`` is the policy record of the
    run, ``plan_json`` its plan as written already, ``guards`` the documents for the clouds' own
    guards. Equal plans give equal bytes. Others see
    the old folder or the new one, never a mix; the file of an object that has gone is gone.
    A folder with anything in it that an earlier render did not write is refused and left as
    it is.
    """
    if plan.verdict in ("deny", "unavailable"):
        what = f"the plan's verdict is {plan.verdict}: nothing is rendered"
        raise PlannerError(faults.NOT_ALLOWED.at(f"stack {plan.stack}", what))
    files = documents(plan, record, plan_json, guards)
    marker = {"capacity_digest": plan.capacity_digest, "files": sorted(files)}
    _check_ours(out_dir)
    _replace(out_dir, {**files, MARKER: json.dumps(marker, indent=2, sort_keys=True) + "\n"})
    return sorted(out_dir / name for name in files)


def _replace(out_dir: Path, files: Mapping[str, str]) -> None:
    """Write a new folder beside the old one, then exchange them by renaming."""
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out_dir.parent, prefix=f".{out_dir.name}-") as scratch:
        fresh, stale = Path(scratch, "fresh"), Path(scratch, "stale")
        for folder in {fresh, *((fresh / name).parent for name in files)}:
            folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (fresh / name).write_text(text, encoding="utf-8", newline="\n")
        if out_dir.exists():
            os.rename(out_dir, stale)
        try:
            os.rename(fresh, out_dir)
        except OSError:
            if stale.exists():
                os.rename(stale, out_dir)
            raise
        shutil.rmtree(stale, ignore_errors=True)


def _check_ours(out_dir: Path) -> None:
    """Refuse a folder that holds anything an earlier render did not write."""
    if out_dir.is_symlink() or (out_dir.exists() and not out_dir.is_dir()):
        raise _refusal(out_dir, "is not a folder")
    if not out_dir.exists() or not any(out_dir.iterdir()):
        return
    try:
        listed = set(json.loads((out_dir / MARKER).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise _refusal(out_dir, "is not empty and was not written by a render") from None
    here = {
        path.relative_to(out_dir).as_posix()
        for path in out_dir.rglob("*")
        if not path.is_dir() or path.is_symlink()
    }
    foreign = sorted(here - listed - {MARKER})
    if foreign:
        raise _refusal(out_dir, f"also holds {', '.join(foreign)}, which no render wrote")


def _refusal(out_dir: Path, what: str) -> InputError:
    problem = faults.FOREIGN_FOLDER.at(str(out_dir), what)
    return InputError([problem])
