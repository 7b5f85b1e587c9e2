"""``check`` as SARIF: the official schema, the verdict as levels, fingerprints that last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, ValidationError
from sarif_pydantic import Sarif

from planner.report.findings import Checked
from planner.report.formats import FORMATS
from tests.report.builders import (
    RULES,
    budget_finding,
    checked,
    decision,
    make_finding,
    outcome,
)
from tests.report.cases import CASES, blocked, denied, infeasible, warned

DATA = Path(__file__).parents[1] / "data"
SARIF_SCHEMA = Draft4Validator(json.loads((DATA / "sarif-2.1.0.schema.json").read_text()))
"""The official schema of OASIS; $comment in the file says which."""


def test_the_official_schema_of_sarif_finds_what_is_wrong() -> None:
    document = json.loads(FORMATS["sarif"](denied()))
    SARIF_SCHEMA.validate(document)
    document["runs"][0]["results"][0]["severity"] = "high"
    with pytest.raises(ValidationError, match="severity"):
        SARIF_SCHEMA.validate(document)


def sarif_run(case: Checked) -> dict[str, Any]:
    document = json.loads(FORMATS["sarif"](case))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    Sarif.model_validate(document)
    SARIF_SCHEMA.validate(document)
    (run,) = document["runs"]
    assert run["tool"]["driver"]["name"] == "llm-capacity"
    return dict(run)


@pytest.mark.parametrize("case", CASES)
def test_sarif_is_consistent(case: str) -> None:
    run = sarif_run(CASES[case]())
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({rule.id for rule in RULES})
    for rule in rules:
        assert rule["helpUri"] == f"docs/policies/{rule['id']}.md"
        assert rule["help"]["text"]
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["kind"] == "fail"
        assert isinstance(result["suppressions"], list)
        assert "suppression" not in result
        (location,) = result["locations"]
        assert location["physicalLocation"]["region"]["startLine"] == 1
        assert set(result["properties"]) >= {"observed", "expected", "evidence", "citation"}
    prints = [next(iter(result["partialFingerprints"].values())) for result in run["results"]]
    assert len(prints) == len(set(prints))


def test_sarif_levels_follow_the_verdict() -> None:
    levels = {r["ruleId"]: r["level"] for r in sarif_run(denied())["results"]}
    assert levels == {"BUD-001": "error", "RES-001": "error", "MOD-001": "warning"}
    (result,) = sarif_run(blocked())["results"]
    assert result["level"] == "error"
    assert sarif_run(blocked())["invocations"][0]["executionSuccessful"] is False
    assert sarif_run(denied())["invocations"][0]["executionSuccessful"] is True


def test_sarif_keeps_a_waived_denial_as_suppressed() -> None:
    by_rule = {result["ruleId"]: result for result in sarif_run(warned())["results"]}
    (suppression,) = by_rule["MOD-001"]["suppressions"]
    assert suppression["kind"] == "external"
    assert suppression["status"] == "accepted"
    assert suppression["justification"].startswith("WVR-2026-014: The committee approves")
    assert by_rule["MOD-001"]["properties"]["rawVerdict"] == "deny"
    assert by_rule["TIER-001"]["suppressions"] == []


def test_sarif_names_files_as_uris() -> None:
    found = checked([decision("batch", others=[outcome([make_finding()])])])
    (result,) = sarif_run(found)["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "stacks/prod/night%20work.yaml"


def test_sarif_fingerprints_last() -> None:
    def prints(**changes: Any) -> list[str]:
        run = sarif_run(checked([], [budget_finding(**changes), budget_finding(rule_id="A-001")]))
        return [r["partialFingerprints"]["llmCapacityFinding/v1"] for r in run["results"]]

    base = prints(evidence="/decisions/0/x")
    assert prints(evidence="/decisions/7/x", message="Another sum", observed=3) == base
    assert prints(evidence="/decisions/0/y")[1] != base[1]
    assert prints(evidence="/decisions/0/x", subject="chat")[1] != base[1]


def test_sarif_notes_a_workload_that_nothing_serves() -> None:
    (invocation,) = sarif_run(infeasible())["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["level"] == "error"
    assert note["message"]["text"] == "chat: nothing feasible; nearest: <too small>"


def test_sarif_describes_a_rule_that_only_the_server_has() -> None:
    rules = sarif_run(checked([], [budget_finding(rule_id="NEW-001")]))["tool"]["driver"]["rules"]
    (new,) = [rule for rule in rules if rule["id"] == "NEW-001"]
    assert (
        new["help"]["text"].splitlines()[0] == "What to do: Choose a region inside the residency."
    )
    assert "Who can waive it: the budget owner." in new["help"]["text"]
