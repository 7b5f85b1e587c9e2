"""The record of a run: complete, derived from its content, and free of secrets."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.evidence.origin import origin_of
from planner.policy.document import digest
from planner.policy.engine import PolicyEngine, PolicyFacts
from planner.policy.gate import gate_options, gate_plan
from planner.policy.record import Digests, Origin, policy_record, told_findings
from planner.policy.waivers import Rejected, VerifiedWaiver, WaiverBook

FACTS = PolicyFacts("opa, central", "unknown", None, 11)


def waiver(**changes: Any) -> VerifiedWaiver:
    fields = {
        "id": "WVR-1",
        "rule": "EXI-001",
        "subject": "chat",
        "scope": {"stack": "prod", "provider": "azure"},
        "requested_by": "chat team",
        "approver": "head-of-compliance",
        "approval": {
            "role": "compliance",
            "verified_by": "review",
            "at": dt.datetime(2026, 11, 1, tzinfo=dt.UTC),
        },
        "file": "w.yaml",
        "digest": f"sha256:{'0' * 64}",
        "ticket": "RISK-1",
        "reason": "The first exit test is planned.",
        "granted": "2026-11-01",
        "expires": "2026-12-20",
    }
    return VerifiedWaiver.model_validate({**fields, **changes})


@pytest.fixture
def record(engine: PolicyEngine, make: SimpleNamespace) -> dict[str, Any]:
    document = make.plan(make.decision(exit_plan=None), total_usd_per_month=9000.0)
    waivers = WaiverBook(
        waivers=(waiver(), waiver(id="WVR-0", expires="2026-11-15")),
        rejected=(Rejected("bad.yaml", "too broad"),),
    )
    return policy_record(
        stack="prod",
        evaluated_at=make.now,
        origin=Origin("pipeline", "abc", "https://ci.example/runs/42", "42"),
        documents=[document],
        facts=engine.facts,
        data_digest=digest(engine.bundle.data),
        verdict="deny",
        findings=gate_plan(engine, document, waivers),
        waivers=waivers,
        digests=Digests("e" * 64, "c" * 64, "d" * 64, "a" * 64, "sha256:" + "1" * 64),
    )


def test_what_it_holds(record: dict[str, Any], engine: PolicyEngine) -> None:
    assert list(record)[:4] == ["schema_version", "evaluated_at", "actor", "commit"]
    assert record["evaluated_at"] == "2026-12-01T12:00:00Z"
    assert (record["commit"], record["run"]) == ("abc", "42")
    assert record["pipeline_url"] == "https://ci.example/runs/42"
    assert (record["operation"], record["regimes"]) == ("preview", [])
    assert record["plan_digest"] == "e" * 64
    assert record["capacity_digest"] == "c" * 64
    assert record["declared_digest"] == "d" * 64
    assert record["catalog_digest"] == "a" * 64
    assert record["archive_digest"] == "sha256:" + "1" * 64
    assert record["counts"] == {
        "verdicts": {"deny": 1, "warn": 1},
        "raw_verdicts": {"deny": 2},
        "rules": {"BUD-001": 1, "EXI-001": 1},
    }
    assert record["rules_disabled"] == []
    assert [row["rule_id"] for row in record["findings"]] == ["BUD-001", "EXI-001"]


def test_what_it_says_of_the_policy(record: dict[str, Any], engine: PolicyEngine) -> None:
    assert record["policy"] == {
        "engine": "opa, local",
        "engine_version": engine.facts.engine_version,
        "bundle_digest": engine.bundle.digest,
        "revision": engine.facts.revision,
        "signed": False,
        "data_digest": digest(engine.bundle.data),
        "rule_count": len(engine.bundle.stages),
    }


def test_what_it_says_of_waivers(record: dict[str, Any]) -> None:
    (used,) = record["waivers_used"]
    assert (used["id"], used["ticket"]) == ("WVR-1", "RISK-1")
    assert (used["approver_role"], used["verified_by"]) == ("compliance", "review")
    assert record["waivers_expiring_30d"] == ["WVR-1"]
    assert record["waivers_not_live"] == {"WVR-0": "expired"}
    assert record["waivers_rejected"] == [{"file": "bad.yaml", "reason": "too broad"}]


def test_what_the_questions_say_is_in_it(make: SimpleNamespace) -> None:
    asked = {"stage": "options", "operation": "update", "regimes": ["EU_GDPR"], "options": []}
    plan = {"stage": "plan", "baseline": "f00d", "decisions": []}
    row = simple(make, documents=[asked, plan])
    assert (row["operation"], row["regimes"], row["baseline_digest"]) == (
        "update",
        ["EU_GDPR"],
        "f00d",
    )
    assert row["input_digest"] == digest([asked, plan])
    assert row["input_digest"] != simple(make, documents=[plan])["input_digest"]


def simple(make: SimpleNamespace, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "stack": "s",
        "evaluated_at": make.now,
        "origin": Origin("a"),
        "documents": [],
        "facts": FACTS,
        "verdict": "allow",
        "findings": [],
    }
    return policy_record(**{**fields, **changes})


def test_facts_of_a_silent_server_are_null(make: SimpleNamespace) -> None:
    row = simple(make)
    assert row["policy"]["bundle_digest"] is row["policy"]["revision"] is None
    assert row["policy"]["data_digest"] is None
    assert row["counts"] == {"verdicts": {}, "raw_verdicts": {}, "rules": {}}
    assert row["rules_disabled"] == []


def test_rules_that_were_not_evaluated_are_listed(make: SimpleNamespace) -> None:
    assert simple(make, rules_disabled=["Z-001", "A-001"])["rules_disabled"] == ["A-001", "Z-001"]


def test_an_engine_that_answered_leaves_no_rule_out(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    engine.ask(make.plan())
    assert engine.rules_not_evaluated == ()


def test_a_secret_does_not_reach_it(make: SimpleNamespace) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    row = simple(make, origin=Origin(f"by {key}", key, f"https://ci/?token={key}", key))
    assert key not in str(row)
    assert row["actor"] == "by [redacted]"


def test_what_is_told_of_options(engine: PolicyEngine, make: SimpleNamespace) -> None:
    """All of what was chosen, pinned or left without; one of each kind of what lost."""
    options = [
        make.option(id="chat/chosen", jurisdictions=("US",)),
        make.option(id="chat/lost-1", jurisdictions=("US",)),
        make.option(id="chat/lost-2", jurisdictions=("US",)),
        make.option(id="chat/pinned", jurisdictions=("US",), pinned=True),
        make.option(id="mail/none-1", workload="mail", jurisdictions=("US",)),
        make.option(id="mail/none-2", workload="mail", jurisdictions=("US",)),
    ]
    asked = make.question(options, make.workload(), make.workload(name="mail"))
    decided = {
        "stage": "plan",
        "decisions": [{"workload": "chat", "option": {"id": "chat/chosen"}}],
    }
    verdicts = gate_options(engine, asked, options)
    findings = [found for verdict in verdicts.values() for found in verdict.findings]
    abroad = [f for f in findings if f.rule_id == "RES-001"]
    assert len(abroad) == len(options)
    told = told_findings(abroad, [asked, decided])
    assert [found.subject for found in told] == [
        "chat/chosen",
        "chat/lost-1",
        "chat/pinned",
        "mail/none-1",
        "mail/none-2",
    ]
    rows = {
        trace: simple(make, findings=abroad, documents=[asked, decided], trace=trace)
        for trace in (True, False)
    }
    assert len(rows[True]["findings"]) == 6
    assert len(rows[False]["findings"]) == 5
    assert rows[True]["counts"] == rows[False]["counts"]
    assert rows[True]["findings_told"] == "all" != rows[False]["findings_told"]


def test_what_a_waiver_changed_is_always_told(engine: PolicyEngine, make: SimpleNamespace) -> None:
    options = [make.option(id=f"chat/{n}", model="gpt-5.9") for n in range(3)]
    asked = make.question(options)
    role = {"role": "ai_risk", "verified_by": "review", "at": make.now - dt.timedelta(days=9)}
    one = waiver(rule="MOD-001", scope={"stack": "prod", "model": "gpt-5.9"}, approval=role)
    verdicts = gate_options(engine, asked, options, WaiverBook(waivers=(one,)))
    findings = [f for v in verdicts.values() for f in v.findings if f.rule_id == "MOD-001"]
    assert [found.verdict for found in findings] == ["warn"] * 3
    chat = {"workload": "chat", "option": {"id": "chat/0"}}
    assert told_findings(findings, [asked, {"decisions": [chat]}]) == tuple(findings)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LLM_CAPACITY_ACTOR": "a", "GITHUB_ACTOR": "b"}, Origin("a")),
        (
            {
                "GITHUB_ACTOR": "b",
                "GITHUB_SHA": "f00",
                "GITHUB_RUN_ID": "7",
                "GITHUB_SERVER_URL": "https://git.example",
                "GITHUB_REPOSITORY": "o/r",
            },
            Origin("b", "f00", "https://git.example/o/r/actions/runs/7", "7"),
        ),
        (
            {
                "GITLAB_USER_LOGIN": "c",
                "CI_COMMIT_SHA": "f01",
                "CI_PIPELINE_ID": "8",
                "CI_PIPELINE_URL": "https://git.example/p/8",
            },
            Origin("c", "f01", "https://git.example/p/8", "8"),
        ),
        (
            {
                "BUILD_REQUESTEDFOR": "d",
                "BUILD_SOURCEVERSION": "f02",
                "BUILD_BUILDID": "9",
                "SYSTEM_COLLECTIONURI": "https://dev.example/o/",
                "SYSTEM_TEAMPROJECT": "p",
            },
            Origin("d", "f02", "https://dev.example/o/p/_build/results?buildId=9", "9"),
        ),
        ({"LLM_CAPACITY_ACTOR": "two\nlines " + "x" * 900}, Origin("two lines " + "x" * 490)),
    ],
)
def test_where_a_run_comes_from(environment: dict[str, str], expected: Origin) -> None:
    assert origin_of(environment) == expected


def test_a_run_by_hand_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "somebody")
    assert origin_of({"LLM_CAPACITY_ACTOR": ""}) == Origin("somebody")


def test_every_key_is_documented(record: dict[str, Any]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "records.md").read_text()
    known = set(re.findall(r"`(\w+)`", page))
    assert {"decision_id", "previous", *record, *record["policy"]} <= known
