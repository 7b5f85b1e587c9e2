"""What a plan is compared with: a file, a Git revision, or the deployed stack."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from planner import faults
from planner.comparing.snapshot import Snapshot, nothing, snapshot_of
from planner.deployed import ask_engine, outputs_of, snapshot_in
from planner.errors import InputError
from planner.git_tree import commit_of, folder_at
from planner.plan import Plan
from planner.plan_reading import read_plan
from planner.project import folder_of
from planner.run_inputs import approved_plan

DEPLOYED = "deployed"
SHORT = 12
"""Characters of a digest or commit in a text."""


class Baseline(NamedTuple):
    """The other side of a comparison, and where it came from in words."""

    snapshot: Snapshot
    label: str


def baseline_of(root: Path, stack: str, against: str, plan_at: Callable[[Path], Plan]) -> Baseline:
    """Return what ``against`` names for a stack of project folder ``root``.

    ``deployed`` asks the engine; a path (from ``root``) is a plan.json or what
    ``pulumi stack output --json`` or ``pulumi stack export`` wrote; anything else is a Git
    revision, whose declared files ``plan_at`` plans, with that revision's own policies and the
    catalog of this release. A stack that is not there yet is nothing, at no cost.
    Raises InputError for what cannot be read, and for a plan of another stack.
    """
    if against == DEPLOYED:
        snapshot = snapshot_in(ask_engine(root, stack), stack, f"stack {stack}")
        found = Baseline(snapshot, f"the deployed stack {stack}")
    elif (root / against).is_file():
        found = Baseline(_of_file(root, stack, against), against)
    else:
        found = _of_revision(root, stack, against, plan_at)
    if found.snapshot.stack != stack:
        what = f"is a plan of stack {found.snapshot.stack}, not of {stack}"
        raise InputError([faults.BAD_AGAINST.at(against, what, "Name a baseline of this stack.")])
    return found


def _of_file(root: Path, stack: str, path: str) -> Snapshot:
    text = approved_plan(root, path)
    try:
        outputs = outputs_of(json.loads(text))
    except ValueError:
        outputs = None
    if outputs is not None:
        return snapshot_in(outputs, stack, path)
    return snapshot_of(read_plan(text, path))


def _of_revision(
    root: Path, stack: str, revision: str, plan_at: Callable[[Path], Plan]
) -> Baseline:
    commit = commit_of(root, revision)
    label = revision if commit.startswith(revision) else f"{revision} ({commit[:SHORT]})"
    with folder_at(root, commit) as folder:
        if not folder_of(folder, stack).exists():
            return Baseline(nothing(stack), f"{label}, which does not have this stack")
        try:
            return Baseline(snapshot_of(plan_at(folder)), label)
        except InputError as error:
            raise InputError(
                [problem.placed(f"{revision}: {problem.where}") for problem in error.problems]
            ) from None
