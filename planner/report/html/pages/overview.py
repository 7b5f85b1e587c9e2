"""The verdict first, what it costs, then one row for each workload and what is left to do."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decision import Decision
from planner.report.check import counts_words, headline
from planner.report.findings import denied, told, unanswered
from planner.report.html.model import Column, Fact, Page, Reported, Section, Table, Value
from planner.report.html.verdict import tone_of
from planner.report.html.words import (
    anchor,
    chosen_words,
    flip_words,
    floor_words,
    runner_up_words,
)
from planner.report.words import clean
from planner.units import counted

MANY = 50
"""Workloads above which the second table is closed at first."""


def page(reported: Reported) -> Page:
    """Return the overview."""
    plan = reported.checked.plan
    sections = [_verdict(reported), _bill(reported), _workloads(reported), _turns(reported)]
    if plan.resources.steps:
        sections.append(_steps(reported))
    if plan.warnings or plan.overrides:
        sections.append(_cautions(reported))
    return Page("overview", "Overview", tuple(sections))


def _verdict(reported: Reported) -> Section:
    found = told(reported.checked)
    stops = [*unanswered(found), *denied(found)]
    rules = sorted({f"{item.finding.rule_id} for {item.workload}" for item in stops})
    text = [f"{counts_words(found)}."]
    if rules:
        text.append(f"What stops it: {'; '.join(rules)}.")
    for decision in reported.checked.plan.decisions:
        if decision.chosen is None:
            why = clean(decision.explanation)
            text.append(f"{decision.workload} has no decision ({decision.status}): {why}.")
    return Section(
        "verdict",
        headline(reported.checked),
        tuple(text),
        tone=tone_of(reported.checked.plan),
    )


def _bill(reported: Reported) -> Section:
    totals = reported.checked.plan.totals

    def link(kind: str) -> str | None:
        return reported.link("", kind)

    # Undecided workloads are in no figure.
    undecided = any(decision.chosen is None for decision in reported.checked.plan.decisions)
    least = ", at least" if undecided else ""
    figures = [
        Fact(
            f"Total{least}",
            totals.total_usd_per_month,
            "USD a month",
            0,
            link("total_usd_per_month"),
        ),
        Fact(
            f"Fixed, used or not{least}",
            totals.fixed_usd_per_month,
            "USD a month",
            0,
            link("fixed_usd_per_month"),
        ),
        Fact(
            f"Usage{least}",
            totals.variable_usd_per_month,
            "USD a month",
            0,
            link("variable_usd_per_month"),
        ),
        Fact(
            "Engineering",
            totals.engineering_usd_per_month,
            "USD a month",
            0,
            link("engineering_usd_per_month"),
        ),
    ]
    if totals.currency != "USD":
        figures.append(
            Fact(
                f"With unrecoverable tax{least}",
                totals.reported_per_month,
                f"{totals.currency} a month",
                0,
                link("reported_per_month"),
            )
        )
    text = [
        "Fixed is paid whether it is used or not, usage follows the tokens, engineering is "
        "the work of running models on own machines."
    ]
    if totals.sunk_usd_per_month:
        figures.append(
            Fact(
                "Committed already",
                totals.sunk_usd_per_month,
                "USD a month",
                0,
                link("sunk_usd_per_month"),
            )
        )
        text.append(
            "What is committed already is paid whatever is decided: it is not in the total."
        )
    if totals.undecided_workloads:
        count = counted(totals.undecided_workloads, "workload")
        text.append(f"The total leaves out {count} without a decision.")
    capacity = (
        f"{counted(totals.nodes, 'GPU node')}, {counted(totals.gpus, 'GPU')}, "
        f"{counted(totals.provisioned_units, 'provisioned unit')}."
    )
    return Section(
        "bill",
        "The bill",
        (*text, capacity),
        facts=tuple(figures),
        key_figures=True,
    )


_COLUMNS = (
    Column("workload", "Workload"),
    Column("chosen", "Chosen"),
    Column("usd", "Total", "USD a month", 0),
    Column("fixed", "Fixed", "USD a month", 0),
    Column("usage", "Usage", "USD a month", 0),
    Column("floor", "Floor"),
    Column("tightest", "Tightest objective"),
)

_TURNS = (
    Column("workload", "Workload"),
    Column("runner_up", "Runner-up"),
    Column("flip", "Where it would win"),
)

_KINDS = {
    "usd": "total_usd_per_month",
    "fixed": "fixed_usd_per_month",
    "usage": "variable_usd_per_month",
}
"""What explains the numbers of a workload's row."""


def _workloads(reported: Reported) -> Section:
    decisions = reported.checked.plan.decisions
    numbers = reported.links(
        {
            (number, key): (decision.workload, kind)
            for number, decision in enumerate(decisions)
            for key, kind in _KINDS.items()
        }
    )
    table = Table(
        "workloads-table",
        "Each workload: what was chosen, and what it costs",
        _COLUMNS,
        tuple(_row(decision) for decision in decisions),
        {
            **{
                (number, "workload"): anchor("demand", decision.workload)
                for number, decision in enumerate(decisions)
            },
            **numbers,
        },
    )
    return Section("workloads", "Workloads", (), table)


def _row(decision: Decision) -> tuple[Value, ...]:
    cost = decision.chosen.cost if decision.chosen else None
    return (
        decision.workload,
        clean(chosen_words(decision)),
        cost.total_usd_per_month if cost else None,
        cost.fixed_usd_per_month if cost else None,
        cost.variable_usd_per_month if cost else None,
        floor_words(decision.chosen),
        decision.tightest_objective or None,
    )


def _turns(reported: Reported) -> Section:
    decisions = reported.checked.plan.decisions
    table = Table(
        "turns-table",
        "Each workload: what came second, and the demand or mix at which it would be chosen",
        _TURNS,
        tuple((item.workload, runner_up_words(item), flip_words(item)) for item in decisions),
    )
    return Section("turns", "What would change a choice", (), table, folded=len(decisions) > MANY)


def _steps(reported: Reported) -> Section:
    steps = reported.checked.plan.resources.steps
    table = Table(
        "steps-table",
        "Steps to real capacity, in the order in which they must happen",
        (
            Column("number", "Step"),
            Column("phase", "Phase"),
            Column("by", "Who"),
            Column("text", "What"),
        ),
        tuple((step.number, step.phase, step.by, clean(step.text)) for step in steps),
    )
    people = sum(step.by == "person" for step in steps)
    text = (
        f"{counted(people, 'step')} for a person, {counted(len(steps) - people, 'step')} for "
        "the program. Quota is permission, not capacity.",
    )
    return Section("steps", "Steps to capacity", text, table)


def _cautions(reported: Reported) -> Section:
    def rows() -> Iterator[tuple[Value, ...]]:
        plan = reported.checked.plan
        yield from (("warning", clean(line)) for line in plan.warnings)
        yield from (("given by the user", clean(line)) for line in plan.overrides)

    columns = (Column("kind", "Kind"), Column("text", "What"))
    table = Table("cautions-table", "What weakens the numbers", columns, tuple(rows()))
    return Section("cautions", "Cautions", (), table)
