"""What commands share: errors as exit codes, the options of a stack, the way out."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from planner import api
from planner.errors import EXIT_FAULT, PlannerError
from planner.plan import Plan
from planner.running import StackRun, run_stack

root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Project folder; the current one by default.",
)
at_option = click.option("--at", help="Judge waivers at this time (ISO 8601); now by default.")
reviews_option = click.option("--reviews", help="The Git host's reviews of waivers, a JSON file.")


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn a planner error into its message on stderr and its exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            sys.exit(command(*args, **kwargs) or 0)
        except PlannerError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(error.exit_code)
        except OSError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(EXIT_FAULT)

    return run


def stack_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every command that plans a stack."""
    decorators = (
        click.option("--stack", required=True, help="Stack name, as in stacks/Pulumi.NAME.yaml."),
        click.option("--policy-url", help="Ask this OPA server instead of a local one."),
        at_option,
        reviews_option,
        click.option("--baseline", help="An approved plan.json to compare with."),
        click.option(
            "--operation",
            type=click.Choice(["preview", "update"]),
            default="preview",
            show_default=True,
            help="What follows: before an update, some warnings are denials.",
        ),
        root_option,
        click.option(
            "--trace", is_flag=True, help="Record every finding, not only those that decide."
        ),
    )
    return functools.reduce(lambda inner, decorate: decorate(inner), decorators, command)


def format_option(
    formats: Iterable[str] = ("text", "json"),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that says how to print a result."""
    return click.option(
        "--format", "form", type=click.Choice([*formats]), default="text", help="Output format."
    )


def planned(asked: dict[str, Any]) -> Plan:
    """Plan the stack that the common options name."""
    return api.plan_stack(asked.pop("root"), asked.pop("stack"), **asked)


def allowed(root: Path, stack: str, **asked: Any) -> StackRun:
    """Return the run of a plan that may proceed; whatever bars it today is raised."""
    run = run_stack(root, stack, **asked)
    if error := api.verdict_error(run.plan):
        raise error
    return run


def show(form: str, document: object, told: str) -> None:
    """Print the result in the format asked for."""
    click.echo(
        json.dumps(document, sort_keys=True, indent=2) + "\n" if form == "json" else told, nl=False
    )


def finish(result: Plan) -> int:
    """Return the exit code, after saying on stderr what stops the run."""
    return finish_with(api.verdict_error(result))


def finish_with(error: PlannerError | None) -> int:
    """Return the exit code of an error whose details the result has told already."""
    if error is None:
        return 0
    # The findings themselves stand in the result: stderr names what stops the run.
    told = [line for line in str(error).splitlines() if not line.startswith(" ")]
    click.echo("\n".join(["error: " + told[0], *told[1:]]), err=True)
    return error.exit_code
