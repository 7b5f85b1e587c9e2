"""What the two plans rest on: demand, prices and their dates, catalog, policy, declared files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from planner.comparing.capacity import paired
from planner.comparing.cost import cost_diff
from planner.comparing.snapshot import Snapshot, State
from planner.comparing.types import Moved
from planner.decision import Mix
from planner.policy.waivers import STACK

_INPUTS = {
    "input_digest": "declared files",
    "catalog_digest": "catalog",
    "policy_digest": "policies",
}
_STACK_FIELDS = {"as_of": "prices as of"}


def assumptions(old: Snapshot, new: Snapshot) -> tuple[Moved, ...]:
    """Return what moved: of the workload whose cost moved most first, then the stack's.

    Within a workload the largest relative change comes first.
    """
    weight = {
        row.workload: abs(row.total.delta) if row.total.delta is not None else float("inf")
        for row in cost_diff(old, new).rows
    }
    found: list[Moved] = []
    for _, before, after in paired(old, new):
        if before is not None and after is not None:
            found += _of_workload(before, after)
    found.sort(key=lambda row: (-weight[row.about], row.about, -abs(row.share or 0.0), row.what))
    return (*found, *_of_stack(old, new))


def _of_workload(old: State, new: State) -> Iterator[Moved]:
    name = new.workload
    for field in Mix.model_fields:
        before, after = getattr(old.mix, field), getattr(new.mix, field)
        if before != after:
            yield _moved(name, field.replace("_", " "), before, after)
    if old.option and new.option and old.latency_basis != new.latency_basis:
        yield _moved(name, "latency rests on", old.latency_basis, new.latency_basis)
    if old.option == new.option:
        # With another demand the mean price of a token is a result.
        if old.mix == new.mix and old.usd_per_mtok != new.usd_per_mtok:
            yield _moved(name, "USD per million tokens", old.usd_per_mtok, new.usd_per_mtok)
        # Another option has other rows: that is a decision, not an assumption.
        yield from _rows(name, old.price_sources, new.price_sources)


def _of_stack(old: Snapshot, new: Snapshot) -> Iterator[Moved]:
    if old.kind == "nothing" or new.kind == "nothing":
        return
    for field, what in _STACK_FIELDS.items():
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            yield _moved(STACK, what, before, after)
    yield from _gone_and_new(STACK, "user-given rates", old.overrides, new.overrides)
    for field, what in _INPUTS.items():
        before, after = getattr(old.inputs, field), getattr(new.inputs, field)
        if before != after:
            yield _moved(STACK, what, before[:12], after[:12])


def _rows(about: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Moved]:
    """Yield the rows that a price rests on and that changed: "price row", "unit row", "owned"."""
    for kind in sorted({row.partition(": ")[0] for row in (*old, *new)}):
        before, after = (
            [row.partition(": ")[2] for row in rows if row.startswith(f"{kind}: ")]
            for rows in (old, new)
        )
        yield from _gone_and_new(about, kind, before, after)


def _gone_and_new(about: str, what: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Moved]:
    gone, added = sorted(set(old) - set(new)), sorted(set(new) - set(old))
    if gone or added:
        yield _moved(about, what, "; ".join(gone) or None, "; ".join(added) or None)


def _moved(about: str, what: str, old: Any, new: Any) -> Moved:
    numbers = isinstance(old, (int, float)) and isinstance(new, (int, float))
    share = (new - old) / abs(old) if numbers and old else None
    return Moved(about=about, what=what, old=old, new=new, share=share)
