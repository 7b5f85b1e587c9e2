"""What a reader of a plan should know though nothing is denied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.catalog.age import stale_rows
from planner.catalog.loader import Catalog
from planner.decision import Decision, Outcome
from planner.demand import Demand
from planner.economics.discount import months_between
from planner.economics.max_tokens import traffic_loss
from planner.economics.overrides import price_rows_of
from planner.economics.prices import PriceBook
from planner.economics.successor import successor_units
from planner.evaluate import retirement
from planner.platform import Platform
from planner.workload import Workload

Decided = tuple[Decision, Outcome, Workload]


def cautions(
    decisions: Sequence[Decision],
    workloads: Sequence[Workload],
    demands: Mapping[str, Demand],
    platform: Platform,
    catalog: Catalog,
    book: PriceBook,
) -> Iterator[str]:
    """Yield one line each: unverified latency, undeclared quota, retirement, max_tokens."""
    by_name = {workload.name: workload for workload in workloads}
    decided = [(d, d.chosen, by_name[d.workload]) for d in decisions if d.chosen]
    yield from _latency(decided)
    priced = [row for _, outcome, _ in decided for row in price_rows_of(outcome.option, book)]
    yield from (str(row) for row in stale_rows(priced, platform.as_of))
    for decision, outcome, workload in decided:
        yield from (f"{decision.workload}: {n}" for n in outcome.notes if n.startswith("no quota"))
        yield from _lifecycle(outcome, workload, demands[workload.name], platform, catalog, book)
        yield from _max_tokens(outcome, workload, book)


def _latency(decided: Sequence[Decided]) -> Iterator[str]:
    unverified = [
        decision.workload
        for decision, outcome, workload in decided
        if outcome.latency is not None
        and outcome.latency.basis in ("unverified", "target")
        and (workload.objectives.ttft_p95_ms or workload.objectives.itl_p95_ms)
    ]
    if unverified:
        yield f"latency is unverified, no measurement is declared: {', '.join(unverified)}"


def _lifecycle(
    outcome: Outcome,
    workload: Workload,
    demand: Demand,
    platform: Platform,
    catalog: Catalog,
    book: PriceBook,
) -> Iterator[str]:
    """Yield that the model goes inside the horizon, and whether the floor then still fits."""
    option, floor = outcome.option, outcome.cost.floor if outcome.cost else None
    retires_on, months = retirement(option, catalog), workload.horizon_months
    if retires_on is None or months_between(platform.as_of, retires_on) >= months:
        return
    successor = catalog.model(option.model).successor
    line = (
        f"{workload.name}: {option.model} retires on {retires_on}, inside the {months}-month "
        f"horizon; successor: {successor or 'none is named'}"
    )
    if option.kind == "provisioned" and floor is not None and successor is not None:
        choice = next(m for m in workload.models if catalog.model(m.name).name == option.model)
        after = successor_units(
            demand,
            option,
            book,
            successor=successor,
            floor_units=floor.step.units,
            token_multiplier=choice.token_multiplier,
        )
        line += (
            f" ({after.note})"
            if after.units is None
            else (
                f" ({after.units} units for the same demand: the floor of {floor.step.units} "
                f"{'still fits' if after.fits else 'no longer fits'})"
            )
        )
    yield line


def _max_tokens(outcome: Outcome, workload: Workload, book: PriceBook) -> Iterator[str]:
    option, floor = outcome.option, outcome.cost.floor if outcome.cost else None
    if option.kind != "provisioned" or floor is None:
        return
    unit = book.unit(option.provider, option.model, option.deployment_type)
    loss = traffic_loss(unit, workload.traffic, floor.step.units) if unit else None
    if loss is not None:
        yield f"{workload.name}: {loss.message}"
