"""The report leads from each number to its formula, whatever page it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from planner.catalog.shapes import load_shape
from planner.curves.all_of import curves_of
from planner.report.findings import Checked, rule_rows
from planner.report.html.model import Fact, Linked, Page, Reported, Table
from planner.report.html.pages import numbers as numbers_page
from planner.report.html.registry import pages_of
from planner.report.html.shown import OF_MANY, Shown, number_anchor, point_anchor
from planner.report.numbers.curves import POINT_RULES
from planner.report.numbers.explanations import explanations
from planner.running import StackRun

Pages = tuple[Page, ...]

STACKS = ("bank-au", "saas-global")

NEEDS_NONE = {
    ("steps-table", "number"): "the order of a step",
    ("ruled-out-table", "options"): "a count of what the policy said",
    ("ruled-out-table", "workloads"): "a count of what the policy said",
    ("units-table", "term"): "what the option is: its term",
    ("purchases-table", "term"): "what the option is: its term",
    ("waivers-used.table", "left"): "days until a declared date",
    ("waivers-expiring.table", "left"): "days until a declared date",
}
"""Numbers in a report's tables that nothing was worked out for, and why."""


def checked(run: StackRun) -> Checked:
    return Checked(
        run.plan,
        at=run.evaluated_at,
        files=run.stack.files,
        waivers=run.waivers,
        rules=rule_rows(run.manifest),
    )


@pytest.fixture(scope="session")
def told(runs: dict[str, StackRun]) -> dict[str, Reported]:
    found = {}
    for name in STACKS:
        run = runs[name]
        numbers = explanations(run.plan, run.stack, run.catalog)
        curves = {}
        if name == "bank-au":  # the other's tables of curves have the same columns
            curves = curves_of(run.plan, run.stack, run.catalog, shape_of=load_shape)
        found[name] = Reported(checked(run), curves, Shown(numbers, run.plan.decisions))
    return found


@pytest.fixture(scope="session")
def documents(told: dict[str, Reported]) -> dict[str, Pages]:
    return {name: pages_of(one) for name, one in told.items()}


def tables(document: Pages) -> Iterator[Table]:
    for page in document:
        if page.id != "numbers":
            yield from (part.table for part in page.sections if part.table is not None)


def facts(document: Pages) -> Iterator[Fact]:
    for page in document:
        for part in page.sections:
            yield from part.facts


def anchors(document: Pages) -> set[str]:
    found = set()
    for page in document:
        found.add(page.id)
        for part in page.sections:
            found.add(part.id)
            found |= set(part.table.row_ids if part.table else ())
    return found


@pytest.mark.parametrize("stack", STACKS)
def test_every_numeric_cell_is_explained(documents: dict[str, Pages], stack: str) -> None:
    targets = anchors(documents[stack])
    for table in tables(documents[stack]):
        for row, cells in enumerate(table.rows):
            for column, cell in zip(table.columns, cells, strict=True):
                if isinstance(cell, bool) or not isinstance(cell, int | float):
                    continue
                linked = table.explain.get((row, column.key))
                if linked is None and column.explains is not None:
                    linked = point_anchor(column.explains)
                where = (table.id, column.key)
                assert linked is not None or where in NEEDS_NONE, (stack, where, cell)
                assert linked is None or linked in targets, (stack, where, linked)


@pytest.mark.parametrize("stack", STACKS)
def test_an_explained_cell_has_the_value_that_is_explained(
    documents: dict[str, Pages], told: dict[str, Reported], stack: str
) -> None:
    shown = told[stack].shown
    assert shown is not None
    by_anchor = {number_anchor(found): found for found in shown.numbers.values()}
    compared = 0
    for table in tables(documents[stack]):
        keys = [column.key for column in table.columns]
        for (row, key), target in table.explain.items():
            if target in by_anchor:
                cell = table.rows[row][keys.index(key)]
                assert by_anchor[target].value == pytest.approx(cell), (table.id, row, key)
                compared += 1
    for fact in facts(documents[stack]):
        if fact.explain is not None and fact.unit != "GiB a GPU":
            assert by_anchor[fact.explain].value == pytest.approx(fact.value), fact
            compared += 1
    assert compared > 3 * len(told[stack].checked.plan.decisions)


@pytest.mark.parametrize("stack", STACKS)
def test_every_numeric_key_figure_is_explained(documents: dict[str, Pages], stack: str) -> None:
    targets = anchors(documents[stack])
    for fact in facts(documents[stack]):
        if isinstance(fact.value, int | float):
            assert fact.explain in targets, fact


