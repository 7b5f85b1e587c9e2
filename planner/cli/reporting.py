"""The command that writes the HTML report, and the report for ``check --format html``."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from planner.cli.common import checked, examples, finish, guarded, panels, run, stack_options
from planner.cli.progress import working
from planner.files import write_whole
from planner.report.html.build import report_html, require_libraries

if TYPE_CHECKING:
    from planner.running import StackRun


@click.command(
    epilog=examples(
        "llm-capacity report --stack bank-au --out report.html",
        "llm-capacity report --stack bank-au --out report.html --open",
    )
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File to write; it is replaced as a whole.",
)
@click.option("--open", "opened", is_flag=True, help="Open it in the browser as well.")
@stack_options
@panels(Result=["--out", "--open"])
@guarded
def report(out: Path, opened: bool, root: Path, stack: str, **asked: Any) -> int:
    """Write the plan as one HTML file: verdict, bill, charts beside tables, evidence."""
    # Told before the plan is made, not after.
    require_libraries()
    found = run(root, stack, **asked)
    with working(f"Drawing {out}"):
        write_whole(out, html_of(found))
    click.echo(out.as_posix())
    if opened and not webbrowser.open(out.resolve().as_uri()):
        click.echo(f"no browser could be started: open {out} yourself", err=True)
    return finish(found.plan)


def checked_html(root: Path, stack: str, **asked: Any) -> int:
    """Print the report on stdout: what ``check --format html`` does."""
    require_libraries()
    found = run(root, stack, **asked)
    click.echo(html_of(found), nl=False)
    return finish(found.plan)


def html_of(found: StackRun) -> str:
    """Return the report of a run."""
    from planner.catalog.shapes import load_shape
    from planner.curves.all_of import curves_of
    from planner.report.numbers.explanations import explanations

    curves = curves_of(found.plan, found.stack, found.catalog, shape_of=load_shape)
    numbers = explanations(found.plan, found.stack, found.catalog)
    digest = None if found.record is None else str(found.record["plan_digest"])
    return report_html(checked(found), curves, found.catalog, numbers, evidence_digest=digest)
