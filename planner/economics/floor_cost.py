"""A floor of dedicated capacity as a cost, whatever the capacity is made of."""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen
from planner.catalog.rows import PaygPrice, Provider
from planner.demand import Demand, DemandCurve
from planner.economics.blend import MTOK, bill_usd_per_month, blended_usd_per_mtok
from planner.economics.breakeven import CommittedStep, break_even
from planner.economics.bursts import Bursts
from planner.economics.cost_types import BreakEven, Cost, FloorStep
from planner.economics.floor import FloorRules, SpillTerms, choose_floor
from planner.economics.prices import PriceBook, describe
from planner.option import Option
from planner.workload import Tier


class FloorWork(Frozen):
    """What pricing a floor needs, whatever the capacity is made of."""

    demand: Demand
    curve: DemandCurve
    weight: float
    steps: tuple[FloorStep, ...]
    unit_name: str
    spill: SpillTerms | None
    comparator: PaygPrice | None
    tier: Tier
    bursts: Bursts | None
    extra_commitment_usd_per_month: float
    missing: tuple[str, ...]
    sources: tuple[str, ...]


def price_floor(work: FloorWork, rules: FloorRules) -> Cost:
    """Return the cost of the best floor; ``exit`` is left to the caller."""
    choice = choose_floor(
        work.steps,
        work.curve,
        spill=work.spill,
        active_minutes_per_month=work.demand.active_minutes_per_month,
        rules=rules,
        bursts=work.bursts,
    )
    if choice.status == "unknown":
        return without_total("unknown", work.missing, work.sources)
    if choice.chosen is None:
        # Without a price the steps that would do are absent from the grid.
        status: Literal["unknown", "infeasible"] = "unknown" if work.missing else "infeasible"
        cost = without_total(status, (*work.missing, choice.reason), work.sources)
        return cost.model_copy(update={"p50_reference": choice.p50_reference})
    chosen = choice.chosen
    payg = (
        bill_usd_per_month(work.comparator, work.demand.split_per_month(), work.tier)
        if work.comparator is not None
        else None
    )
    total = chosen.total_usd_per_month
    anchor = chosen.step
    if anchor.units == 0 and choice.p50_reference is not None:
        anchor = choice.p50_reference.step
    return Cost(
        status="known",
        missing=work.missing,
        fixed_usd_per_month=chosen.step.fixed_usd_per_month,
        variable_usd_per_month=chosen.spill_usd_per_month,
        total_usd_per_month=total,
        usd_per_mtok=per_mtok(total, work.demand),
        floor=chosen,
        p50_reference=choice.p50_reference,
        dedication_usd_per_month=total - payg if payg is not None else None,
        break_even=_break_even(work, anchor),
        exit=None,
        price_sources=work.sources,
    )


def _break_even(work: FloorWork, anchor: FloorStep) -> BreakEven | None:
    """Return the break-even of ``anchor``, or of the first larger step that has one."""
    if work.comparator is None or anchor.units == 0 or work.weight <= 0:
        return None
    demand = work.demand
    ladder = [step for step in work.steps if step.units >= anchor.units]
    return break_even(
        [
            CommittedStep(
                label=_label(step, work.unit_name),
                commitment_usd_per_month=(
                    step.fixed_usd_per_month + work.extra_commitment_usd_per_month
                ),
                capacity_tokens_per_month=(
                    step.capacity / work.weight * demand.active_minutes_per_month
                ),
            )
            for step in ladder
        ],
        output_fraction=demand.output_fraction,
        cached_fraction=demand.cached_fraction,
        blended_usd_per_mtok=blended_usd_per_mtok(
            work.comparator, demand.output_fraction, demand.cached_fraction, work.tier
        ),
    )


def _label(step: FloorStep, unit_name: str) -> str:
    nodes = f" on {step.nodes} nodes" if step.nodes else ""
    return f"{step.units} {unit_name}{nodes}"


def payg_row(
    option: Option, book: PriceBook, demand: Demand
) -> tuple[PaygPrice | None, tuple[str, ...]]:
    """Return the option's own pay-as-you-go price, or what is missing."""
    return _usable_row(
        book, demand, option.provider, option.model, option.deployment_type, option.region
    )


def spill_row(
    option: Option, book: PriceBook, demand: Demand
) -> tuple[PaygPrice | None, tuple[str, ...]]:
    """Return the price of the option's spill target, or what is missing; no target, neither."""
    spill = option.spill
    if spill is None:
        return None, ()
    row, missing = _usable_row(
        book, demand, spill.provider, option.model, spill.deployment_type, spill.region
    )
    return row, tuple(f"spill target: {what}" for what in missing)


def _usable_row(
    book: PriceBook, demand: Demand, provider: Provider, model: str, deployment: str, region: str
) -> tuple[PaygPrice | None, tuple[str, ...]]:
    row = book.payg(provider, model, deployment, region)
    if row is None:
        return None, (f"no price row: {provider}/{model}/{deployment}/{region}",)
    longest, prompt = row.max_prompt_tokens, demand.prompt_tokens.p95
    if longest is not None and prompt > longest:
        what = f"no price of prompts above {longest:,} tokens (p95 {prompt:,.0f}): {describe(row)}"
        return None, (what,)
    return row, ()


def spill_terms(
    option: Option, row: PaygPrice | None, demand: Demand, weight: float
) -> SpillTerms | None:
    """Return the spill price per weighted token: blended price / weight of the mix."""
    if option.spill is None:
        return None
    if row is None or weight <= 0:
        return SpillTerms(usd_per_weighted_token=None)
    blended = blended_usd_per_mtok(row, demand.output_fraction, demand.cached_fraction)
    return SpillTerms(usd_per_weighted_token=blended / MTOK / weight)


def per_mtok(total_usd: float, demand: Demand) -> float | None:
    """Return the month's total over its tokens, USD per million."""
    tokens = demand.tokens_per_month()
    return total_usd / tokens * MTOK if tokens > 0 else None


def without_total(
    status: Literal["unknown", "infeasible"],
    missing: tuple[str, ...],
    sources: tuple[str, ...] = (),
) -> Cost:
    """Return a cost without a total, and what is missing for one."""
    return Cost(
        status=status,
        missing=missing,
        fixed_usd_per_month=None,
        variable_usd_per_month=None,
        total_usd_per_month=None,
        usd_per_mtok=None,
        floor=None,
        p50_reference=None,
        dedication_usd_per_month=None,
        break_even=None,
        exit=None,
        price_sources=sources,
    )