@pytest.mark.parametrize("stack", STACKS)
def test_terms_lead_to_the_numbers_that_they_are(documents: dict[str, Pages], stack: str) -> None:
    page = next(page for page in documents[stack] if page.id == "numbers")
    targets, led = anchors(documents[stack]), 0
    for part in page.sections:
        for row in part.table.rows if part.table else ():
            for cell in row:
                for piece in cell.pieces if isinstance(cell, Linked) else ():
                    assert piece.target is None or piece.target in targets
                    led += piece.target is not None
            assert "NOT BORNE OUT by this formula" not in row
    assert led > 20


def test_rules_of_points_are_told_once_and_used(documents: dict[str, Pages]) -> None:
    keys = [rule.key for rule in POINT_RULES]
    assert len(keys) == len(set(keys))
    used = {
        column.explains
        for document in documents.values()
        for table in tables(document)
        for column in table.columns
    }
    assert used - {None} == set(keys)


def test_today_s_point_of_each_curve_is_the_plan_s_number(
    told: dict[str, Reported],
) -> None:
    one = told["bank-au"]
    assert one.shown is not None
    numbers = one.shown.numbers
    for workload, curves in one.curves.items():
        if curves.cost is not None:
            at = curves.cost.tokens_per_month.index(curves.cost.tokens_per_month_now)
            line = next(line for line in curves.cost.lines if line.chosen)
            compared = numbers[f"{workload}/compared_usd_per_month"].value
            assert line.usd_per_month[at] == pytest.approx(compared)
        if curves.break_even is not None:
            even = curves.break_even
            now = next(p for p in even.by_output_fraction if p.share == even.output_fraction_now)
            at_mix = numbers[f"{workload}/break_even/blended_usd_per_mtok"].value
            assert now.blended_usd_per_mtok == pytest.approx(at_mix)
            commitment = numbers[f"{workload}/break_even/commitment_usd_per_month"].value
            capacity = numbers[f"{workload}/break_even/capacity_tokens_per_month"].value
            needed = commitment / at_mix * 1e6 / capacity
            assert now.needed_share == pytest.approx(needed)
        if curves.latency is not None:
            planned = next(
                p
                for p in curves.latency.points
                if p.requests_per_minute == curves.latency.requests_per_minute_planned
            )
            assert planned.ttft_p95_ms == pytest.approx(numbers[f"{workload}/ttft_p95_ms"].value)


def test_a_stack_of_many_workloads_tells_each_formula_once(runs: dict[str, StackRun]) -> None:
    run, copies = runs["saas-global"], 125
    decisions, workloads = [], []
    for number in range(copies):
        for decision in run.plan.decisions:
            name = f"{decision.workload}-{number}"
            decisions.append(decision.model_copy(update={"workload": name}))
            declared = next(w for w in run.stack.workloads if w.name == decision.workload)
            workloads.append(declared.model_copy(update={"name": name}))
    plan = run.plan.model_copy(update={"decisions": tuple(decisions)})
    stack = replace(run.stack, workloads=tuple(workloads))
    numbers = explanations(plan, stack, run.catalog)
    shown = Shown(numbers, plan.decisions)
    one = Reported(replace(checked(run), plan=plan), {}, shown)
    page = numbers_page.page(one)
    assert not shown.whole
    assert len(shown.groups) == 1 + OF_MANY
    assert len(numbers._found) == 1 + OF_MANY
    text = repr(page)
    assert len(text) < 1_500_000
    assert len(page.sections) == 2 + OF_MANY + 2
    formulas = next(part.table for part in page.sections if part.id == "numbers-formulas")
    assert formulas is not None
    kinds = [row[-1] for row in formulas.rows]
    assert len(kinds) == len(set(kinds))
    assert {"tokens_per_month", "kv_tokens", "floor/units", "flip/demand_factor"} - set(kinds) <= {
        "flip/demand_factor"
    }
    targets = {id for part in page.sections if part.table for id in part.table.row_ids}
    for name in (decisions[0].workload, decisions[-1].workload):
        assert one.link(name, "total_usd_per_month") in targets
    assert one.link(decisions[0].workload, "no such number") is None


def test_without_explained_numbers_no_link_leads_nowhere(runs: dict[str, StackRun]) -> None:
    one = Reported(checked(runs["bank-au"]))
    pages = pages_of(one)
    for page in pages:
        for part in page.sections:
            assert all(fact.explain is None for fact in part.facts)
            if part.table is not None:
                targets = set(part.table.explain.values())
                assert not any(re.match(r"(number|formula)\.", target) for target in targets)
