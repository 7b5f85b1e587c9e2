"""Commands of a first hour: start a project, check its files, check the machine."""

from __future__ import annotations

import datetime as dt
import os
import sys
from pathlib import Path
from typing import Any

import rich_click as click

from planner.cli.common import examples, format_option, guarded, panels, root_option, show
from planner.cli.completing import complete_stack
from planner.cli.printing import told_to
from planner.cli.questions import DEMAND, LENGTHS, Numbers, asked_for
from planner.errors import EXIT_BAD_INPUT


@click.command(
    epilog=examples(
        "llm-capacity init",
        "llm-capacity init --root my-capacity --stack dev --workload assistant --cloud azure",
        "llm-capacity init --stack prod --workload chat --classification confidential"
        " --jurisdiction AU --region australiaeast"
        " --tokens-per-minute 150000,220000,340000,390000,400000",
    )
)
@panels(
    Project=["--root", "--stack", "--as-of"],
    Workload=[
        "--workload",
        "--owner",
        "--tier",
        "--classification",
        "--jurisdiction",
        "--data-asset",
        "--signed-off-by",
        "--model",
    ],
    Demand=[
        "--tokens-per-minute",
        "--prompt-tokens",
        "--output-tokens",
        "--max-tokens",
        "--active-hours",
    ],
    Account=["--cloud", "--account", "--region", "--resource-group"],
)
@root_option
@click.option("--stack", help="Name of the stack to write.")
@click.option("--workload", help="Name of its first workload.")
@click.option("--owner", help="The team that owns the workload.")
@click.option(
    "--tier", type=click.Choice(["interactive", "batch"]), help="Whether somebody waits for it."
)
@click.option(
    "--classification",
    type=click.Choice(["public", "internal", "confidential", "restricted"]),
    help="Of the data in its prompts.",
)
@click.option(
    "--jurisdiction",
    "jurisdictions",
    multiple=True,
    help="Country code or group where prompts may be processed; may be repeated.",
)
@click.option("--data-asset", help="What the classification rests on.")
@click.option("--signed-off-by", help="Who has signed for the classification.")
@click.option(
    "--model",
    "models",
    multiple=True,
    help="A model that is good enough, in order of preference; may be repeated.",
)
@click.option(
    "--tokens-per-minute",
    "demand",
    type=Numbers(DEMAND),
    help="Input + output: p10,p50,p90,p99,peak.",
)
@click.option(
    "--prompt-tokens", "prompts", type=Numbers(LENGTHS), help="Of a request: mean,p50,p95."
)
@click.option(
    "--output-tokens", "outputs", type=Numbers(LENGTHS), help="Of a request: mean,p50,p95."
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Longest output of a request.")
@click.option(
    "--active-hours", type=click.FloatRange(0.01, 168), help="Hours a week with demand; 168."
)
@click.option("--cloud", type=click.Choice(["azure", "aws", "gcp"]), help="Of the first account.")
@click.option("--account", help="Name of the account: an Azure resource, a project.")
@click.option("--region", help="Region of the account.")
@click.option("--resource-group", help="azure: the account's resource group.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day that prices count from; today's date by default.",
)
@click.option("--no-input", is_flag=True, help="Ask nothing: take the defaults.")
@format_option()
@guarded
def init(root: Path, as_of: dt.datetime | None, no_input: bool, form: str, **given: Any) -> int:
    """Write a commented project for a first workload, from questions or options."""
    from planner.catalog.loader import load_catalog
    from planner.project import stack_names
    from planner.scaffold.writing import refuse_unusable, start

    day = (as_of or dt.datetime.now(dt.UTC)).date()
    ask = not no_input and sys.stdin.isatty() and sys.stderr.isatty()
    catalog = load_catalog()
    answers = asked_for(
        given,
        day,
        ask=ask,
        check=lambda found: refuse_unusable(found, catalog),
        taken=stack_names(root),
    )
    written = [path.as_posix() for path in start(root, answers, catalog)]
    show(form, {"stack": answers.stack, "written": written}, "\n".join([*written, ""]))
    told_to(
        f'next: eval "$(llm-capacity env)", then llm-capacity plan --stack {answers.stack}\n',
        stderr=True,
    )
    return 0


@click.command(
    epilog=examples("llm-capacity validate", "llm-capacity validate --stack dev --format json")
)
@click.option(
    "--stack",
    "stacks",
    multiple=True,
    shell_complete=complete_stack,
    help="A stack to read; every stack of the project by default. May be repeated.",
)
@root_option
@format_option()
@guarded
def validate(stacks: tuple[str, ...], root: Path, form: str) -> int:
    """Read the declared files, without asking the policy: every problem at once."""
    from planner.catalog.loader import load_catalog
    from planner.health.validating import document, problem_count, told, validate_stacks

    found = validate_stacks(root, stacks, load_catalog())
    show(form, document(found), told(found))
    if count := problem_count(found):
        told_to(f"error: {count} problem{'' if count == 1 else 's'} in the input\n", stderr=True)
        return EXIT_BAD_INPUT
    return 0


@click.command(epilog=examples("llm-capacity doctor", "llm-capacity doctor --format json"))
@root_option
@format_option()
@guarded
def doctor(root: Path, form: str) -> int:
    """Tell what is installed, in which version, and how to get what is missing."""
    from planner.health.checks import document, healthy, told
    from planner.health.packages import extra_checks, python_checks
    from planner.health.tools import is_clone, tool_checks

    clone = is_clone()
    project = root.resolve()
    checks = [
        *python_checks(),
        *tool_checks(project, os.environ, clone=clone),
        *extra_checks(clone=clone, environ=os.environ),
    ]
    show(form, document(checks), told(checks))
    if not healthy(checks):
        told_to("error: something that is needed is missing\n", stderr=True)
        return EXIT_BAD_INPUT
    return 0
