"""Commands between a plan and its apply: write what was approved, hold today's run against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from planner import approval, faults
from planner.approval import Approval
from planner.cli.common import (
    allowed,
    examples,
    format_option,
    guarded,
    panels,
    show,
    stack_options,
)
from planner.errors import InputError
from planner.files import write_whole
from planner.run_inputs import approved_plan
from planner.running import OUT_FOLDER

_FILE = click.Path(path_type=Path, dir_okay=False)
_UPDATE_PLAN = click.option(
    "--update-plan", type=_FILE, help="A plan of `pulumi preview --save-plan`."
)
_STATE = click.option("--state", type=_FILE, help="The state, from `pulumi stack export`.")
_STATE_VERSION = click.option("--state-version", help="The backend's own number of the state.")


_HELD = ["--update-plan", "--state", "--state-version"]


@click.command(
    "approval",
    epilog=examples(
        "llm-capacity approval --stack bank-au",
        "llm-capacity approval --stack bank-au --update-plan update.json --state state.json",
    ),
)
@stack_options
@panels(Approval=_HELD)
@_UPDATE_PLAN
@_STATE
@_STATE_VERSION
@format_option()
@guarded
def write_approval(
    root: Path,
    stack: str,
    update_plan: Path | None,
    state: Path | None,
    state_version: str | None,
    form: str,
    **asked: Any,
) -> int:
    """Write out/STACK/approval.json: what is approved, by its digests.

    The digests of an update plan and of a state are noted where they are given; `verify` holds
    them against those of the apply.
    """
    run = allowed(root, stack, **asked)
    found = Approval(
        stack=stack,
        capacity_digest=run.plan.capacity_digest,
        evidence_digest=run.plan.evidence_digest,
        update_plan_digest=None
        if update_plan is None
        else approval.update_plan_digest(update_plan),
        state_digest=None if state is None else approval.state_digest(state),
        state_version=state_version,
    )
    path = root / OUT_FOLDER / stack / approval.FILE
    write_whole(path, found.to_json())
    told = f"{path.as_posix()}: capacity digest {found.capacity_digest}\n"
    show(form, found.model_dump(mode="json"), told)
    return 0


@click.command(
    epilog=examples(
        "llm-capacity verify --stack bank-au --digest 1f0c...",
        "llm-capacity verify --stack bank-au --digest 1f0c... --baseline approved/plan.json",
    )
)
@stack_options
@panels(Approval=["--digest", "--approval", *_HELD])
@click.option("--digest", required=True, help="The capacity digest that was approved.")
@_UPDATE_PLAN
@_STATE
@_STATE_VERSION
@click.option("--approval", "file", type=_FILE, help="The approval; out/STACK/approval.json.")
@format_option()
@guarded
def verify(
    root: Path,
    stack: str,
    digest: str,
    baseline: str | None,
    update_plan: Path | None,
    state: Path | None,
    state_version: str | None,
    file: Path | None,
    form: str,
    **asked: Any,
) -> int:
    """Plan again with today's policy; end with 7 where it is not what was approved.

    With --baseline each field that differs is named. The approval is read where an update plan,
    a state, its number or --approval is given.
    """
    text = None if baseline is None else approved_plan(root.resolve(), baseline)
    run = allowed(root, stack, baseline=baseline, **asked)
    now = run.plan.capacity_digest
    if now != digest:
        found = (
            ()
            if text is None
            else approval.differences(text, run.plan, token=digest, where=baseline or "")
        )
        more = "" if found else "Name the approved plan.json with --baseline to see what differs."
        raise approval.differs(stack, f": approved {digest}, now {now}", found, more)
    _hold_the_rest(root, stack, digest, update_plan, state, state_version, file)
    document = {"stack": stack, "capacity_digest": now, "verdict": run.plan.verdict}
    show(form, document, f"stack {stack} is as approved: {now}\n")
    return 0


def _hold_the_rest(
    root: Path,
    stack: str,
    digest: str,
    update_plan: Path | None,
    state: Path | None,
    state_version: str | None,
    file: Path | None,
) -> None:
    """Hold update plan and state against the approval; nothing is read where none is named."""
    if (update_plan, state, state_version, file) == (None, None, None, None):
        return
    path = file or root / OUT_FOLDER / stack / approval.FILE
    if not path.exists():
        what = "there is no approval to hold plan or state against"
        fix = "Write it with `llm-capacity approval`, or name it with --approval."
        raise InputError([faults.BAD_APPROVAL.at(path.as_posix(), what, fix)])
    approved = approval.read_approval(path)
    if (approved.stack, approved.capacity_digest) != (stack, digest):
        what = f"approves {approved.capacity_digest} of stack {approved.stack}"
        raise InputError(
            [faults.BAD_APPROVAL.at(path.as_posix(), what, "Name the approval of this digest.")]
        )
    found = approval.mismatches(
        approved,
        update_plan=None if update_plan is None else approval.update_plan_digest(update_plan),
        state=None if state is None else approval.state_digest(state),
        state_version=state_version,
    )
    if found:
        more = "Preview again, and approve the new plan."
        raise approval.differs(stack, "", found, more)
