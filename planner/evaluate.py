"""Hold one admissible option against a workload: size it, price it, check objectives."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from planner.catalog.loader import Catalog
from planner.comparator import comparator_of
from planner.decision import Latency, LostBecause, Outcome
from planner.declared.accounts import Account
from planner.demand import Demand
from planner.economics.cost_types import Cost
from planner.economics.discount import months_between
from planner.economics.floor import FloorRules
from planner.economics.latency import provider_latency
from planner.economics.prices import PriceBook
from planner.economics.pricing import price_payg, price_provisioned
from planner.economics.unit_load import unit_weight
from planner.errors import InputError
from planner.hosting import HostedResult, host
from planner.objectives import missed_objectives
from planner.option import Option
from planner.platform import Platform
from planner.policy.verdicts import OptionVerdict
from planner.serving.shape import ModelShape
from planner.workload import ModelChoice, Workload


@dataclass(frozen=True)
class Setting:
    """What every evaluation shares: facts, prices, platform, and who pays engineering.

    ``engineering_usd_per_month`` is what choosing self-hosting would add: 0 where
    a gate forces the stack to run a platform anyway.
    """

    platform: Platform
    catalog: Catalog
    book: PriceBook
    shape_of: Callable[[str], ModelShape]
    engineering_usd_per_month: float


@dataclass(frozen=True)
class _Result:
    cost: Cost | None = None
    hosted: HostedResult | None = None
    lost: LostBecause | None = None
    why: str = ""
    notes: tuple[str, ...] = ()


def evaluate(
    option: Option, verdict: OptionVerdict, workload: Workload, demand: Demand, setting: Setting
) -> Outcome:
    """Return the outcome of ``option``; ``lost`` is set where it cannot compete at all."""
    if verdict.verdict not in ("allow", "warn"):
        return _outcome(option, verdict, _barred(verdict))
    choice = next(
        item for item in workload.models if setting.catalog.model(item.name).name == option.model
    )
    if option.kind == "self_hosted":
        result = _self_hosted(option, choice, workload, demand, setting)
    else:
        result = _managed(option, choice, workload, demand, setting)
    if result.lost is not None or result.cost is None:
        return _outcome(option, verdict, result)
    if result.cost.status == "unknown":
        why = "; ".join(result.cost.missing)
        return _outcome(option, verdict, _Result(result.cost, result.hosted, "unknown_price", why))
    if result.cost.status == "infeasible":
        why = "; ".join(result.cost.missing)
        return _outcome(option, verdict, _Result(result.cost, result.hosted, "quota", why))
    latency = _latency(option, result.hosted, setting.platform, setting.book)
    availability = _availability(option, result.hosted, setting.catalog)
    misses = missed_objectives(workload, option, latency, availability, result.cost)
    extra = setting.engineering_usd_per_month if option.kind == "self_hosted" else 0.0
    total = result.cost.total_usd_per_month
    weight = choice.token_multiplier
    outcome = _outcome(option, verdict, result)
    return outcome.model_copy(
        update={
            "compared_usd_per_month": None if total is None else total + extra,
            "floor_tokens_per_minute": _floor_tokens(option, result.cost, demand, weight, setting),
            "latency": latency,
            "availability": availability,
            "misses": misses,
        }
    )


def _barred(verdict: OptionVerdict) -> _Result:
    worst = {f.rule_id: f for f in reversed(verdict.findings) if f.verdict == verdict.verdict}
    why = "; ".join(f"{rule}: {worst[rule].message}" for rule in sorted(worst))
    lost: LostBecause = "denied" if verdict.verdict == "deny" else "unavailable"
    return _Result(lost=lost, why=why or "the policy engine gave no reason")


def _managed(
    option: Option, choice: ModelChoice, workload: Workload, demand: Demand, setting: Setting
) -> _Result:
    retires_on = retirement(option, setting.catalog)
    barred = _term_problem(option, workload, retires_on, setting)
    if barred is not None:
        return barred
    notes = (f"{option.model} retires at {option.provider} on {retires_on}",) if retires_on else ()
    if option.kind == "payg":
        cost = price_payg(
            demand,
            option,
            setting.book,
            tier=workload.tier,
            token_multiplier=choice.token_multiplier,
        )
        return _Result(cost, notes=notes)
    account = next(item for item in setting.platform.accounts if item.name == option.account)
    quota = quota_units(account, option.deployment_type)
    if quota is None:
        notes = (*notes, f"no quota is declared for {option.deployment_type} in {account.name}")
    cost = price_provisioned(
        demand,
        option,
        setting.book,
        rules=_rules(workload),
        tier=workload.tier,
        token_multiplier=choice.token_multiplier,
        quota_units=quota,
        commitments=setting.platform.commitments,
        horizon_months=workload.horizon_months,
        discount_rate_per_year=setting.platform.deciding.discount_rate_per_year,
        retires_on=retires_on,
        comparator=comparator_of(option, workload.tier, demand, setting.book, setting.catalog),
    )
    return _Result(cost, notes=notes)


def _self_hosted(
    option: Option, choice: ModelChoice, workload: Workload, demand: Demand, setting: Setting
) -> _Result:
    try:
        shape = setting.shape_of(option.model)
    except InputError as error:
        return _Result(lost="does_not_fit", why=f"cannot be sized: {error.problems[0].what}")
    hosted = host(
        option,
        workload,
        demand,
        shape,
        platform=setting.platform,
        catalog=setting.catalog,
        book=setting.book,
        rules=_rules(workload),
        token_multiplier=choice.token_multiplier,
        engineering_usd_per_month=setting.engineering_usd_per_month,
        comparator=comparator_of(option, workload.tier, demand, setting.book, setting.catalog),
    )
    if hosted.size is None and hosted.cost is None:
        return _Result(hosted=hosted, lost="does_not_fit", why=hosted.why)
    return _Result(hosted.cost, hosted, notes=hosted.notes)


def _rules(workload: Workload) -> FloorRules:
    objectives = workload.objectives
    return FloorRules(
        max_spill_share=objectives.max_spill_share,
        dedicated=objectives.dedicated,
        allow_none=False,
    )


def retirement(option: Option, catalog: Catalog) -> dt.date | None:
    """Return when the option's provider retires its model; None for own weights."""
    if option.kind == "self_hosted":
        return None
    text = catalog.model(option.model).provider_retires.get(option.provider)
    return dt.date.fromisoformat(text) if text else None


