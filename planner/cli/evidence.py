"""Commands of whoever signs, reviews or audits: waivers, replays, states."""

from __future__ import annotations

from pathlib import Path

import rich_click as click
from click.core import ParameterSource

from planner import api, faults
from planner.cli.common import (
    at_option,
    examples,
    finish_with,
    format_option,
    guarded,
    reviews_option,
    root_option,
    show,
)
from planner.cli.progress import working
from planner.errors import InputError
from planner.evidence.replay import replay as replay_record
from planner.pack import audit_report
from planner.pack.audit import audit_state
from planner.policy.waiver_files import sign_waiver
from planner.report import replay as replay_report
from planner.report import waivers as waivers_report
from planner.run_inputs import moment_of


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "llm-capacity waivers",
        "llm-capacity waivers --at 2026-12-31T00:00:00Z --format json",
        "llm-capacity waivers sign policies/waivers/capacity.yaml --key approver.pem",
    ),
)
@root_option
@at_option
@reviews_option
@format_option()
@click.pass_context
@guarded
def waivers(
    context: click.Context, root: Path, at: str | None, reviews: str | None, form: str
) -> int:
    """List the project's waivers: which count, which expire soon, which do not and why."""
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return 0
    moment = moment_of(at)
    book = api.read_waivers(root, at=moment, reviews=reviews)
    show(
        form,
        waivers_report.waivers_document(book, moment),
        waivers_report.waivers_text(book, moment),
    )
    return 0


def _refuse_options(context: click.Context) -> None:
    """Refuse options of the list before a subcommand: nothing would read them."""
    command = context.invoked_subcommand
    given = [
        faults.OPTION_MISPLACED.at(
            parameter.opts[0],
            f"stands before {command}, which does not read it",
            f"Give {command} its own options, after its name.",
        )
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]
    if given:
        raise InputError(given)


@waivers.command(
    epilog=examples("llm-capacity waivers sign policies/waivers/capacity.yaml --key approver.pem")
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The approver's private key (PEM, ed25519).",
)
@click.option("--at", help="When it is signed (ISO 8601); now by default.")
@guarded
def sign(file: Path, key: Path, at: str | None) -> int:
    """Sign the waiver FILE as its approver: writes FILE.dsse.json beside it."""
    click.echo(sign_waiver(file, key, moment_of(at)).as_posix())
    return 0


@click.command(
    epilog=examples(
        "llm-capacity replay out/bank-au",
        "llm-capacity replay out/bank-au/policy-record.jsonl --key signer.pem",
    )
)
@click.argument("record")
@click.option(
    "--archive",
    type=click.Path(path_type=Path),
    help="The record's archive; looked for beside the record by default.",
)
@click.option("--decision-id", help="Which record of a file with several lines; the last one.")
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Public key (PEM) that the record's attestation must verify with.",
)
@format_option()
@guarded
def replay(
    record: str, archive: Path | None, decision_id: str | None, key: Path | None, form: str
) -> int:
    """Ask RECORD's questions again with its own policies: does the decision stand?

    Ends with 7 when it does not, or when the evidence was changed.
    """
    with working(f"Asking {record} again"):
        found = replay_record(record, archive=archive, decision_id=decision_id, public_key=key)
    show(form, replay_report.replay_document(found), replay_report.replay_text(found))
    return finish_with(replay_report.replay_error(found))


@click.command(
    epilog=examples(
        "pulumi stack export --stack bank-au --file state.json",
        "llm-capacity audit state.json",
    )
)
@click.argument("state", type=click.Path(path_type=Path, dir_okay=False))
@root_option
@at_option
@format_option()
@guarded
def audit(state: Path, root: Path, at: str | None, form: str) -> int:
    """Hold STATE, a file of `pulumi stack export`, against the plan of its stack.

    Ends with 5 where the state has what the plan does not.
    """
    with working(f"Holding {state} against the plan"):
        found = audit_state(state, root, at=moment_of(at))
    show(form, audit_report.audit_document(found), audit_report.audit_text(found))
    return finish_with(audit_report.audit_error(found))
