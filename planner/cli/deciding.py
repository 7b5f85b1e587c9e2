"""Commands that decide a stack, and show or write what was decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import rich_click as click

from planner.cli.common import (
    allowed,
    checked,
    examples,
    finish,
    format_option,
    guarded,
    planned,
    run,
    stack_options,
)
from planner.cli.printing import told_to
from planner.cli.progress import working
from planner.guards.documents import guard_files
from planner.report import text
from planner.report.formats import FORMATS
from planner.report.plan_markdown import plan_markdown


@click.command(
    epilog=examples(
        "llm-capacity plan --stack bank-au",
        "llm-capacity plan --stack bank-au --format json > plan.json",
        "llm-capacity plan --stack bank-au --baseline approved/plan.json",
    )
)
@stack_options
@format_option(("text", "json", "markdown", "html"))
@guarded
def plan(form: str, **asked: Any) -> int:
    """Decide the stack and print the plan; write plan and record to out/STACK/.

    One line a workload with what serves it, its cost, its tightest objective and the runner-up,
    then warnings and totals; JSON is the whole plan, HTML the report.
    """
    if form == "html":
        from planner.cli.reporting import checked_html

        return checked_html(asked.pop("root"), asked.pop("stack"), **asked)
    result = planned(asked)
    if form == "json":
        click.echo(result.to_json(), nl=False)
    elif form == "markdown":
        click.echo(plan_markdown(result), nl=False)
    else:
        told_to(text.summary(result))
    return finish(result)


@click.command(
    epilog=examples(
        "llm-capacity check --stack bank-au",
        "llm-capacity check --stack bank-au --operation update",
        "llm-capacity check --stack bank-au --format sarif > check.sarif",
    )
)
@stack_options
@format_option((*FORMATS, "html"))
@guarded
def check(form: str, root: Path, stack: str, **asked: Any) -> int:
    """Print what the policy says of the stack; exit 5 if it denies, 10 if it cannot tell."""
    if form == "html":
        # Imported where it is asked for: it needs the extra `report`.
        from planner.cli.reporting import checked_html

        return checked_html(root, stack, **asked)
    found = run(root, stack, **asked)
    result = FORMATS[form](checked(found))
    if form == "text":
        told_to(result)
    else:
        click.echo(result, nl=False)
    return finish(found.plan)


@click.command(
    epilog=examples(
        "llm-capacity render --stack bank-au --out manifests",
        "llm-capacity render --stack bank-au --out manifests --operation update",
    )
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@stack_options
@format_option()
@guarded
def render(out: Path, form: str, root: Path, stack: str, **asked: Any) -> int:
    """Write the plan to a folder that Argo CD or Flux applies, with its evidence."""
    from planner.emit.render import render as render_plan

    found = allowed(root, stack, **asked)
    with working(f"Writing {out}"):
        guards = guard_files(found.plan, found.catalog)
        written = render_plan(found.plan, out, found.record, found.plan_json, guards)
    paths = [path.as_posix() for path in written]
    click.echo(json.dumps(paths, indent=2) if form == "json" else "\n".join(paths))
    return 0
