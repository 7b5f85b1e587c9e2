"""``explain``: a workload's decision, and any of its numbers down to where it comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rich_click as click

from planner import faults
from planner.cli.common import examples, format_option, guarded, panels, run, show, stack_options
from planner.cli.completing import complete_workload
from planner.cli.printing import told_to
from planner.errors import InputError
from planner.report import explain as explain_report
from planner.report.numbers import tree
from planner.report.numbers.explained import Explained
from planner.report.numbers.explanations import Explanations, explanations
from planner.report.numbers.totals import TOTAL
from planner.running import StackRun


@click.command(
    epilog=examples(
        "llm-capacity explain case-notes --stack bank-au",
        "llm-capacity explain case-notes --numbers --stack bank-au",
        "llm-capacity explain case-notes kv_tokens --stack bank-au --depth 2",
        "llm-capacity explain total reported_per_month --stack bank-au --format markdown",
    )
)
@click.argument("workload", shell_complete=complete_workload)
@click.argument("number", required=False)
@stack_options
@format_option(("text", "json", "markdown"))
@click.option("--numbers", is_flag=True, help="List the names of the numbers with their values.")
@click.option(
    "--depth",
    type=click.IntRange(0, 20),
    default=1,
    show_default=True,
    help="Levels that NUMBER is walked down: its terms, their terms.",
)
@panels(Number=["--numbers", "--depth", "--format"])
@guarded
def explain(
    workload: str,
    number: str | None,
    form: str,
    numbers: bool,
    depth: int,
    root: Path,
    stack: str,
    **asked: Any,
) -> int:
    """Print every number behind the decision for WORKLOAD.

    With NUMBER its formula, the numbers in it and their sources. The WORKLOAD "total" is the
    whole stack.
    """
    found = run(root, stack, **asked)
    known = explanations(found.plan, found.stack, found.catalog)
    group = _group(found, known, workload, decided=number is None and not numbers)
    if number is not None:
        _show_number(_number(known, group, number), known, form, depth)
    elif numbers or group == TOTAL:
        _show_list(known.of(group), form)
    else:
        _show_decision(found, workload, form)
    return 0


def _group(found: StackRun, known: Explanations, workload: str, *, decided: bool) -> str:
    """Return the group of numbers that WORKLOAD names; a workload named total comes first."""
    names = [item.workload for item in found.plan.decisions]
    if workload in names:
        return known.group_of(workload)
    if workload == TOTAL:
        return TOTAL
    fix = f"Use one of: {', '.join(names)}" + ("." if decided else f", or {TOTAL}.")
    raise InputError([faults.NO_SUCH_WORKLOAD.at("WORKLOAD", f"no workload {workload!r}", fix)])


def _number(known: Explanations, group: str, asked: str) -> Explained:
    kind = asked.removeprefix(f"{group}/")
    found = known.of(group).get(f"{group}/{kind}")
    if found is not None:
        return found
    near = ", ".join(name.removeprefix(f"{group}/") for name in known.nearest(kind, group))
    fix = f"Nearest: {near}. " if near else ""
    what = f"{group} has no number {asked!r}"
    raise InputError([faults.NO_SUCH_NUMBER.at("NUMBER", what, f"{fix}List them with --numbers.")])


def _show_number(found: Explained, known: Explanations, form: str, depth: int) -> None:
    if form == "json":
        click.echo(json.dumps(tree.document(found, known, depth), sort_keys=True, indent=2))
    elif form == "markdown":
        click.echo(tree.markdown(found, known, depth), nl=False)
    else:
        told_to(tree.text(found, known, depth))


def _show_list(numbers: Mapping[str, Explained], form: str) -> None:
    if form == "json":
        values = {name: {"value": item.value, "unit": item.unit} for name, item in numbers.items()}
        click.echo(json.dumps(values, sort_keys=True, indent=2))
    elif form == "markdown":
        rows = [f"| `{n}` | {tree.amount(item)} | {item.title} |" for n, item in numbers.items()]
        click.echo("\n".join(["| number | value | what |", "| --- | --- | --- |", *rows]))
    else:
        told_to(tree.listed(numbers.values()))


def _show_decision(found: StackRun, workload: str, form: str) -> None:
    decision = next(item for item in found.plan.decisions if item.workload == workload)
    told = explain_report.explain(found.plan, decision)
    if form == "markdown":
        click.echo(f"```text\n{told}```")
    else:
        show(form, decision.model_dump(mode="json"), told)
