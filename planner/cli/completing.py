"""What a shell completes besides options: stacks and workloads, from the project's folder.

Nothing is planned and no catalog is read: a completion has to answer while somebody types.
"""

from __future__ import annotations

import re
from pathlib import Path

import rich_click as click

from planner.project import folder_of, stack_names

_NAME = re.compile(r"^name:\s*[\"']?([A-Za-z0-9-]+)", re.MULTILINE)


def complete_stack(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the stacks of the project that begin so."""
    return [name for name in stack_names(_root(ctx)) if name.startswith(incomplete)]


def complete_workload(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the workloads that begin so: of the stack, once it is given, else of all."""
    root, stack = _root(ctx), ctx.params.get("stack")
    stacks = [stack] if isinstance(stack, str) else stack_names(root)
    found = {name for each in stacks for name in _workloads(folder_of(root, each))}
    return sorted(name for name in found if name.startswith(incomplete))


def _root(ctx: click.Context) -> Path:
    given = ctx.params.get("root")
    return given if isinstance(given, Path) else Path()


def _workloads(folder: Path) -> list[str]:
    names = []
    for path in sorted(folder.glob("*.y*ml")):
        if path.name == "platform.yaml" or path.name.startswith("."):
            continue
        try:
            match = _NAME.search(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        if match is not None:
            names.append(match.group(1))
    return names
