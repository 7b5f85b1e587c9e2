"""A real change only of the plan that was approved."""

from __future__ import annotations

from planner import faults
from planner.emit.refusal import refuse
from planner.plan import Plan

APPROVED_KEY = "llm-capacity:approved-digest"


def require_approved(plan: Plan, approved: str | None, *, required: bool) -> None:
    """Refuse a real run of another plan than the approved one; say so at preview.

    ``approved`` is the capacity digest that the stack's configuration names; None asks for
    nothing, unless the stack's settings make an approval ``required``. Raises RunError before
    anything is registered.
    """
    if approved == plan.capacity_digest:
        return
    if approved is None:
        if required:
            what = (
                "platform.yaml requires an approval (policy.approval), and "
                f"{APPROVED_KEY} names none"
            )
            fix = (
                "Once the plan is approved, name it with: "
                f"pulumi config set {APPROVED_KEY} {plan.capacity_digest}"
            )
            refuse(faults.NOT_APPROVED.at(f"stack {plan.stack}", what, fix))
        return
    what = (
        f"this is not the plan that was approved: its capacity digest is {plan.capacity_digest}, "
        f"{APPROVED_KEY} names {approved or 'none'}"
    )
    fix = (
        f"See what differs with: llm-capacity verify --stack {plan.stack} --digest DIGEST "
        "--baseline APPROVED_PLAN.json. Once it is approved, name it with: "
        f"pulumi config set {APPROVED_KEY} {plan.capacity_digest}"
    )
    refuse(faults.PLAN_DIFFERS.at(f"stack {plan.stack}", what, fix))
