"""Capacity and decisions on both sides, workload by workload."""

from __future__ import annotations

from collections.abc import Iterator

from planner.comparing.snapshot import Snapshot, State
from planner.comparing.types import CapacityRow, FlippedDecision, Presence


def paired(old: Snapshot, new: Snapshot) -> Iterator[tuple[str, State | None, State | None]]:
    """Yield each workload of either side with its states, by name."""
    before = {state.workload: state for state in old.states}
    after = {state.workload: state for state in new.states}
    for name in sorted({*before, *after}):
        yield name, before.get(name), after.get(name)


def capacity_rows(old: Snapshot, new: Snapshot) -> tuple[CapacityRow, ...]:
    """Return a row for each workload of either side."""
    return tuple(_row(*pair) for pair in paired(old, new))


def flipped(old: Snapshot, new: Snapshot) -> tuple[FlippedDecision, ...]:
    """Return the workloads of both sides whose option or status is another, and why."""
    return tuple(
        _flip(name, before, after)
        for name, before, after in paired(old, new)
        if before is not None
        and after is not None
        and (before.option, before.status) != (after.option, after.status)
    )


def _flip(name: str, before: State, after: State) -> FlippedDecision:
    """Return what became of the old option in the new plan."""
    row = next((row for row in after.lost if row.option == before.option), None)
    why = (row.why if row else "") or after.explanation
    if after.option is None:
        # Why nothing serves now; that the old option lost follows from it.
        why = after.explanation
    elif row is None and before.option is not None and after.lost:
        why = f"it is no longer among the options; {why}"
    return FlippedDecision(
        workload=name,
        old_status=before.status,
        new_status=after.status,
        old_option=before.option,
        new_option=after.option,
        lost=row.lost if row else None,
        why=why,
    )


def _row(name: str, old: State | None, new: State | None) -> CapacityRow:
    presence: Presence = "both" if old and new else "added" if new else "removed"
    return CapacityRow(
        workload=name,
        presence=presence,
        old_status=old.status if old else None,
        new_status=new.status if new else None,
        old=old.size if old else None,
        new=new.size if new else None,
    )
