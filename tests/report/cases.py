"""Checked plans of each verdict, for the tests of the formats."""

from __future__ import annotations

import datetime as dt
from typing import Any

from planner.policy.waivers import Rejected, VerifiedWaiver, WaiverBook
from planner.report.findings import Checked
from tests.report.builders import (
    WAIVER,
    budget_finding,
    checked,
    decision,
    make_finding,
    model_finding,
    outcome,
    waived_finding,
)


def allowed() -> Checked:
    return checked([decision(chosen=outcome())])


def warned() -> Checked:
    tier = make_finding(
        rule_id="TIER-001", title="Work is apart", severity="medium", verdict="warn",
        message="chat shares a deployment", waivable_by=["platform_owner"], evidence="/options/0/x",
    )  # fmt: skip
    return checked([decision(chosen=outcome([tier, waived_finding()]))], waivers=BOOK)


def denied() -> Checked:
    pinned = outcome([make_finding(), waived_finding()], lost="denied", pinned=True)
    other = outcome([model_finding(subject="chat/other")], lost="denied", id="chat/other")
    return checked(
        [
            decision(others=[pinned, other], explanation="the pinned option is denied by RES-001"),
            decision("batch", chosen=outcome(id="batch/payg", workload="batch")),
        ],
        [budget_finding()],
    )


def blocked() -> Checked:
    unknown = make_finding(verdict="unavailable", message="nobody names the countries")
    return checked([decision(others=[outcome([unknown], lost="unavailable")], status="blocked")])


def infeasible() -> Checked:
    why = "nothing feasible; nearest: <too small>"
    return checked([decision(status="infeasible", others=[outcome()], explanation=why)])


def verified(**changes: Any) -> VerifiedWaiver:
    fields: dict[str, Any] = {
        "id": "WVR-1",
        "rule": "MOD-001",
        "subject": "chat",
        "scope": {"stack": "prod", "model": "gpt-4.1-mini"},
        "requested_by": "support team",
        "approver": "head-of-ai-risk",
        "ticket": "RISK-1",
        "reason": "A reason that is long enough.",
        "granted": "2026-11-01",
        "expires": "2026-12-31",
        "file": "a.yaml",
        "digest": "sha256:0",
        "approval": {
            "role": "ai_risk",
            "verified_by": "signature",
            "at": dt.datetime(2026, 11, 1, tzinfo=dt.UTC),
        },
    }
    return VerifiedWaiver.model_validate(fields | changes)


BOOK = WaiverBook(
    waivers=(
        verified(id=WAIVER["id"]),
        verified(id="WVR-2", expires="2026-12-01"),
        verified(id="WVR-3", granted="2026-12-02"),
        verified(id="WVR-4", rule="BUD-001"),
        verified(id="WVR-5", scope={"stack": "dev", "model": "gpt-4.1-mini"}),
    ),
    rejected=(Rejected("broken.yaml", "too broad: '*' is a pattern"),),
)

CASES = {
    "allowed": allowed,
    "warned": warned,
    "denied": denied,
    "blocked": blocked,
    "infeasible": infeasible,
}
