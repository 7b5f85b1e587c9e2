"""From a sized option and its demand to its cost: the three kinds of capacity.

Each function takes plain values and returns a ``Cost``. Demand is at the mean of
the horizon; ``token_multiplier`` turns the workload's tokens into the model's, and
``usd_per_mtok`` counts the model's, those that are billed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from planner.catalog.rows import PaygPrice
from planner.declared.accounts import Commitment
from planner.demand import Demand
from planner.economics.blend import bill_usd_per_month
from planner.economics.cost_types import Cost, FloorStep
from planner.economics.exit import exit_cost
from planner.economics.floor import FloorRules
from planner.economics.floor_cost import (
    FloorWork,
    payg_row,
    per_mtok,
    price_floor,
    spill_row,
    spill_terms,
    without_total,
)
from planner.economics.prices import PriceBook, describe
from planner.economics.provisioned import owned_units, unit_steps
from planner.economics.unit_load import unit_bursts, unit_curve, unit_weight
from planner.option import Option
from planner.workload import Tier


def price_payg(
    demand: Demand,
    option: Option,
    book: PriceBook,
    *,
    tier: Tier,
    token_multiplier: float = 1.0,
) -> Cost:
    """Return the cost of serving all demand pay-as-you-go."""
    used = demand.with_token_multiplier(token_multiplier)
    price, missing = payg_row(option, book, used)
    if price is None:
        return without_total("unknown", missing)
    leaving = exit_cost(
        kind="payg",
        provider=option.provider,
        term_months=0,
        usd_per_month=0.0,
        as_of=book.as_of,
        retires_on=None,
    )
    total = bill_usd_per_month(price, used.split_per_month(), tier)
    return Cost(
        status="known",
        missing=(),
        fixed_usd_per_month=0.0,
        variable_usd_per_month=total,
        total_usd_per_month=total,
        usd_per_mtok=per_mtok(total, used),
        floor=None,
        p50_reference=None,
        dedication_usd_per_month=None,
        break_even=None,
        exit=leaving,
        price_sources=(describe(price),),
    )


def price_provisioned(
    demand: Demand,
    option: Option,
    book: PriceBook,
    *,
    rules: FloorRules,
    tier: Tier = "interactive",
    token_multiplier: float = 1.0,
    quota_units: int | None = None,
    commitments: Sequence[Commitment] = (),
    horizon_months: int = 12,
    discount_rate_per_year: float = 0.0,
    retires_on: dt.date | None = None,
    comparator: PaygPrice | None = None,
    successor_of_publisher: bool | None = None,
) -> Cost:
    """Return the cost of the best provisioned floor with its spillover.

    ``comparator`` is the pay-as-you-go price of the same model, for break-even and
    the price of dedication; the spill target's by default. Spill always pays the
    interactive price: overflow does not wait for a batch. ``successor_of_publisher``
    is for the exit: whether the model has a successor of the same publisher.
    """
    place = (option.provider, option.model, option.deployment_type, option.region)
    unit = book.unit(*place[:3])
    if unit is None:
        what = f"no unit row: {option.provider}/{option.model}/{option.deployment_type}"
        return without_total("unknown", (what,))
    used = demand.with_token_multiplier(token_multiplier)
    if unit.max_prompt_tokens is not None and used.prompt_tokens.p95 > unit.max_prompt_tokens:
        what = f"prompts above {unit.max_prompt_tokens:,} tokens do not fit: {describe(unit)}"
        return without_total("infeasible", (what,))
    price = book.provisioned(*place, option.term_months)
    overflow, missing = spill_row(option, book, used)
    owned = owned_units(
        commitments,
        provider=option.provider,
        model=option.model,
        deployment_type=option.deployment_type,
        region=option.region,
        as_of=book.as_of,
    )
    if price is None:
        where = "/".join(place)
        missing = (*missing, f"no price row: {where} at a term of {option.term_months} months")
        if not owned:
            return without_total("unknown", missing)
    curve, weight = unit_curve(used, unit), unit_weight(used, unit)
    bursts = unit_bursts(used, unit)
    about = int(curve.peak // unit.input_tokens_per_minute)
    steps = unit_steps(
        unit,
        bursts.covering_level(curve.peak, about),
        usd_per_unit_month=price.usd_per_unit_month if price is not None else None,
        quota_units=quota_units,
        owned=owned,
        horizon_months=horizon_months,
        discount_rate_per_year=discount_rate_per_year,
    )
    rows = [unit, price, overflow]
    work = FloorWork(
        demand=used,
        curve=curve,
        weight=weight,
        steps=steps,
        unit_name=unit.unit,
        spill=spill_terms(option, overflow, used, weight),
        comparator=comparator if comparator is not None else overflow,
        tier=tier,
        bursts=bursts,
        extra_commitment_usd_per_month=0.0,
        missing=missing,
        sources=(
            *(describe(row) for row in rows if row is not None),
            *(
                f"owned: {item.units} {unit.unit}, {item.months_left:.1f} months left, sunk"
                for item in owned
            ),
        ),
    )
    cost = price_floor(work, rules)
    if cost.fixed_usd_per_month is None:
        return cost
    leaving = exit_cost(
        kind="provisioned",
        provider=option.provider,
        term_months=option.term_months,
        usd_per_month=cost.fixed_usd_per_month,
        as_of=book.as_of,
        retires_on=retires_on,
        deployment_type=option.deployment_type,
        successor_of_publisher=successor_of_publisher,
    )
    return cost.model_copy(update={"exit": leaving})


def price_self_hosted(
    demand: Demand,
    option: Option,
    book: PriceBook,
    *,
    steps: Sequence[FloorStep],
    rules: FloorRules,
    tier: Tier,
    token_multiplier: float = 1.0,
    output_weight: float = 1.0,
    cached_input_weight: float = 1.0,
    engineering_usd_per_month: float = 0.0,
    comparator: PaygPrice | None = None,
    missing: Sequence[str] = (),
    price_sources: Sequence[str] = (),
) -> Cost:
    """Return the cost of the best self-hosted floor, with spill where there is a target.

    ``steps`` are whole nodes with their cost and their capacity in the model's
    tokens a minute under the given weights (1 and 1: plain tokens). Engineering
    is paid once a platform, so it enters the break-even, not this total.
    ``missing`` names prices the caller could not find: the cost is then unknown.
    """
    if missing:
        return without_total("unknown", tuple(missing))
    used = demand.with_token_multiplier(token_multiplier)
    overflow, spill_missing = spill_row(option, book, used)
    weight = used.weight(output_weight, cached_input_weight)
    rows = (overflow, comparator if comparator != overflow else None)
    work = FloorWork(
        demand=used,
        curve=used.weighted_curve(output_weight, cached_input_weight),
        weight=weight,
        steps=tuple(steps),
        unit_name="replica",
        spill=spill_terms(option, overflow, used, weight),
        comparator=comparator if comparator is not None else overflow,
        tier=tier,
        bursts=None,
        extra_commitment_usd_per_month=engineering_usd_per_month,
        missing=spill_missing,
        sources=(*price_sources, *(describe(row) for row in rows if row is not None)),
    )
    cost = price_floor(work, rules)
    if cost.fixed_usd_per_month is None:
        return cost
    leaving = exit_cost(
        kind="self_hosted",
        provider=option.provider,
        term_months=option.term_months,
        usd_per_month=cost.fixed_usd_per_month,
        as_of=book.as_of,
        retires_on=None,
    )
    return cost.model_copy(update={"exit": leaving})
