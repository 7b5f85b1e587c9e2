"""The report of waivers: states, what expires soon, what was rejected and why."""

from __future__ import annotations

import json

from planner.policy.waivers import Rejected, WaiverBook
from planner.report.waivers import waivers_document, waivers_text
from tests.policy.waiving import APPROVAL, NOW, waiver

BOOK = WaiverBook(
    waivers=(
        waiver(id="WVR-1", expires="2026-12-01"),
        waiver(id="WVR-2"),
        waiver(id="WVR-3", granted="2026-12-05", expires="2027-01-31"),
        waiver(
            id="WVR-4",
            expires="2027-02-01",
            approval={**APPROVAL, "verified_by": "review"},
            reason="Approval is\non the agenda.",
        ),
    ),
    rejected=(Rejected("bad.yaml", "too broad"),),
    approvers=2,
)


def test_text() -> None:
    assert waivers_text(BOOK, NOW) == (
        "Waivers at 2026-12-01T12:00:00Z: 2 live, 1 of them to expire within 30 days, "
        "1 not yet granted, 1 expired, 1 rejected\n"
        "  WVR-1 MOD-001 chat (model=gpt-5.9, stack=prod): expired 2026-12-01T00:00:00Z\n"
        "    asked by chat team lead; approved by head-of-ai-risk as ai_risk, signed "
        "2026-11-20T10:00:00Z; RISK-1203: Approval is on the agenda of the committee.\n"
        "  WVR-2 MOD-001 chat (model=gpt-5.9, stack=prod): EXPIRES SOON: live until "
        "2026-12-31T00:00:00Z, 29 whole days left\n"
        "    asked by chat team lead; approved by head-of-ai-risk as ai_risk, signed "
        "2026-11-20T10:00:00Z; RISK-1203: Approval is on the agenda of the committee.\n"
        "  WVR-3 MOD-001 chat (model=gpt-5.9, stack=prod): not yet granted, counts from "
        "2026-12-05T00:00:00Z\n"
        "    asked by chat team lead; approved by head-of-ai-risk as ai_risk, signed "
        "2026-11-20T10:00:00Z; RISK-1203: Approval is on the agenda of the committee.\n"
        "  WVR-4 MOD-001 chat (model=gpt-5.9, stack=prod): live until 2027-02-01T00:00:00Z, "
        "61 whole days left\n"
        "    asked by chat team lead; approved by head-of-ai-risk as ai_risk, reviewed "
        "2026-11-20T10:00:00Z; RISK-1203: Approval is on the agenda.\n"
        "\n"
        "Rejected, so they waive nothing:\n"
        "  bad.yaml: too broad\n"
    )


def test_document() -> None:
    document = json.loads(json.dumps(waivers_document(BOOK, NOW)))
    states = {row["id"]: row["state"] for row in document["waivers"]}
    assert states == {
        "WVR-1": "expired", "WVR-2": "live", "WVR-3": "not yet granted", "WVR-4": "live",
    }  # fmt: skip
    assert document["expiring_30d"] == ["WVR-2"]
    assert document["rejected"] == [{"file": "bad.yaml", "reason": "too broad"}]
    assert (document["at"], document["approvers"]) == ("2026-12-01T12:00:00Z", 2)
    assert document["notes"] == []
    assert document["waivers"][1] == {
        "id": "WVR-2",
        "state": "live",
        "rule": "MOD-001",
        "subject": "chat",
        "scope": {"model": "gpt-5.9", "stack": "prod"},
        "requested_by": "chat team lead",
        "approver": "head-of-ai-risk",
        "approver_role": "ai_risk",
        "verified_by": "signature",
        "approved_at": "2026-11-20T10:00:00Z",
        "ticket": "RISK-1203",
        "reason": "Approval is on the agenda of the committee.",
        "granted": "2026-11-20T00:00:00Z",
        "expires": "2026-12-31T00:00:00Z",
        "file": "w.yaml",
        "digest": f"sha256:{'0' * 64}",
    }


def test_without_approvers_it_says_that_nothing_can_count() -> None:
    empty = WaiverBook()
    text = waivers_text(empty, NOW)
    assert text.startswith(
        "Waivers at 2026-12-01T12:00:00Z: 0 live, 0 not yet granted, 0 expired, 0 rejected\n"
    )
    assert "No approver is named: no waiver can be verified, and none applies" in text
    (note,) = waivers_document(empty, NOW)["notes"]
    assert note in text
