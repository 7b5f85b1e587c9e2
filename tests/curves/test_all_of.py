"""Curves of a whole plan: shared where workloads are equal, coarser where they are many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.catalog.shapes import load_shape
from planner.curves import all_of
from planner.curves.all_of import curves_of
from planner.curves.case import Case
from planner.curves.types import Curves
from planner.decision import Decision, Outcome
from planner.plan import Plan
from planner.workload import Workload
from tests.curves.conftest import Drawn, outcomes


def renamed(decision: Decision, name: str) -> Decision:
    """Return the decision of a workload that is equal in all but its name."""

    def moved(outcome: Outcome) -> Outcome:
        id = outcome.option.id.replace(f"{decision.workload}/", f"{name}/", 1)
        option = outcome.option.model_copy(update={"workload": name, "id": id})
        return outcome.model_copy(update={"option": option})

    assert decision.chosen is not None
    assert decision.runner_up is not None
    runner_up = decision.runner_up.replace(f"{decision.workload}/", f"{name}/", 1)
    assert decision.flip is not None
    return decision.model_copy(
        update={
            "workload": name,
            "chosen": moved(decision.chosen),
            "runner_up": runner_up,
            "others": tuple(moved(outcome) for outcome in decision.others),
            "flip": decision.flip.model_copy(update={"runner_up": runner_up}),
        }
    )


def with_twin(drawn: Drawn, **changes: object) -> tuple[Plan, Drawn]:
    """Return a plan and its stack with a second case-notes, changed in the given fields."""
    (decision,) = (d for d in drawn.plan.decisions if d.workload == "case-notes")
    (workload,) = (w for w in drawn.stack.workloads if w.name == "case-notes")
    twin = workload.model_copy(update={"name": "twin", **changes})
    stack = replace(drawn.stack, workloads=(*drawn.stack.workloads, twin))
    plan = drawn.plan.model_copy(
        update={"decisions": (*drawn.plan.decisions, renamed(decision, "twin"))}
    )
    return plan, replace(drawn, stack=stack)


def test_equal_workloads_share_their_curves_under_their_own_names(
    stacks: dict[str, Drawn], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = stacks["bank-au"]
    plan, twins = with_twin(drawn, owner="somebody else")
    computed: list[str] = []
    compute = all_of._curves

    def counted(case: Case) -> Curves:
        computed.append(case.workload.name)
        return compute(case)

    monkeypatch.setattr(all_of, "_curves", counted)
    found = curves_of(plan, twins.stack, drawn.catalog, shape_of=load_shape)
    assert list(found) == [decision.workload for decision in plan.decisions]
    assert computed == [decision.workload for decision in drawn.plan.decisions]
    first, twin = found["case-notes"], found["twin"]
    assert twin.workload == "twin"
    assert first.cost is not None
    assert twin.cost is not None
    ids = {outcome.option.id for outcome in outcomes(plan.decisions[-1])}
    assert {line.option for line in twin.cost.lines if line.admissible} <= ids
    assert [c.to_option for c in twin.cost.crossovers] == [
        c.to_option.replace("case-notes/", "twin/", 1) for c in first.cost.crossovers
    ]
    assert [line.usd_per_month for line in twin.cost.lines] == [
        line.usd_per_month for line in first.cost.lines
    ]
    assert twin.model_copy(update={"workload": "case-notes", "cost": None}) == first.model_copy(
        update={"cost": None}
    )


def test_workloads_that_differ_in_their_traffic_share_nothing(stacks: dict[str, Drawn]) -> None:
    drawn = stacks["bank-au"]
    (workload,) = (w for w in drawn.stack.workloads if w.name == "case-notes")
    plan, twins = with_twin(drawn, traffic=half(workload).traffic)
    found = curves_of(plan, twins.stack, drawn.catalog, shape_of=load_shape)
    first, twin = found["case-notes"].latency, found["twin"].latency
    assert first is not None
    assert twin is not None
    assert twin.requests_per_minute_at_peak == pytest.approx(first.requests_per_minute_at_peak / 2)


def half(workload: Workload) -> Workload:
    levels = workload.traffic.tokens_per_minute
    assert levels is not None
    halved = levels.model_copy(
        update={name: level / 2 for name, level in levels.model_dump().items()}
    )
    traffic = workload.traffic.model_copy(update={"tokens_per_minute": halved})
    return workload.model_copy(update={"traffic": traffic})


def test_very_many_workloads_are_drawn_coarser_and_say_so(
    stacks: dict[str, Drawn], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_of, "MANY", 3)
    drawn = stacks["bank-au"]
    found = curves_of(drawn.plan, drawn.stack, drawn.catalog, shape_of=load_shape)
    for name, coarse in found.items():
        fine = drawn.curves[name]
        assert (fine.coarse, coarse.coarse) == (False, True)
        assert fine.cost is not None
        assert coarse.cost is not None
        assert len(coarse.cost.tokens_per_month) == 5
        assert coarse.cost.tokens_per_month_now in coarse.cost.tokens_per_month
        assert set(points(coarse)) <= set(points(fine))
        assert set(coarse.cost.crossovers) <= set(fine.cost.crossovers)
        assert coarse.latency == fine.latency
    # Each has a crossover of its runner-up inside a tenth to ten times its demand.
    for name in ("adviser-assist", "case-notes"):
        cost = found[name].cost
        assert cost is not None
        assert len(cost.crossovers) == 1


def points(curves: Curves) -> list[tuple[str, float, float | None]]:
    assert curves.cost is not None
    return [
        (line.option, volume, usd)
        for line in curves.cost.lines
        for volume, usd in zip(curves.cost.tokens_per_month, line.usd_per_month, strict=True)
    ]


def test_a_plan_of_another_stack_is_refused(stacks: dict[str, Drawn]) -> None:
    bank, dev = stacks["bank-au"], stacks["dev"]
    with pytest.raises(ValueError, match="stack dev declares no adviser-assist, branch-faq"):
        curves_of(bank.plan, dev.stack, dev.catalog, shape_of=load_shape)


def test_equal_inputs_give_equal_curves(stacks: dict[str, Drawn]) -> None:
    dev = stacks["dev"]
    again = curves_of(dev.plan, dev.stack, dev.catalog, shape_of=load_shape)
    assert again == dev.curves


def test_an_undecided_workload_has_its_demand_alone(stacks: dict[str, Drawn]) -> None:
    dev = stacks["dev"]
    first, *rest = dev.plan.decisions
    gone = {"chosen": None, "runner_up": None, "flip": None, "status": "denied"}
    plan = dev.plan.model_copy(update={"decisions": (first.model_copy(update=gone), *rest)})
    found = curves_of(plan, dev.stack, dev.catalog, shape_of=load_shape)[first.workload]
    assert (found.cost, found.break_even, found.latency, found.roofline) == (None,) * 4
    assert found.demand.knots
    assert found.demand.above == "is not served: nothing is decided"
