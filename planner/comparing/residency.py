"""Where prompts are processed, on both sides: by the stack, and by each workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from planner.comparing.capacity import paired
from planner.comparing.snapshot import Snapshot, State
from planner.comparing.types import PlaceRow, ProtectionRow, ResidencyDiff

Kind = Literal["region", "jurisdiction"]
Places = Mapping[tuple[Kind, str], list[State]]


def residency_diff(old: Snapshot, new: Snapshot) -> ResidencyDiff:
    """Return the regions and jurisdictions that came or went, and changed protection."""
    moved: list[PlaceRow] = []
    protection: list[ProtectionRow] = []
    for _, before, after in paired(old, new):
        if before is not None and after is not None:
            protection += _protection(before, after)
            # A workload that came or went is told with the stack's places.
            if before.place is not None and after.place is not None:
                moved += _rows(_places([before]), _places([after]))
    return ResidencyDiff(
        places=tuple(_rows(_places(old.states), _places(new.states))),
        moved=tuple(moved),
        protection=tuple(protection),
    )


def _places(states: tuple[State, ...] | list[State]) -> Places:
    found: dict[tuple[Kind, str], list[State]] = {}
    for state in states:
        if state.place is not None:
            for region in state.place.regions:
                found.setdefault(("region", region), []).append(state)
            for country in state.place.jurisdictions:
                found.setdefault(("jurisdiction", country), []).append(state)
    return found


def _rows(old: Places, new: Places) -> Iterator[PlaceRow]:
    for key in sorted(set(old) ^ set(new), key=lambda key: (key[0] != "region", key)):
        states = new[key] if key in new else old[key]
        yield PlaceRow(
            kind=key[0],
            name=key[1],
            change="added" if key in new else "removed",
            classes=tuple(sorted({state.classification for state in states})),
            workloads=tuple(sorted(state.workload for state in states)),
        )


def _protection(old: State, new: State) -> Iterator[ProtectionRow]:
    if old.classification != new.classification:
        yield ProtectionRow(
            workload=new.workload,
            field="classification",
            old=old.classification,
            new=new.classification,
        )
    if old.residency != new.residency:
        yield ProtectionRow(
            workload=new.workload,
            field="residency",
            old=", ".join(old.residency),
            new=", ".join(new.residency),
        )
