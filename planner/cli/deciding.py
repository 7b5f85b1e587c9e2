"""Commands that decide a stack, and show or write what was decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from planner.cli.common import allowed, finish, format_option, guarded, planned, show, stack_options
from planner.errors import InputError, Problem
from planner.guards.documents import guard_files
from planner.report import explain as explain_report
from planner.report import text
from planner.report.findings import Checked, rule_rows
from planner.report.formats import FORMATS
from planner.running import run_stack


@click.command()
@stack_options
@format_option()
@guarded
def plan(form: str, **asked: Any) -> int:
    """Decide the stack and print the plan; write plan and record to out/STACK/."""
    result = planned(asked)
    click.echo(result.to_json() if form == "json" else text.summary(result), nl=False)
    return finish(result)


@click.command()
@stack_options
@format_option(FORMATS)
@guarded
def check(form: str, root: Path, stack: str, **asked: Any) -> int:
    """Print what the policy says of the stack; exit 5 if it denies, 10 if it cannot tell."""
    run = run_stack(root, stack, **asked)
    checked = Checked(
        run.plan,
        at=run.evaluated_at,
        files=run.stack.files,
        waivers=run.waivers,
        rules=rule_rows(run.manifest),
    )
    click.echo(FORMATS[form](checked), nl=False)
    return finish(run.plan)


@click.command()
@click.argument("workload")
@stack_options
@format_option()
@guarded
def explain(workload: str, form: str, **asked: Any) -> int:
    """Print every number behind the decision for WORKLOAD."""
    result = planned(asked)
    decision = next((item for item in result.decisions if item.workload == workload), None)
    if decision is None:
        known = ", ".join(item.workload for item in result.decisions)
        raise InputError([Problem("WORKLOAD", f"no workload {workload!r}", f"Known: {known}.")])
    show(form, decision.model_dump(mode="json"), explain_report.explain(result, decision))
    return 0


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@stack_options
@format_option()
@guarded
def render(out: Path, form: str, root: Path, stack: str, **asked: Any) -> int:
    """Write the plan to a folder that Argo CD or Flux applies, with its evidence."""
    from planner.emit.render import render as render_plan

    run = allowed(root, stack, **asked)
    guards = guard_files(run.plan, run.catalog)
    written = render_plan(run.plan, out, run.record, run.plan_json, guards)
    paths = [path.as_posix() for path in written]
    click.echo(json.dumps(paths, indent=2) if form == "json" else "\n".join(paths))
    return 0
