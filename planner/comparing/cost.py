"""Cost on both sides: fixed, usage and engineering apart, and what is not known counted."""

from __future__ import annotations

import re
from collections.abc import Callable

from planner.comparing.snapshot import Snapshot, Spend, State
from planner.comparing.types import CostDiff, CostRow, Money

_DATE = re.compile(r"\b\d{4}-\d{2}(?:-\d{2})?\b")


def cost_diff(old: Snapshot, new: Snapshot) -> CostDiff:
    """Return how cost differs, with a row for each workload of either side."""
    before = {state.workload: state for state in old.states}
    after = {state.workload: state for state in new.states}
    dates = {
        match[0]
        for state in new.states
        for source in state.price_sources
        if source.startswith("price row: ") and (match := _DATE.search(source))
    }
    a, b = old.totals, new.totals
    return CostDiff(
        fixed=Money(old=a.fixed_usd_per_month, new=b.fixed_usd_per_month),
        usage=Money(old=a.variable_usd_per_month, new=b.variable_usd_per_month),
        engineering=Money(old=a.engineering_usd_per_month, new=b.engineering_usd_per_month),
        total=Money(old=a.total_usd_per_month, new=b.total_usd_per_month),
        committed=Money(old=_committed(old), new=_committed(new)),
        sunk=Money(old=a.sunk_usd_per_month, new=b.sunk_usd_per_month),
        unknown_old=_unknown(old),
        unknown_new=_unknown(new),
        unpriced_options_old=sum(state.unpriced for state in old.states),
        unpriced_options_new=sum(state.unpriced for state in new.states),
        price_dates=tuple(sorted(dates)),
        rows=tuple(
            _row(name, before.get(name), after.get(name)) for name in sorted({*before, *after})
        ),
    )


def _row(workload: str, old: State | None, new: State | None) -> CostRow:
    def money(part: Callable[[Spend], float]) -> Money:
        return Money(old=_amount(old, part), new=_amount(new, part))

    return CostRow(
        workload=workload,
        fixed=money(lambda spend: spend.fixed_usd),
        usage=money(lambda spend: spend.usage_usd),
        total=money(lambda spend: spend.total_usd),
    )


def _amount(state: State | None, part: Callable[[Spend], float]) -> float | None:
    """Return 0 for a workload that is not there, None for one whose cost is not known."""
    if state is None:
        return 0.0
    return None if state.spend is None else part(state.spend)


def _committed(side: Snapshot) -> float:
    return sum(state.spend.committed_usd for state in side.states if state.spend)


def _unknown(side: Snapshot) -> tuple[str, ...]:
    return tuple(state.workload for state in side.states if state.spend is None)
