"""Declared files alone: their form, what they refer to, the catalog; no policy is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner import faults
from planner.base import Frozen
from planner.catalog.loader import Catalog
from planner.declare import load_stack
from planner.errors import InputError, Problem
from planner.project import project_above, stack_names


class Validated(Frozen):
    """What reading one stack found: its workloads, or everything that is wrong with it."""

    stack: str
    workloads: tuple[str, ...] = ()
    input_digest: str | None = None
    problems: tuple[dict[str, str | None], ...] = ()


def validate_stacks(root: Path, names: Sequence[str], catalog: Catalog) -> list[Validated]:
    """Read the stacks named, or every stack of the project where none is.

    Raises InputError where the project has no stack at all.
    """
    wanted = [*names] or stack_names(root)
    if not wanted:
        what = f"{root.as_posix()} has no file stacks/Pulumi.NAME.yaml"
        raise InputError(
            [
                faults.NO_SUCH_STACK.at(
                    "--root", what, f"Start one with `llm-capacity init`{project_above(root)}."
                )
            ]
        )
    return [_validated(root, name, catalog) for name in wanted]


def document(found: Sequence[Validated]) -> dict[str, object]:
    """Return what was found as plain data."""
    return {
        "valid": not problem_count(found),
        "stacks": [stack.model_dump(mode="json") for stack in found],
    }


def told(found: Sequence[Validated]) -> str:
    """Return what was found as text: a line a stack, a line a problem."""
    lines = []
    for stack in found:
        if not stack.problems:
            count = len(stack.workloads)
            lines.append(f"{stack.stack}: valid, {count} workload{'' if count == 1 else 's'}")
            continue
        lines.append(f"{stack.stack}: {_counted(len(stack.problems))}")
        lines += [f"  {problem['text']}" for problem in stack.problems]
    return "\n".join([*lines, ""])


def problem_count(found: Sequence[Validated]) -> int:
    """Return how many problems there are."""
    return sum(len(stack.problems) for stack in found)


def _counted(count: int) -> str:
    return f"{count} problem{'' if count == 1 else 's'}"


def _validated(root: Path, name: str, catalog: Catalog) -> Validated:
    try:
        stack = load_stack(root, name, catalog)
    except InputError as error:
        return Validated(stack=name, problems=tuple(_plain(each) for each in error.problems))
    return Validated(
        stack=name,
        workloads=tuple(workload.name for workload in stack.workloads),
        input_digest=stack.input_digest,
    )


def _plain(problem: Problem) -> dict[str, str | None]:
    return {
        "where": problem.where,
        "what": problem.what,
        "fix": problem.fix,
        "code": None if problem.code is None else problem.code.id,
        "text": str(problem),
    }
