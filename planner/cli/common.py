"""What commands share: errors as exit codes, the options of a stack, the way out."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from planner.cli.completing import complete_stack
from planner.cli.printing import told_to
from planner.cli.progress import working
from planner.errors import PlannerError
from planner.faults.system import refused

if TYPE_CHECKING:
    # Planning takes a second to import: a command does it when it plans.
    from planner.plan import Plan
    from planner.report.findings import Checked
    from planner.running import StackRun

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PLANNING_STEPS = 4
"""What :func:`planner.running.run_stack` tells of: reading, asking, deciding, writing."""

root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Project folder; the current one by default.",
)
at_option = click.option("--at", help="Judge waivers at this time (ISO 8601); now by default.")
reviews_option = click.option("--reviews", help="The Git host's reviews of waivers, a JSON file.")


def examples(*lines: str) -> str:
    """Return the epilog of a command: command lines to copy, one to a line."""
    return "\n\n".join(["Examples:", *(f"$ {line}" for line in lines)])


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn a planner error into its message on stderr and its exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            # A group that returns goes on to its subcommand: only a code ends here.
            if code := command(*args, **kwargs):
                sys.exit(code)
        except PlannerError as error:
            told_to(f"error: {error}\n", stderr=True)
            sys.exit(error.exit_code)
        except BrokenPipeError:
            # Whoever read the result has gone: click ends quietly.
            raise
        except OSError as error:
            refusal = refused(error)
            told_to(f"error: {refusal}\n", stderr=True)
            sys.exit(refusal.exit_code)

    return run


def panels(**grouped: Iterable[str]) -> Decorator:
    """Show options under headings: ``panels(Input=["--root"])``; ``_`` reads as a space."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name, options in reversed(grouped.items()):
            heading = name.replace("_", " ")
            headed: Decorator = click.option_panel(heading, options=list(options))
            command = headed(command)
        return command

    return decorate


def stack_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every command that plans a stack."""
    decorators: tuple[Decorator, ...] = (
        click.option(
            "--stack",
            required=True,
            shell_complete=complete_stack,
            help="Stack name, as in stacks/Pulumi.NAME.yaml.",
        ),
        click.option("--policy-url", help="Ask this OPA server instead of a local one."),
        at_option,
        reviews_option,
        click.option(
            "--baseline",
            help="An approved plan.json, from the project folder: giving capacity back against it "
            "is warned of, a looser classification or residency is denied.",
        ),
        click.option(
            "--operation",
            type=click.Choice(["preview", "update"]),
            default="preview",
            show_default=True,
            help="What follows: before an update, what only warns at a preview (an image without "
            "a digest, an unsigned commitment) is denied.",
        ),
        root_option,
        click.option(
            "--trace", is_flag=True, help="Record every finding, not only those that decide."
        ),
        panels(
            Stack=["--stack", "--root", "--baseline", "--operation"],
            Policy=["--policy-url", "--at", "--reviews", "--trace"],
        ),
    )
    return functools.reduce(lambda inner, decorate: decorate(inner), decorators, command)


def format_option(formats: Iterable[str] = ("text", "json")) -> Decorator:
    """Return the option that says how to print a result."""
    return click.option(
        "--format",
        "form",
        type=click.Choice([*formats]),
        default="text",
        show_default=True,
        help="Output format.",
    )


def planned(asked: dict[str, Any]) -> Plan:
    """Plan the stack that the common options name."""
    return run(asked.pop("root"), asked.pop("stack"), **asked).plan


def run(root: Path, stack: str, **asked: Any) -> StackRun:
    """Plan a stack, with progress on a terminal; whatever the verdict."""
    from planner.running import run_stack

    with working(f"Planning {stack}", total=PLANNING_STEPS) as step:
        return run_stack(root, stack, step=step, **asked)


def allowed(root: Path, stack: str, **asked: Any) -> StackRun:
    """Return the run of a plan that may proceed; whatever bars it today is raised."""
    from planner import api

    found = run(root, stack, **asked)
    if error := api.verdict_error(found.plan):
        raise error
    return found


def checked(found: StackRun) -> Checked:
    """Return a run's plan with what the reports of its findings need."""
    from planner.report.findings import Checked, rule_rows

    return Checked(
        found.plan,
        at=found.evaluated_at,
        files=found.stack.files,
        waivers=found.waivers,
        rules=rule_rows(found.manifest),
    )


def show(form: str, document: object, told: str) -> None:
    """Print the result in the format asked for."""
    if form == "json":
        click.echo(json.dumps(document, sort_keys=True, indent=2))
    else:
        told_to(told)


def finish(result: Plan) -> int:
    """Return the exit code, after saying on stderr what stops the run."""
    from planner import api

    return finish_with(api.verdict_error(result))


def finish_with(error: PlannerError | None) -> int:
    """Return the exit code of an error whose details the result has told already."""
    if error is None:
        return 0
    # The findings themselves stand in the result: stderr names what stops the run.
    told = [line for line in str(error).splitlines() if not line.startswith(" ")]
    told_to("\n".join(["error: " + told[0], *told[1:], ""]), stderr=True)
    return error.exit_code
