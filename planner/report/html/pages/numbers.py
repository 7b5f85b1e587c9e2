"""How the numbers were made: formula, numbers in it and sources, a workload at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planner.report.html.model import (
    Column,
    Link,
    Linked,
    Page,
    Reported,
    Section,
    Table,
    Value,
)
from planner.report.html.shown import (
    Shown,
    formula_anchor,
    number_anchor,
    point_anchor,
    workloads_of,
)
from planner.report.html.words import anchor
from planner.report.numbers.curves import POINT_RULES
from planner.report.numbers.explained import Explained, Term, source_of
from planner.report.numbers.totals import TOTAL
from planner.report.numbers.tree import amount, stands_alone
from planner.report.words import clean
from planner.units import counted

COLUMNS = (
    Column("title", "Number"),
    Column("value", "Value"),
    Column("how", "Formula, the numbers in it, and their sources"),
    Column("exactness", "How exact"),
    Column("id", "Name"),
)

FORMULA_COLUMNS = (
    Column("title", "Number"),
    Column("formula", "Formula"),
    Column("rule", "Why"),
    Column("exactness", "How exact"),
    Column("id", "Name"),
)


def page(reported: Reported) -> Page:
    """Return the numbers of the stack and of each workload, and how curves come about."""
    shown = reported.shown
    sections: list[Section] = []
    if shown is not None:
        sections = [_about(shown, reported), _group(shown, TOTAL, "The stack")]
        for group, name in workloads_of(reported.checked.plan.decisions, shown):
            sections.append(_group(shown, group, name))
        if not shown.whole:
            sections.append(_formulas(shown))
    sections.append(_points())
    return Page("numbers", "How the numbers were made", tuple(sections))


def _about(shown: Shown, reported: Reported) -> Section:
    stack = reported.checked.plan.stack
    text = [
        "Each number that a table links is here with its formula, the numbers in it and where "
        "they come from: another number, a key of a declared file, a row of the catalog with "
        "its date, or a constant with its source.",
        "Exact is arithmetic on declared and published figures; modelled has a model behind it; "
        "measured is somebody's measurement; declared and published are as the file or the "
        "catalog's row says.",
        f"llm-capacity explain WORKLOAD NUMBER --stack {stack} walks a number down in a terminal.",
    ]
    if not shown.whole:
        told = counted(len(shown.groups) - 1, "workload")
        text.append(
            f"This stack has {len(reported.checked.plan.decisions):,} workloads. The numbers of "
            f"{told} are here: of each sort, and those that cost most. The others follow the same "
            "formulas, which are told once; the command gives their numbers."
        )
    return Section("numbers-about", "How to read this", tuple(text))


def _group(shown: Shown, group: str, title: str) -> Section:
    numbers = shown.of(group)
    id = anchor("numbers", group)
    return Section(
        id,
        title,
        (),
        Table(
            f"{id}.table",
            f"{counted(len(numbers), 'number')} of {title}",
            COLUMNS,
            tuple(_row(item, shown) for item in numbers.values()),
            row_ids=tuple(number_anchor(item) for item in numbers.values()),
        ),
        folded=True,
    )


def _row(found: Explained, shown: Shown) -> tuple[Value, ...]:
    return (
        found.title,
        amount(found),
        Linked(tuple(_how(found, shown))),
        found.exactness if found.agrees else "NOT BORNE OUT by this formula",
        found.id,
    )


def _how(found: Explained, shown: Shown) -> Iterator[Link]:
    """Yield formula, the numbers in it, why, what a search met, and the terms: a line each."""
    lines = [] if stands_alone(found) else [found.formula, f"= {found.with_numbers}"]
    if found.rule:
        lines.append(found.rule)
    for condition in found.conditions:
        lines.append(f"{condition.words}: {condition.formula}: {condition.with_numbers}")
    for line in lines:
        yield Link(f"{clean(line)}\n")
    yield from _terms(found.all_terms, shown)


def _terms(terms: Iterable[Term], shown: Shown) -> Iterator[Link]:
    for at, term in enumerate(terms):
        if at:
            yield Link("; ")
        target = None
        group = term.ref.partition("/")[0]
        if term.origin == "number" and group in shown.groups and term.ref in shown.of(group):
            target = number_anchor(shown.numbers[term.ref])
        said = "" if target else f": {source_of(term)}" if source_of(term) else ""
        yield Link(clean(f"{term.symbol} = {amount(term)}{said}"), target)


def _formulas(shown: Shown) -> Section:
    found = shown.formulas.values()
    return Section(
        "numbers-formulas",
        "Formulas of every workload",
        ("The kinds of number that workloads of this stack have, with the formula of each.",),
        Table(
            "numbers-formulas.table",
            f"{counted(len(found), 'formula')}, told once",
            FORMULA_COLUMNS,
            tuple(
                (item.title, item.formula or None, item.rule or None, item.exactness, item.kind)
                for item in found
            ),
            row_ids=tuple(formula_anchor(item.kind) for item in found),
        ),
        folded=True,
    )


def _points() -> Section:
    return Section(
        "numbers-points",
        "Points of the curves",
        ("Each point is worked out again by what decided, at another volume, mix or load.",),
        Table(
            "numbers-points.table",
            "How the points of each curve come about",
            (
                Column("title", "Point"),
                Column("formula", "Formula"),
                Column("rule", "How it varies"),
            ),
            tuple((rule.title, rule.formula, rule.rule) for rule in POINT_RULES),
            row_ids=tuple(point_anchor(rule.key) for rule in POINT_RULES),
        ),
        folded=True,
    )