def quota_units(account: Account, deployment_type: str) -> int | None:
    """Return the units the account may deploy, None where no quota is declared."""
    found = [q.units for q in account.quotas if q.deployment_type == deployment_type]
    return sum(found) if found else None


def _term_problem(
    option: Option, workload: Workload, retires_on: dt.date | None, setting: Setting
) -> _Result | None:
    as_of, term = setting.platform.as_of, option.term_months
    if retires_on is not None and retires_on <= as_of:
        return _Result(lost="retired", why=f"{option.model} retired there on {retires_on}")
    if term == 0:
        return None
    horizon = workload.horizon_months
    if term > horizon:
        return _Result(lost="term", why=f"a {term}-month term outlives the {horizon}-month horizon")
    if horizon % term:
        why = f"not comparable: {term}-month terms do not fill a {horizon}-month horizon"
        return _Result(lost="term", why=why)
    if retires_on is None or months_between(as_of, retires_on) >= term:
        return None
    lacking = [
        name
        for name, given in (
            ("exit plan", workload.exit_plan),
            ("named successor", setting.catalog.model(option.model).successor),
        )
        if not given
    ]
    if not lacking:
        return None
    why = f"the {term}-month term outlives the model ({retires_on}); missing: {', '.join(lacking)}"
    return _Result(lost="term", why=why)


def _latency(
    option: Option, hosted: HostedResult | None, platform: Platform, book: PriceBook
) -> Latency:
    if hosted is not None and hosted.size is not None:
        replica = hosted.size.replica
        return Latency(
            ttft_p95_ms=replica.ttft_p95_ms,
            itl_p95_ms=replica.itl_p95_ms,
            basis="modelled",
            source="roofline with measured efficiency factors, at the planned load",
        )
    place = (option.provider, option.model, option.deployment_type, option.region)
    measured = next(
        (
            row
            for row in platform.latencies
            if (row.provider, row.model, row.deployment_type, row.region) == place
        ),
        None,
    )
    unit = book.unit(*place[:3]) if option.kind == "provisioned" else None
    return Latency(**provider_latency(measured, unit).model_dump())


def _availability(option: Option, hosted: HostedResult | None, catalog: Catalog) -> float | None:
    if hosted is not None:
        return hosted.availability
    promise = catalog.promise(option.provider, option.kind, option.deployment_type)
    return promise.availability if promise else None


def _floor_tokens(
    option: Option, cost: Cost, demand: Demand, multiplier: float, setting: Setting
) -> float:
    """Return the floor in the workload's own tokens per minute."""
    if cost.floor is None or cost.floor.step.units == 0:
        return 0.0
    weight = 1.0
    if option.kind == "provisioned":
        unit = setting.book.unit(option.provider, option.model, option.deployment_type)
        if unit is not None:
            weight = unit_weight(demand, unit)
    return cost.floor.step.capacity / weight / multiplier


def _outcome(option: Option, verdict: OptionVerdict, result: _Result) -> Outcome:
    return Outcome(
        option=option,
        verdict=verdict.verdict,
        findings=verdict.findings,
        self_hosted=result.hosted.size if result.hosted else None,
        cost=result.cost,
        compared_usd_per_month=None,
        floor_tokens_per_minute=0.0,
        latency=None,
        availability=None,
        misses=(),
        notes=result.notes,
        lost=result.lost,
        why=result.why,
        extra_usd_per_month=None,
    )
