"""The three stacks of the project, planned once with the real engine, and their curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from planner.catalog.loader import Catalog
from planner.catalog.shapes import load_shape
from planner.curves.all_of import curves_of
from planner.curves.case import Case
from planner.curves.types import Curves
from planner.decision import Decision, Outcome
from planner.declare import Stack
from planner.evaluate import Setting
from planner.plan import Plan
from planner.running import run_stack
from planner.stack_inputs import price_book, stack_demand
from tests.policy.conftest import opa
from tools.shell_env import PROJECT

__all__ = ["opa"]

STACKS = ("dev", "bank-au", "saas-global")


@dataclass(frozen=True)
class Drawn:
    """A plan with what it was made of, and its curves."""

    plan: Plan
    stack: Stack
    catalog: Catalog
    curves: dict[str, Curves]

    def case(self, decision: Decision) -> Case:
        """Return a decision as its curves start from it."""
        workload = next(w for w in self.stack.workloads if w.name == decision.workload)
        setting = Setting(
            platform=self.stack.platform,
            catalog=self.catalog,
            book=price_book(self.stack, self.catalog),
            shape_of=load_shape,
            engineering_usd_per_month=0.0,
        )
        return Case(workload, decision, stack_demand(workload, self.stack), setting)


@pytest.fixture(scope="session")
def stacks(opa: str) -> dict[str, Drawn]:
    found = {}
    for name in STACKS:
        run = run_stack(PROJECT, name, at="2026-12-01T00:00:00Z", write=False)
        curves = curves_of(run.plan, run.stack, run.catalog, shape_of=load_shape)
        found[name] = Drawn(run.plan, run.stack, run.catalog, curves)
    return found


@pytest.fixture(scope="session")
def decided(stacks: dict[str, Drawn]) -> dict[str, tuple[Decision, Curves]]:
    """Every workload of every stack with its curves; a decision for each."""
    return {
        decision.workload: (decision, drawn.curves[decision.workload])
        for drawn in stacks.values()
        for decision in drawn.plan.decisions
    }


@pytest.fixture(scope="session")
def hosted(stacks: dict[str, Drawn]) -> list[Case]:
    """Every self-hosted option that was sized, as if it had been chosen."""
    return [
        drawn.case(decision.model_copy(update={"chosen": outcome}))
        for drawn in stacks.values()
        for decision in drawn.plan.decisions
        for outcome in outcomes(decision)
        if outcome.self_hosted is not None
    ]


def outcomes(decision: Decision) -> Iterator[Outcome]:
    if decision.chosen is not None:
        yield decision.chosen
    yield from decision.others
