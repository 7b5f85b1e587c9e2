"""The curves of every workload of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from planner.catalog.loader import Catalog
from planner.curves.break_even import break_even_curve
from planner.curves.case import COARSE, Case
from planner.curves.cost import cost_curve, lines_of
from planner.curves.demand import demand_view
from planner.curves.latency import latency_curve
from planner.curves.roofline import roofline
from planner.curves.types import CostCurve, Curves
from planner.decide import engineering_is_sunk
from planner.decision import Decision, Outcome
from planner.declare import Stack
from planner.evaluate import Setting
from planner.plan import Plan
from planner.policy.verdicts import OptionVerdict
from planner.serving.shape import ModelShape
from planner.stack_inputs import price_book, stack_demand
from planner.workload import Workload

OF_ITS_OWN = {
    "name": "workload",
    "owner": "",
    "data_asset": "",
    "signed_off_by": "",
}
"""What a workload's curves do not depend on."""

MANY = 100
"""Workloads that differ in more than their names, beyond which curves are drawn coarser."""

Key = tuple[object, ...]


def curves_of(
    plan: Plan, stack: Stack, catalog: Catalog, *, shape_of: Callable[[str], ModelShape]
) -> dict[str, Curves]:
    """Return the curves of each workload of ``plan`` by name, in the plan's order.

    ``stack`` and ``catalog`` are those that the plan was made of: every curve is computed
    again by the functions that decided. Workloads that differ in their names alone share
    theirs; with more than ``MANY`` that differ otherwise all are drawn coarser
    (planner.curves.case.COARSE). Raises ValueError for a plan of another stack.
    """
    workloads = {workload.name: workload for workload in stack.workloads}
    if foreign := sorted({d.workload for d in plan.decisions} - workloads.keys()):
        raise ValueError(f"stack {stack.name} declares no {', '.join(foreign)}")
    setting = Setting(
        platform=stack.platform,
        catalog=catalog,
        book=price_book(stack, catalog),
        shape_of=shape_of,
        engineering_usd_per_month=_engineering(plan, stack),
    )
    asked: list[tuple[Case, tuple[str, ...], Key]] = []
    for decision in plan.decisions:
        workload = workloads[decision.workload]
        case = Case(workload, decision, stack_demand(workload, stack), setting)
        options = tuple(line.option for line in lines_of(case))
        asked.append((case, options, _key(case, stack, options)))
    coarse = len({key for _, _, key in asked}) > MANY
    shared: dict[Key, Curves] = {}
    found: dict[str, Curves] = {}
    for case, options, key in asked:
        if key not in shared:
            shared[key] = _curves(replace(case, detail=COARSE) if coarse else case)
        found[case.workload.name] = _renamed(shared[key], case.workload.name, options)
    return found


def _curves(case: Case) -> Curves:
    return Curves(
        workload=case.workload.name,
        cost=cost_curve(case),
        break_even=break_even_curve(case),
        demand=demand_view(case),
        latency=latency_curve(case),
        roofline=roofline(case),
        coarse=case.detail is COARSE,
    )


def _engineering(plan: Plan, stack: Stack) -> float:
    """Return the engineering line that choosing self-hosting adds, as the plan had it."""
    engineering = stack.platform.engineering
    outcomes = {decision.workload: list(_outcomes(decision)) for decision in plan.decisions}
    sunk = engineering_is_sunk(
        [workload for workload in stack.workloads if workload.name in outcomes],
        {name: [outcome.option for outcome in found] for name, found in outcomes.items()},
        {
            outcome.option.id: OptionVerdict(
                option_id=outcome.option.id, verdict=outcome.verdict, findings=()
            )
            for found in outcomes.values()
            for outcome in found
        },
    )
    return 0.0 if sunk or engineering is None else engineering.usd_per_month


def _outcomes(decision: Decision) -> Iterator[Outcome]:
    if decision.chosen is not None:
        yield decision.chosen
    yield from decision.others


def _key(case: Case, stack: Stack, options: tuple[str, ...]) -> Key:
    """Return what the curves of a workload depend on, without its name.

    Options of one workload differ in what their ids name after the workload.
    """
    workload: Workload = case.workload.model_copy(update=OF_ITS_OWN)
    decision = case.decision
    series = stack.traces.get(case.workload.name)
    drawn = {outcome.option.id: outcome for outcome in _outcomes(decision)}
    return (
        workload,
        decision.mix,
        id(series) if series is not None else None,
        tuple(
            drawn[option].model_copy(
                update={
                    "option": drawn[option].option.model_copy(update={"id": "", "workload": ""}),
                    "findings": (),
                    "notes": (),
                    "why": "",
                }
            )
            if option in drawn
            else option
            for option in options
        ),
    )


def _renamed(curves: Curves, workload: str, options: tuple[str, ...]) -> Curves:
    """Return shared curves under the names of ``workload`` and of its options."""
    if curves.workload == workload:
        return curves
    return curves.model_copy(
        update={
            "workload": workload,
            "cost": None if curves.cost is None else _with_options(curves.cost, options),
        }
    )


def _with_options(cost: CostCurve, options: tuple[str, ...]) -> CostCurve:
    ids = dict(zip((line.option for line in cost.lines), options, strict=True))
    return cost.model_copy(
        update={
            "lines": tuple(
                line.model_copy(update={"option": ids[line.option]}) for line in cost.lines
            ),
            "crossovers": tuple(
                found.model_copy(
                    update={
                        "from_option": ids[found.from_option],
                        "to_option": ids[found.to_option],
                    }
                )
                for found in cost.crossovers
            ),
        }
    )
