"""Break-even of the commitment of a plan against the mix.

The commitment stays as it is, and so do the units or replicas that it pays for; what
changes with the mix is the price that it is compared with and what those units carry.
Break-even tokens = commitment / blended price at the mix (planner.economics.breakeven).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from planner.catalog.rows import PaygPrice
from planner.comparator import comparator_of
from planner.curves.case import Case
from planner.curves.types import BreakEvenCurve, BreakEvenPoint
from planner.decision import Outcome
from planner.demand import Demand
from planner.economics.blend import blended_usd_per_mtok
from planner.economics.breakeven import break_even_tokens
from planner.economics.cost_types import BreakEven
from planner.economics.unit_load import unit_weight
from planner.flip import remixed, with_output_fraction
from planner.serving.sizing import profile_of, sized_replica
from planner.serving.sizing_types import Replica
from planner.workload import Workload

Mixed = tuple[Workload, Demand]
"""A workload and its demand at another mix."""


def break_even_curve(case: Case) -> BreakEvenCurve | None:
    """Return the break-even of the chosen commitment; None where the plan states none."""
    chosen = case.decision.chosen
    stated = chosen.cost.break_even if chosen is not None and chosen.cost is not None else None
    if chosen is None or stated is None:
        return None
    price = _comparator(case, chosen, case.demand)
    if price is None:
        return None

    def by_output(share: float) -> Mixed:
        changed = with_output_fraction(case.workload, share)
        return changed, remixed(case.demand, changed, share)

    def by_cached(share: float) -> Mixed:
        traffic = case.workload.traffic.model_copy(update={"cached_fraction": share})
        changed = case.workload.model_copy(update={"traffic": traffic})
        return changed, case.demand.model_copy(update={"cached_fraction": share})

    detail = case.detail
    output, cached = stated.output_fraction, stated.cached_fraction
    multiplier = case.choice(chosen.option).token_multiplier
    return BreakEvenCurve(
        commitment_usd_per_month=stated.commitment_usd_per_month,
        tokens_per_month_now=case.demand.with_token_multiplier(multiplier).tokens_per_month(),
        output_fraction_now=output,
        cached_fraction_now=cached,
        against=f"{price.deployment_type} {price.model} pay-as-you-go"
        + ("" if price.region == "*" else f" in {price.region}"),
        by_output_fraction=_points(
            case, chosen, stated, detail.output_fractions, output, by_output
        ),
        by_cached_fraction=_points(
            case, chosen, stated, detail.cached_fractions, cached, by_cached
        ),
    )


def _points(
    case: Case,
    chosen: Outcome,
    stated: BreakEven,
    grid: Iterable[float],
    now: float,
    at: Callable[[float], Mixed],
) -> tuple[BreakEvenPoint, ...]:
    """Return the break-even at each share of ``grid`` and at today's, which is the plan's."""
    found = []
    for share in sorted({*grid, now}):
        if share == now:
            found.append(
                _point(stated, share, stated.blended_usd_per_mtok, stated.capacity_tokens_per_month)
            )
            continue
        workload, demand = at(share)
        price = _comparator(case, chosen, demand)
        if price is None:
            continue
        blended = blended_usd_per_mtok(
            price, demand.output_fraction, demand.cached_fraction, workload.tier
        )
        carried = _carried(case, chosen, workload, demand)
        found.append(_point(stated, share, blended, stated.capacity_tokens_per_month * carried))
    return tuple(found)


def _point(stated: BreakEven, share: float, blended: float, capacity: float) -> BreakEvenPoint:
    needed = break_even_tokens(stated.commitment_usd_per_month, blended)
    within = needed is not None and needed <= capacity
    of_capacity = needed / capacity if needed is not None and capacity > 0 else None
    return BreakEvenPoint(
        share=share,
        blended_usd_per_mtok=blended,
        tokens_per_month=needed if within else None,
        utilization=of_capacity if within else None,
        needed_share=of_capacity,
    )


def _comparator(case: Case, chosen: Outcome, demand: Demand) -> PaygPrice | None:
    setting = case.setting
    return comparator_of(chosen.option, case.workload.tier, demand, setting.book, setting.catalog)


def _carried(case: Case, chosen: Outcome, workload: Workload, demand: Demand) -> float:
    """Return what the same capacity carries at another mix, as a multiple of today's.

    Provisioned units carry input-equivalents, so a mix that weighs twice as much halves
    them; a replica is sized again at the mix, and carries nothing where it cannot serve it.
    """
    option = chosen.option
    if chosen.self_hosted is None:
        unit = case.setting.book.unit(option.provider, option.model, option.deployment_type)
        weight = unit_weight(demand, unit) if unit is not None else 0.0
        if unit is None or weight <= 0:
            return 0.0
        return unit_weight(case.demand, unit) / weight
    replica = chosen.self_hosted.replica
    machine, shape = case.machine(option)
    sized = sized_replica(
        shape,
        replica.layout,
        machine.accelerator,
        machine.instance.interconnect,
        machine.settings,
        profile=profile_of(workload.traffic, case.choice(option).token_multiplier),
        ttft_p95_ms=workload.objectives.ttft_p95_ms,
        itl_p95_ms=workload.objectives.itl_p95_ms,
    )
    if not isinstance(sized, Replica):
        return 0.0
    return sized.tokens_per_minute / replica.tokens_per_minute
