"""The floor: which step of dedicated capacity is cheapest against the demand curve.

Every step is held against the distribution of demand, not against one point: the
spill is the integral of demand above the floor (bursts inside a minute included),
and it pays the pay-as-you-go price of the spill target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from planner.base import Frozen
from planner.demand import DemandCurve
from planner.economics.bursts import Bursts, BurstyCurve
from planner.economics.cost_types import FloorResult, FloorStep
from planner.units import format_share

MEDIAN = 0.5
SPILL_TOLERANCE = 1e-5
"""Share of demand below which spill counts as none: the tail of bursts never ends."""

_TIE = 1e-9

NO_FLOOR = FloorStep(units=0, capacity=0.0, fixed_usd_per_month=0.0)


class SpillTerms(Frozen):
    """Where demand above the floor goes: USD per weighted token, None if unknown."""

    usd_per_weighted_token: float | None


class FloorRules(Frozen):
    """What a floor must satisfy, whatever it costs."""

    max_spill_share: float = 1.0
    dedicated: bool = False
    allow_none: bool = True


class FloorChoice(Frozen):
    """The chosen floor, the reference at the median, and the steps weighed to the end.

    A step whose cost without bursts already exceeds the choice is not weighed.
    """

    status: Literal["chosen", "unknown", "infeasible"]
    chosen: FloorResult | None
    p50_reference: FloorResult | None
    evaluated: tuple[FloorResult, ...]
    reason: str


def evaluate(
    step: FloorStep,
    curve: DemandCurve | BurstyCurve,
    *,
    spill_usd_per_weighted_token: float,
    active_minutes_per_month: float,
    bursts: Bursts | None = None,
) -> FloorResult:
    """Return use, spill and cost of one step.

    ``curve`` is in the step's weighting. Spill pays its price for every active
    minute; where there is no target the price is 0 and the spill share says what
    would be queued or refused.
    """
    bursty = curve if isinstance(curve, BurstyCurve) else BurstyCurve(curve=curve)
    mean = bursty.curve.mean
    variance = bursts.variance_per_token(step.units) if bursts is not None else 0.0
    above = bursty.expected_above(step.capacity, variance)
    spill_usd = above * active_minutes_per_month * spill_usd_per_weighted_token
    return FloorResult(
        step=step,
        use_share=min(1.0, (mean - above) / step.capacity) if step.capacity > 0 else 0.0,
        spill_share=above / mean if mean > 0 else 0.0,
        spill_usd_per_month=spill_usd,
        total_usd_per_month=step.fixed_usd_per_month + spill_usd,
    )


def choose_floor(
    steps: Sequence[FloorStep],
    curve: DemandCurve,
    *,
    spill: SpillTerms | None,
    active_minutes_per_month: float,
    rules: FloorRules | None = None,
    bursts: Bursts | None = None,
) -> FloorChoice:
    """Return the cheapest admissible of no floor and every step; ties take fewer units.

    - Without a spill target (None) the capacity must cover the peak.
    - A target whose price is unknown makes the cost unknown, never 0.
    - ``dedicated``: a floor above zero, at least the median of the active minutes.
    - The spill share must not exceed the allowed one.

    Steps are taken in the order of their cost without bursts, a lower bound, so
    that the search ends where no further step can be cheaper.
    """
    rules = rules or FloorRules()
    ladder = sorted(steps, key=lambda step: (step.units, step.fixed_usd_per_month))
    if spill is not None and spill.usd_per_weighted_token is None:
        return _nothing("unknown", "the price of the spill target is unknown")
    price = spill.usd_per_weighted_token if spill is not None else 0.0
    bursty = BurstyCurve(curve=curve)

    def held(step: FloorStep) -> FloorResult:
        return evaluate(
            step,
            bursty,
            spill_usd_per_weighted_token=price or 0.0,
            active_minutes_per_month=active_minutes_per_month,
            bursts=bursts,
        )

    candidates = [NO_FLOOR, *ladder] if rules.allow_none and not rules.dedicated else ladder
    median = curve.quantile(MEDIAN)
    reference_step = next((step for step in ladder if step.capacity >= median), None)
    reference = held(reference_step) if reference_step is not None else None
    needed = curve.peak if spill is None else median if rules.dedicated else 0.0
    allowed = 1.0 if spill is None else rules.max_spill_share + SPILL_TOLERANCE
    able = [
        step
        for step in candidates
        if step.capacity >= needed * (1 - _TIE) and curve.spill_share(step.capacity) <= allowed
    ]
    per_token = active_minutes_per_month * (price or 0.0)
    bounds = sorted(
        (step.fixed_usd_per_month + per_token * curve.expected_above(step.capacity), step.units, at)
        for at, step in enumerate(able)
    )
    best: FloorResult | None = None
    evaluated: list[FloorResult] = []
    for bound, _, at in bounds:
        if best is not None and bound > best.total_usd_per_month * (1 + _TIE):
            break
        result = held(able[at])
        evaluated.append(result)
        if result.spill_share <= allowed and (best is None or _better(result, best)):
            best = result
    if best is None:
        reason = _shortfall(ladder, needed, spill is None, rules)
        return _nothing("infeasible", reason, reference, tuple(evaluated))
    return FloorChoice(
        status="chosen", chosen=best, p50_reference=reference, evaluated=tuple(evaluated), reason=""
    )


def _better(result: FloorResult, best: FloorResult) -> bool:
    """Return whether ``result`` is cheaper, or as cheap with fewer units."""
    difference = result.total_usd_per_month - best.total_usd_per_month
    band = _TIE * abs(best.total_usd_per_month)
    if abs(difference) <= band:
        return result.step.units < best.step.units
    return difference < 0


def _nothing(
    status: Literal["unknown", "infeasible"],
    reason: str,
    reference: FloorResult | None = None,
    evaluated: tuple[FloorResult, ...] = (),
) -> FloorChoice:
    return FloorChoice(
        status=status, chosen=None, p50_reference=reference, evaluated=evaluated, reason=reason
    )


def _shortfall(
    ladder: Sequence[FloorStep], needed: float, no_spill: bool, rules: FloorRules
) -> str:
    largest = max((step.capacity for step in ladder), default=0.0)
    if largest < needed:
        what = (
            "the peak, with nowhere to spill" if no_spill else "the median a dedicated floor owes"
        )
        return f"the largest step carries {largest:,.0f} tokens/min of {needed:,.0f}, {what}"
    return f"every step spills more than the allowed {format_share(rules.max_spill_share)}"
