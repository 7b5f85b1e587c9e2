"""Commands that hold a plan against another: the difference, and a pull request's comment."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import rich_click as click

from planner import api
from planner.against import Baseline, baseline_of
from planner.cli.common import (
    Decorator,
    checked,
    examples,
    finish_with,
    format_option,
    guarded,
    run,
    stack_options,
)
from planner.cli.printing import told_to
from planner.comparing import PlanDiff, compare
from planner.comparing.news import DEFAULT_COST_FLOOR_USD, Threshold, is_news, passed, threshold_of
from planner.errors import PlannerError
from planner.evidence.origin import origin_of
from planner.git_tree import changed_since_commit, head_of
from planner.plan import Plan
from planner.report.comparing import FORMATS, Commented, comment, failure_comment
from planner.running import StackRun, run_stack

_AGAINST = click.option(
    "--against",
    required=True,
    help="What to compare with: a plan.json or an exported state, a Git revision, or `deployed`.",
)


def _threshold_options(command: Any) -> Any:
    amount = "this much a month (USD, or a share such as 10%)"
    increase: Decorator = click.option(
        "--fail-on-increase",
        metavar="AMOUNT",
        help=f"End with 7 if the cost rises by more than {amount}.",
    )
    decrease: Decorator = click.option(
        "--fail-on-decrease",
        metavar="AMOUNT",
        help=f"End with 7 if the cost falls by more than {amount}.",
    )
    return increase(decrease(command))


@click.command(
    epilog=examples(
        "llm-capacity diff --stack bank-au --against main",
        "llm-capacity diff --stack bank-au --against approved/plan.json --format json",
        "llm-capacity diff --stack bank-au --against deployed --fail-on-increase 10%",
    )
)
@stack_options
@_AGAINST
@_threshold_options
@format_option(FORMATS)
@guarded
def diff(
    root: Path,
    stack: str,
    against: str,
    fail_on_increase: str | None,
    fail_on_decrease: str | None,
    form: str,
    **asked: Any,
) -> int:
    """Print how this plan differs from a baseline: cost, capacity, residency, and why."""
    limits = _limits(fail_on_increase, fail_on_decrease)
    found, _, new = _compared(root, stack, against, asked)
    result = FORMATS[form](found)
    if form == "text":
        told_to(result)
    else:
        click.echo(result, nl=False)
    return finish_with(_verdict(found, new.plan, limits))


@click.command(
    "comment",
    epilog=examples(
        "llm-capacity comment --stack bank-au --against origin/main > comment.md",
        "llm-capacity comment --stack bank-au --against origin/main --cost-floor 500 > comment.md",
    ),
)
@stack_options
@_AGAINST
@click.option(
    "--cost-floor",
    type=click.FloatRange(min=0),
    default=DEFAULT_COST_FLOOR_USD,
    show_default=True,
    metavar="USD",
    help="A change of cost alone is no news up to this much a month.",
)
@click.option("--always", is_flag=True, help="Print the comment even where there is no news.")
@_threshold_options
@guarded
def write_comment(
    root: Path,
    stack: str,
    against: str,
    cost_floor: float,
    always: bool,
    fail_on_increase: str | None,
    fail_on_decrease: str | None,
    **asked: Any,
) -> int:
    """Print a pull request's comment as Markdown; nothing where nothing changed."""
    limits = _limits(fail_on_increase, fail_on_decrease)
    command = _command(stack, against, asked)
    try:
        found, _, new = _compared(root, stack, against, asked)
    except PlannerError as error:
        # A comment that stays as it was would be read as the verdict on what is new.
        click.echo(failure_comment(stack, error, command), nl=False)
        raise
    if always or is_news(found, cost_floor):
        commit = origin_of(os.environ).commit
        given = Commented(
            diff=found,
            checked=checked(new),
            command=command,
            commit=commit or head_of(root),
            edited=commit is None and changed_since_commit(root),
        )
        click.echo(comment(given), nl=False)
    return finish_with(_verdict(found, new.plan, limits))


def _compared(
    root: Path, stack: str, against: str, asked: dict[str, Any]
) -> tuple[PlanDiff, Baseline, StackRun]:
    """Plan the stack as it is declared now, and hold it against what ``against`` names."""
    new = run(root, stack, **asked)

    def plan_at(folder: Path) -> Plan:
        # The same moment, question and reviews as now: only what is declared is older.
        same = {key: asked[key] for key in ("policy_url", "at", "operation")}
        reviews = asked["reviews"]
        if reviews is not None:
            same["reviews"] = str(root.resolve() / reviews)
        return run_stack(folder, stack, write=False, **same).plan

    old = baseline_of(root, stack, against, plan_at)
    return compare(old.snapshot, new.plan, old_label=old.label), old, new


def _limits(increase: str | None, decrease: str | None) -> list[Threshold]:
    """Return the thresholds that were asked for; they are read before anything is planned."""
    found = []
    if increase is not None:
        found.append(threshold_of("--fail-on-increase", increase, "increase"))
    if decrease is not None:
        found.append(threshold_of("--fail-on-decrease", decrease, "decrease"))
    return found


def _verdict(found: PlanDiff, plan: Plan, limits: list[Threshold]) -> PlannerError | None:
    """Return what stops the run: the policy's verdict before any threshold."""
    errors = [api.verdict_error(plan), *(passed(found, limit) for limit in limits)]
    return next((error for error in errors if error is not None), None)


def _command(stack: str, against: str, asked: dict[str, Any]) -> str:
    """Return the line that shows the difference again."""
    words = ["llm-capacity", "diff", "--stack", stack, "--against", against]
    if asked["operation"] != "preview":
        words += ["--operation", asked["operation"]]
    for name in ("at", "baseline", "reviews"):
        if asked[name] is not None:
            words += [f"--{name}", asked[name]]
    return shlex.join(words).replace("`", "")
