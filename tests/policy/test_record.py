"""The record of a run: complete, derived from its content, and free of secrets."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.policy.document import digest
from planner.policy.engine import PolicyEngine, PolicyFacts
from planner.policy.gate import gate_plan
from planner.policy.record import REDACTED, append_record, policy_record, redact
from planner.policy.waivers import Rejected, Waiver, WaiverBook


def waiver(**changes: Any) -> Waiver:
    fields = {
        "id": "WVR-1",
        "rule": "EXI-001",
        "subject": "chat",
        "scope": {"stack": "prod", "provider": "azure"},
        "approver": "head of AI risk",
        "ticket": "RISK-1",
        "reason": "The first exit test is planned.",
        "granted": "2026-11-01",
        "expires": "2026-12-20",
    }
    return Waiver.model_validate({**fields, **changes})


@pytest.fixture
def record(engine: PolicyEngine, make: SimpleNamespace) -> dict[str, Any]:
    document = make.plan(make.decision(exit_plan=None), total_usd_per_month=9000.0)
    waivers = WaiverBook(
        waivers=(waiver(), waiver(id="WVR-0", expires="2026-11-15")),
        rejected=(Rejected("bad.yaml", "too broad"),),
    )
    findings = gate_plan(engine, document, waivers)
    return policy_record(
        stack="prod",
        evaluated_at=make.now,
        actor="pipeline",
        commit="abc",
        plan_digest="sha256:1",
        documents=[document],
        facts=engine.facts,
        verdict="deny",
        findings=findings,
        waivers=waivers,
        run="42",
    )


def test_what_it_holds(record: dict[str, Any], engine: PolicyEngine) -> None:
    assert list(record)[:5] == ["decision_id", "schema_version", "evaluated_at", "actor", "commit"]
    assert record["evaluated_at"] == "2026-12-01T12:00:00Z"
    assert record["policy"]["bundle_digest"] == engine.facts.bundle_digest
    assert record["policy"]["rule_count"] == 12
    assert record["counts"] == {
        "verdicts": {"deny": 1, "warn": 1},
        "raw_verdicts": {"deny": 2},
        "rules": {"BUD-001": 1, "EXI-001": 1},
    }
    assert [row["id"] for row in record["waivers_used"]] == ["WVR-1"]
    assert record["waivers_used"][0]["ticket"] == "RISK-1"
    assert record["waivers_expiring_30d"] == ["WVR-1"]
    assert record["waivers_not_live"] == {"WVR-0": "expired"}
    assert record["waivers_rejected"] == [{"file": "bad.yaml", "reason": "too broad"}]
    assert [row["rule_id"] for row in record["findings"]] == ["BUD-001", "EXI-001"]


def test_the_id_is_of_the_content(record: dict[str, Any]) -> None:
    body = {key: value for key, value in record.items() if key != "decision_id"}
    assert record["decision_id"] == digest(body)
    assert record["decision_id"] != digest({**body, "verdict": "allow"})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"token": "x"}, {"token": REDACTED}),
        ({"accessToken": "x"}, {"accessToken": REDACTED}),
        ({"client_secret": ["x"]}, {"client_secret": REDACTED}),
        ({"a": [{"PASSWORD": "x"}]}, {"a": [{"PASSWORD": REDACTED}]}),
        ({"api_key": "x", "apikey": "y"}, {"api_key": REDACTED, "apikey": REDACTED}),
        ({"token_multiplier": 1.5, "max_tokens": 5}, {"token_multiplier": 1.5, "max_tokens": 5}),
        ({"tokens_per_minute": {"p50": 1}}, {"tokens_per_minute": {"p50": 1}}),
        ({"note": "sent Bearer abcdefgh123"}, {"note": f"sent {REDACTED}"}),
        ({"url": "https://me:pw@host/x"}, {"url": f"https{REDACTED}host/x"}),
        ({"id": "AKIAABCDEFGHIJKLMNOP"}, {"id": REDACTED}),
        ({"key": "/options/3"}, {"key": "/options/3"}),
    ],
)
def test_redaction(value: Any, expected: Any) -> None:
    assert redact(value) == expected
    assert redact(redact(value)) == expected


def test_a_secret_in_an_input_does_not_reach_the_file(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    append_record(path, {"actor": "x", "policy_token": "hunter2"})
    assert "hunter2" not in path.read_text()


def test_lines_are_appended_in_the_given_order(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "records.jsonl"
    append_record(path, {"b": 1, "a": 2})
    append_record(path, {"b": 3, "a": 4})
    assert path.read_text() == '{"b":1,"a":2}\n{"b":3,"a":4}\n'
    assert path.stat().st_mode & 0o007 == 0


def test_a_torn_line_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"torn":')
    append_record(path, {"a": 1})
    assert path.read_text() == '{"torn":\n{"a":1}\n'


def test_runs_side_by_side_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: append_record(path, {"n": n, "x": "x" * 70_000}), range(40)))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(row["n"] for row in rows) == list(range(40))


def test_numbers_that_json_lacks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        append_record(tmp_path / "r", {"a": float("nan")})


def test_facts_of_a_silent_server_are_null(make: SimpleNamespace) -> None:
    facts = PolicyFacts("opa, central", "unknown", None, 11)
    row = policy_record(
        stack="s", evaluated_at=make.now, actor="a", commit=None, plan_digest=None,
        documents=[], facts=facts, verdict="allow", findings=[],
    )  # fmt: skip
    assert row["policy"]["bundle_digest"] is None
    assert row["counts"] == {"verdicts": {}, "raw_verdicts": {}, "rules": {}}
