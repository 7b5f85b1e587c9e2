"""Every number of a plan by its id, worked out a workload at a time when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from planner.catalog.loader import Catalog
from planner.decision import Outcome
from planner.declare import Stack
from planner.nearest import nearest
from planner.plan import Plan
from planner.report.numbers.cost import compared_numbers, cost_numbers
from planner.report.numbers.demand import demand_numbers, objective_numbers
from planner.report.numbers.explained import Explained
from planner.report.numbers.facts import Case, Facts, Sheet
from planner.report.numbers.machines import machine_numbers
from planner.report.numbers.orders import purchase_numbers, quota_numbers
from planner.report.numbers.promises import exit_numbers, provider_numbers
from planner.report.numbers.provisioned import provisioned_numbers
from planner.report.numbers.rivals import flip_numbers, option_numbers, rival_numbers
from planner.report.numbers.totals import TOTAL, total_numbers

NEAREST = 5

RUNNER_UP = "runner_up/"
"""How the kinds of the runner-up's numbers begin."""


class Explanations(Mapping[str, Explained]):
    """The explained numbers of a plan by id; a group is worked out when one of it is asked for."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._found: dict[str, Mapping[str, Explained]] = {}

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups: the stack's totals, then each workload."""
        return (TOTAL, *self._group_of.values())

    def group_of(self, workload: str) -> str:
        """Return the group of a workload."""
        return self._group_of[workload]

    def of(self, group: str) -> Mapping[str, Explained]:
        """Return the numbers of a group by id, in the order in which they follow each other."""
        if group not in self._found:
            self._found[group] = self._worked_out(group)
        return self._found[group]

    def nearest(self, asked: str, group: str) -> tuple[str, ...]:
        """Return the ids of a group that are most like what was asked for."""
        known = {name.partition("/")[2]: name for name in self.of(group)}
        wanted = asked.removeprefix(f"{group}/")
        near = nearest(wanted, known, NEAREST)
        part = [kind for kind in known if wanted and wanted in kind and kind not in near]
        return tuple(known[kind] for kind in [*near, *part][:NEAREST])

    def __getitem__(self, name: str) -> Explained:
        """Return the number with this id; raises KeyError for one that is not explained."""
        group = name.partition("/")[0]
        if group not in self.groups:
            raise KeyError(name)
        return self.of(group)[name]

    def __iter__(self) -> Iterator[str]:
        """Yield every id, which works out every group."""
        for group in self.groups:
            yield from self.of(group)

    def __len__(self) -> int:
        """Return how many numbers are explained, which works out every group."""
        return sum(len(self.of(group)) for group in self.groups)

    @cached_property
    def _group_of(self) -> dict[str, str]:
        names = [decision.workload for decision in self._facts.plan.decisions]
        # No workload's name has a dot, so this cannot be another one's group.
        return {name: name if name != TOTAL else f"workload.{name}" for name in names}

    @cached_property
    def _workload_of(self) -> dict[str, str]:
        return {group: name for name, group in self._group_of.items()}

    def _worked_out(self, group: str) -> Mapping[str, Explained]:
        sheet = Sheet(group)
        if group == TOTAL:
            total_numbers(sheet, self._facts, self._group_of)
            quota_numbers(sheet, self._facts)
        else:
            name = self._workload_of[group]
            facts = self._facts
            _workload_numbers(sheet, Case(facts, facts.decisions[name], facts.workloads[name]))
        return sheet.numbers


def explanations(plan: Plan, stack: Stack, catalog: Catalog) -> Explanations:
    """Return the explained numbers of a plan; ``stack`` and ``catalog`` are what it was made of."""
    return Explanations(Facts(plan, stack, catalog))


def _workload_numbers(sheet: Sheet, case: Case) -> None:
    demand_numbers(sheet, case)
    asked = dict(sheet.numbers)
    objective_numbers(sheet, case)
    option_numbers(sheet, case)
    if case.decision.chosen is None:
        return
    _outcome_numbers(sheet, case, case.decision.chosen)
    purchase_numbers(sheet, case)
    rival_numbers(sheet, case)
    flip_numbers(sheet, case)
    decision = case.decision
    rival = next((o for o in decision.others if o.option.id == decision.runner_up), None)
    if rival is not None:
        # The runner-up's numbers, as if it had been chosen; the demand is the same.
        instead = decision.model_copy(update={"chosen": rival})
        beside = Sheet(sheet.group, RUNNER_UP, asked)
        _outcome_numbers(beside, Case(case.facts, instead, case.workload), rival)
        sheet.numbers |= beside.numbers


def _outcome_numbers(sheet: Sheet, case: Case, outcome: Outcome) -> None:
    load = None
    if outcome.option.kind == "self_hosted":
        load = machine_numbers(sheet, case, outcome)
    else:
        provider_numbers(sheet, case, outcome)
        if outcome.option.kind == "provisioned":
            load = provisioned_numbers(sheet, case, outcome)
    cost_numbers(sheet, case, outcome, load)
    compared_numbers(sheet, case, outcome)
    exit_numbers(sheet, case, outcome)
