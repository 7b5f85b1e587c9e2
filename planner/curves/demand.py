"""Demand by share of the active minutes, as a curve short enough to draw."""

from __future__ import annotations

from planner.curves.case import Case
from planner.curves.types import DemandKnot, DemandView
from planner.demand import DemandCurve

MAX_KNOTS = 40
"""Knots drawn of a trace's curve, which has one for each minute."""

TAIL_KNOTS = 12
"""Of these, the ones kept for the highest minutes, where the floor is decided."""

TAIL_SHARE = 0.05


def demand_view(case: Case) -> DemandView:
    """Return the demand of a workload against its floor, in its own tokens a minute.

    ``above_share`` is the plan's own spill share where there is a floor. It is counted in
    the tokens that the floor counts (output weighs more than input on provisioned units)
    and holds the bursts inside a minute, so it may exceed the area that is drawn above the
    floor. Without a floor all of the demand lies above.
    """
    chosen = case.decision.chosen
    floor = chosen.cost.floor if chosen is not None and chosen.cost is not None else None
    if chosen is None or floor is None or floor.step.units == 0:
        return DemandView(
            knots=knots_of(case.demand.tokens),
            floor_tokens_per_minute=0.0,
            above_share=1.0,
            above="is not served: nothing is decided"
            if chosen is None
            else "is served pay-as-you-go: there is no floor",
        )
    spill = chosen.option.spill
    return DemandView(
        knots=knots_of(case.demand.tokens),
        floor_tokens_per_minute=chosen.floor_tokens_per_minute,
        above_share=floor.spill_share,
        above=f"spills to {spill.deployment_type} in {spill.region}"
        if spill is not None
        else "waits or is refused: there is no spill target",
    )


def knots_of(curve: DemandCurve) -> tuple[DemandKnot, ...]:
    """Return the curve's knots, at most ``MAX_KNOTS``: the lowest, the highest, some between."""
    shares, levels = curve.shares, curve.levels
    last = len(shares) - 1
    kept = list(range(last + 1))
    if last >= MAX_KNOTS:
        tail = next(index for index in kept if shares[index] >= 1 - TAIL_SHARE)
        kept = sorted({*_spread(0, tail, MAX_KNOTS - TAIL_KNOTS), *_spread(tail, last, TAIL_KNOTS)})
    return tuple(DemandKnot(share=shares[at], tokens_per_minute=levels[at]) for at in kept)


def _spread(first: int, last: int, count: int) -> list[int]:
    """Return ``count`` whole numbers from ``first`` to ``last``, both among them."""
    return [first + round((last - first) * step / (count - 1)) for step in range(count)]
