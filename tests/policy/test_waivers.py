"""Waivers: what counts, when, and for what; and what never does."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options, gate_plan
from planner.policy.waiver_files import sign_waiver
from planner.policy.waiver_owners import waivable_rules, waiver_owners
from planner.policy.waivers import (
    WaiverBook,
    apply_waivers,
    expiring,
    liveness,
    never_waivable,
)
from tests.policy.waiving import (
    APPROVAL,
    APPROVERS,
    DAYS,
    RISK,
    SIGNED,
    book,
    load,
    plain,
    waiver,
    write,
)


def judged(engine: PolicyEngine, make: SimpleNamespace, waivers: WaiverBook, **option: Any) -> Any:
    options = [make.option(**{"model": "gpt-5.9", **option})]
    return gate_options(engine, make.question(options), options, waivers)[options[0].id]


def test_a_signed_waiver_makes_a_denial_a_warning_from_file_to_verdict(
    opa: str, make: SimpleNamespace, policies: Path, tmp_path: Path
) -> None:
    owners = policies / "llm_capacity/facts/waiver_owners/data.json"
    owners.write_text(json.dumps({"max_days": DAYS, "approvers": APPROVERS}))
    file = write(policies / "waivers")
    with PolicyEngine(opa=opa, policies=policies) as engine:
        rules, listed = waivable_rules(engine.bundle), waiver_owners(engine.bundle)

        def verdict(at: dt.datetime = make.now) -> Any:
            waivers = load(policies / "waivers", rules=rules, owners=listed, at=at)
            return judged(engine, make, waivers)

        before = verdict()
        assert before.verdict == "deny"
        sign_waiver(file, RISK.write(tmp_path / "key.pem"), SIGNED)
        signed = verdict()
        (found,) = (row for row in signed.findings if row.rule_id == "MOD-001")
        assert (signed.verdict, found.verdict, found.raw_verdict) == ("warn", "warn", "deny")
        assert {row for row in map(str, before.findings) if "MOD-001" not in row} == {
            row for row in map(str, signed.findings) if "MOD-001" not in row
        }
        assert found.waiver is not None
        assert found.waiver.model_dump() == {
            "id": "WVR-2026-014",
            "approver": "head-of-ai-risk",
            "approver_role": "ai_risk",
            "verified_by": "signature",
            "digest": load(policies / "waivers").waivers[0].digest,
            "ticket": "RISK-1203",
            "reason": "Approval is on the agenda of the committee.",
            "granted": "2026-11-20T00:00:00+00:00",
            "expires": "2026-12-31T00:00:00+00:00",
            "scope": {"stack": "prod", "model": "gpt-5.9"},
        }
        file.write_text(file.read_text().replace("2026-12-31", "2027-01-31"))
        assert verdict().verdict == "deny"


@pytest.mark.parametrize(
    "changes",
    [
        {"expires": "2026-12-01"},
        {"expires": "2026-12-01T12:00:00Z"},
        {"granted": "2026-12-02", "expires": "2027-01-31"},
        {"approval": {**APPROVAL, "at": dt.datetime(2026, 12, 1, 12, 0, 1, tzinfo=dt.UTC)}},
        {"approval": {**APPROVAL, "role": "budget_owner"}},
        {"subject": "other"},
        {"rule": "TPP-001"},
        {"scope": {"stack": "dev", "model": "gpt-5.9"}},
        {"scope": {"stack": "prod", "model": "gpt-5.8"}},
        {"scope": {"stack": "prod", "model": "gpt-5.9", "region": "eastus"}},
    ],
    ids=str,
)
def test_a_waiver_for_something_else_changes_nothing(
    engine: PolicyEngine, make: SimpleNamespace, changes: dict[str, Any]
) -> None:
    assert judged(engine, make, book()).verdict == "warn"
    assert judged(engine, make, book(**changes)) == judged(engine, make, WaiverBook())


def test_a_waiver_changes_its_own_finding_only(engine: PolicyEngine, make: SimpleNamespace) -> None:
    own = {"deployment_type": "GlobalStandard", "scope": "global", "jurisdictions": None}
    verdict = judged(engine, make, book(), **own)
    assert verdict.verdict == "deny"
    by_rule = {found.rule_id: found.verdict for found in verdict.findings}
    assert by_rule["MOD-001"] == "warn"
    assert by_rule["RES-001"] == "deny"


def test_what_is_unavailable_cannot_be_waived(engine: PolicyEngine, make: SimpleNamespace) -> None:
    scope = {"stack": "prod", "kind": "payg"}
    document = make.question([make.option()])
    document["options"][0]["model"] = None
    verdict = gate_options(engine, document, [make.option()], book(scope=scope))["chat/payg"]
    assert verdict.verdict == "unavailable"


def test_critical_residency_cannot_be_waived_whatever_the_data_say(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    document = make.question([make.option(jurisdictions=("US",))])
    found = [row for row in engine.ask(document).findings if row.rule_id == "RES-001"]
    assert [row.raw_verdict for row in found] == ["deny"]
    owned = [row.model_copy(update={"waivable_by": ("ai_risk",)}) for row in found]
    forged = book(rule="RES-001")
    facts = {"workload": "chat", "stack": "prod", "model": "gpt-5.9"}

    def after(rows: Any) -> list[str]:
        return [row.verdict for row in apply_waivers(rows, forged, make.now, lambda _: facts)]

    assert after(owned) == ["deny"]
    assert after(row.model_copy(update={"severity": "high"}) for row in owned) == ["warn"]
    assert after(row.model_copy(update={"severity": "high"}) for row in found) == ["deny"]


@pytest.mark.parametrize(
    ("rule", "severity", "never"),
    [("RES-001", "critical", True), ("RES-004", "high", False), ("TPP-001", "critical", False)],
)
def test_what_no_waiver_may_touch(rule: str, severity: Any, never: bool) -> None:
    assert never_waivable(rule, severity) is never


def test_plan_findings_are_waived_by_workload_and_by_stack(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    document = make.plan(make.decision(exit_plan=None), total_usd_per_month=6000.0)
    before = {found.rule_id: found.verdict for found in gate_plan(engine, document)}
    assert (before["BUD-001"], before["EXI-001"]) == ("deny", "deny")
    both = WaiverBook(
        waivers=(
            waiver(
                rule="EXI-001",
                scope={"stack": "prod", "provider": "azure"},
                approval={**APPROVAL, "role": "compliance"},
            ),
            waiver(
                id="WVR-2",
                rule="BUD-001",
                subject="stack",
                scope={"stack": "prod"},
                approval={**APPROVAL, "role": "budget_owner"},
            ),
        )
    )
    after = {found.rule_id: found.verdict for found in gate_plan(engine, document, both)}
    assert after == before | {"BUD-001": "warn", "EXI-001": "warn"}


@pytest.mark.parametrize(
    ("at", "state"),
    [
        ("2026-11-20T00:00:00+00:00", "not yet granted"),
        ("2026-11-20T09:59:59.999999+00:00", "not yet granted"),
        ("2026-11-20T10:00:00+00:00", "live"),
        ("2026-11-20T20:59:59+11:00", "not yet granted"),
        ("2026-12-30T23:59:59.999999+00:00", "live"),
        ("2026-12-31T00:00:00+00:00", "expired"),
        ("2026-12-31T09:00:00+10:00", "live"),
    ],
)
def test_liveness(at: str, state: str) -> None:
    assert liveness(waiver(), dt.datetime.fromisoformat(at)) == state


def test_a_waiver_approved_in_advance_counts_from_its_grant() -> None:
    later = waiver(granted="2026-11-25T06:00:00Z")
    begins = dt.datetime(2026, 11, 25, 6, tzinfo=dt.UTC)
    assert liveness(later, begins - dt.timedelta(microseconds=1)) == "not yet granted"
    assert liveness(later, begins) == "live"


def test_a_waiver_that_expires_before_its_approval_is_never_live() -> None:
    brief = waiver(expires="2026-11-20T09:00:00Z")
    for hours in range(8, 12):
        assert liveness(brief, SIGNED.replace(hour=hours)) != "live"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"expires": "whenever"}, "expires"),
        ({"expires": "2027-02-30"}, "expires"),
        ({"expires": "2026-12-31T12:00:00"}, "needs its zone"),
        ({"expires": "9999-12-31T23:00:00-10:00"}, "out of range"),
        ({"expires": 20261231}, "write a date"),
        ({"expires": None}, "write a date"),
        ({"expires": ...}, "expires: Field required"),
        ({"granted": ...}, "granted: Field required"),
        ({"requested_by": ...}, "requested_by: Field required"),
        ({"approver": ...}, "approver: Field required"),
        ({"ticket": ""}, "ticket"),
        ({"reason": "because"}, "reason"),
        ({"reason": "long enough, but \u202eturned"}, "cannot be printed"),
        ({"subject": "chat\u001b[2J"}, "cannot be printed"),
        ({"extra": 1}, "extra"),
        ({"approval": {"role": "ai_risk"}}, "approval: Extra inputs"),
        ({"id": "x"}, "id"),
        ({"rule": "*"}, "rule"),
        ({"subject": "*"}, "too broad"),
        ({"subject": "all"}, "too broad"),
        ({"scope": {"stack": "prod"}}, "too broad"),
        ({"scope": {"model": "m"}}, "too broad"),
        ({"scope": {"model": "m", "kind": "payg"}}, "too broad"),
        ({"scope": {"stack": "*", "model": "m"}}, "too broad"),
        ({"scope": {"stack": "prod", "model": "gpt-*"}}, "too broad"),
        ({"scope": {"stack": "prod", "moodel": "m"}}, "scope names moodel"),
        ({"scope": ...}, "scope: Field required"),
        ({"granted": "2026-12-31"}, "expire after it is granted"),
        ({"granted": "2027-01-01"}, "expire after it is granted"),
    ],
    ids=str,
)
def test_files_that_are_malformed_or_too_broad_are_reported(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    write(tmp_path, "bad.yaml", **changes)
    found = load(tmp_path)
    assert found.waivers == ()
    assert [row.file for row in found.rejected] == ["bad.yaml"]
    assert told in found.rejected[0].reason


@pytest.mark.parametrize(
    "content", ["", "- a\n", "{", "id: 1\nid: 2\n", "a: &x 1\nb: !!python/object:os.system {}\n"]
)
def test_files_that_are_no_waiver(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.yaml").write_text(content)
    found = load(tmp_path)
    assert found.waivers == ()
    assert len(found.rejected) == 1


def test_a_stack_waiver_needs_no_more_than_the_stack() -> None:
    assert plain(subject="stack", scope={"stack": "prod"}).scope == {"stack": "prod"}
    with pytest.raises(ValidationError, match="too broad"):
        plain(subject="stack", scope={"kind": "payg"})


def test_no_folder_no_waivers(tmp_path: Path) -> None:
    found = load(tmp_path / "none")
    assert (found.waivers, found.rejected, found.approvers) == ((), (), 3)


def test_other_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("text")
    found = load(tmp_path)
    assert (found.waivers, found.rejected, found.approvers) == ((), (), 3)


@pytest.mark.parametrize(
    ("at", "soon"),
    [
        ("2026-11-30T23:59:59Z", False),
        ("2026-12-01T00:00:00Z", True),
        ("2026-12-30T23:59:59Z", True),
        ("2026-12-31T00:00:00Z", False),
    ],
)
def test_expiring_within_thirty_days(at: str, soon: bool) -> None:
    found = expiring(book(), dt.datetime.fromisoformat(at))
    assert [row.id for row in found] == ["WVR-2026-014"] * soon
