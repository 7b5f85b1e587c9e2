"""Which explained numbers the report holds, and where a page's number leads to.

A report of a few workloads holds the numbers of each. One of many holds the formulas once,
with the numbers of the workloads that cost most: the rest would only repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from planner.decision import Decision
from planner.report.html.words import anchor
from planner.report.numbers.explained import Explained
from planner.report.numbers.explanations import RUNNER_UP, Explanations
from planner.report.numbers.totals import TOTAL

ALL_UP_TO = 24
"""Workloads up to which a report holds every number of each."""

OF_MANY = 10
"""Workloads whose numbers a report of more than that holds."""

_NOT_CHOSEN = ("others/", RUNNER_UP)
"""How kinds begin that tell of options which were not chosen."""


class Shown:
    """The explained numbers of a report: whole groups, and formulas for the others."""

    def __init__(self, numbers: Explanations, decisions: tuple[Decision, ...]) -> None:
        self.numbers = numbers
        self._decisions = decisions

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups whose numbers are shown: the totals, and workloads by their name."""
        return (TOTAL, *(self.numbers.group_of(name) for name in self._workloads))

    @property
    def whole(self) -> bool:
        """Whether the numbers of every workload are shown."""
        return len(self._decisions) <= ALL_UP_TO

    @cached_property
    def formulas(self) -> Mapping[str, Explained]:
        """Every kind of number by its name, with an example; of workloads alone."""
        found: dict[str, Explained] = {}
        for group in self.groups[1:]:
            for item in self.of(group).values():
                found.setdefault(item.kind, item)
        return found

    def of(self, group: str) -> Mapping[str, Explained]:
        """Return the numbers of a group that are shown: of many, those of what was chosen."""
        numbers = self.numbers.of(group)
        if self.whole:
            return numbers
        return {
            name: item for name, item in numbers.items() if not item.kind.startswith(_NOT_CHOSEN)
        }

    def link(self, workload: str, kind: str) -> str | None:
        """Return the anchor of a workload's number, of its formula, or None without either.

        ``workload`` "" means the stack's totals.
        """
        group = TOTAL if not workload else self.numbers.group_of(workload)
        if group in self.groups:
            found = self.of(group).get(f"{group}/{kind}")
            return None if found is None else number_anchor(found)
        return formula_anchor(kind) if kind in self.formulas else None

    @cached_property
    def _workloads(self) -> tuple[str, ...]:
        names = [decision.workload for decision in self._decisions]
        if self.whole:
            return tuple(names)
        ranked = sorted(self._decisions, key=lambda d: (-_usd(d), d.workload))
        # One of each sort comes first, so that every formula in use has an example.
        first = {_sort(decision): decision.workload for decision in reversed(ranked)}
        kept = list(first.values())[:OF_MANY]
        kept += [d.workload for d in ranked if d.workload not in kept][: OF_MANY - len(kept)]
        return tuple(name for name in names if name in kept)


def number_anchor(found: Explained) -> str:
    """Return the id of an explained number's row."""
    return anchor("number", found.group, found.kind)


def formula_anchor(kind: str) -> str:
    """Return the id of the row that tells a formula for every workload."""
    return anchor("formula", kind)


def point_anchor(key: str) -> str:
    """Return the id of the row that tells how the points of a curve come about."""
    return anchor("point", key)


def workloads_of(decisions: tuple[Decision, ...], shown: Shown) -> Iterator[tuple[str, str]]:
    """Yield group and name of each workload whose numbers are shown."""
    for decision in decisions:
        group = shown.numbers.group_of(decision.workload)
        if group in shown.groups:
            yield group, decision.workload


def _usd(decision: Decision) -> float:
    cost = decision.chosen.cost if decision.chosen is not None else None
    return (cost.total_usd_per_month if cost is not None else None) or 0.0


def _sort(decision: Decision) -> tuple[object, ...]:
    chosen = decision.chosen
    if chosen is None:
        return (decision.status, decision.tier)
    cost = chosen.cost
    return (
        chosen.option.kind,
        decision.tier,
        chosen.option.spill is not None,
        chosen.option.term_months > 0,
        cost is not None and cost.break_even is not None,
    )
