"""The formats of ``check``: each tells the same verdict, and none can turn one into a pass."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator, ValidationError
from junitparser import JUnitXml, TestSuite
from sarif_pydantic import Sarif

from planner.policy.waivers import Rejected, VerifiedWaiver, WaiverBook
from planner.report.findings import Checked, rule_rows, told
from planner.report.formats import FORMATS
from planner.report.words import days_left, left_words, roles_words, value_words, waivable_words
from tests.report.builders import (
    AT,
    RULES,
    WAIVER,
    budget_finding,
    checked,
    decision,
    make_finding,
    model_finding,
    outcome,
    waived_finding,
)

DATA = Path(__file__).parents[1] / "data"


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


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_equal_inputs_give_equal_bytes(form: str, case: str) -> None:
    first, second = (FORMATS[form](CASES[case]()) for _ in range(2))
    assert first == second
    assert first.endswith("\n")


def test_order_of_the_findings_changes_nothing() -> None:
    found = [budget_finding(), budget_finding(rule_id="TIER-001"), waived_finding(subject="chat")]
    assert told(checked([], found)) == told(checked([], found[::-1]))


# What the verdict rests on.


def test_a_chosen_option_counts_and_what_lost_does_not() -> None:
    lost = outcome([make_finding()], lost="denied", id="chat/other")
    found = told(checked([decision(chosen=outcome([waived_finding()]), others=[lost])]))
    assert [item.finding.rule_id for item in found] == ["MOD-001"]
    assert [item.workload for item in found] == ["chat"]


def test_a_pin_keeps_other_options_out() -> None:
    found = told(denied())
    assert [(i.finding.verdict, i.finding.rule_id, i.workload) for i in found] == [
        ("deny", "BUD-001", "stack"),
        ("deny", "RES-001", "chat"),
        ("warn", "MOD-001", "chat"),
    ]


def test_findings_are_at_the_file_that_declares_their_subject() -> None:
    files = {item.workload: item.file for item in told(denied())}
    assert files == {"chat": "stacks/prod/chat.yaml", "stack": "stacks/prod/platform.yaml"}
    assert Checked(denied().plan, AT).file_of("chat") == "platform.yaml"


# Words.


def test_values_in_words() -> None:
    value = {"a_b": [{"x": None}, True, 12345, 2.5], "c": {}, "d": "<missing>"}
    assert value_words(value) == "a b (x none), yes, 12,345, 2.5; c ((none)); d (not stated)"
    assert value_words(list(range(10))) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert value_words([]) == "(none)"
    assert value_words("x" * 500) == "x" * 400 + " ... (--format json has all of it)"
    assert value_words("x" * 400) == "x" * 400


def test_roles_in_words() -> None:
    assert roles_words([]) == "nobody"
    assert roles_words(["ai_risk"]) == "AI risk"
    assert roles_words(["ai_risk", "new_role", "security"]) == "AI risk, new role or security"


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (make_finding(), "nobody: this rule cannot be waived"),
        (make_finding(waivable_by=["compliance"]), "nobody: this rule cannot be waived"),
        (make_finding(waivable_by=["compliance"], severity="high"), "compliance"),
        (model_finding(waivable_by=[]), "nobody: this rule cannot be waived"),
        (model_finding(), "AI risk or compliance"),
        (model_finding(verdict="warn"), "AI risk or compliance; a warning needs none"),
        (
            model_finding(verdict="unavailable"),
            "nobody: what the policy cannot judge cannot be waived",
        ),
        (
            waived_finding(),
            "waived by head-of-ai-risk as AI risk (signature): WVR-2026-014, "
            "until 2026-12-31T00:00:00+00:00",
        ),
    ],
)
def test_who_can_waive(finding: Any, words: str) -> None:
    assert waivable_words(finding) == words


@pytest.mark.parametrize(
    ("at", "days", "words"),
    [
        (dt.datetime(2026, 12, 1, tzinfo=dt.UTC), 30, "30 days left"),
        (dt.datetime(2026, 12, 29, 12, tzinfo=dt.UTC), 1, "1 day left"),
        (dt.datetime(2026, 12, 30, 0, 0, 1, tzinfo=dt.UTC), 0, "less than a day left"),
        (dt.datetime(2027, 1, 30, tzinfo=dt.UTC), 0, "less than a day left"),
    ],
)
def test_days_left(at: dt.datetime, days: int, words: str) -> None:
    assert days_left(str(WAIVER["expires"]), at) == days
    assert left_words(str(WAIVER["expires"]), at) == words


def test_the_manifest_gives_the_rules_by_id() -> None:
    rows = [
        {"id": "B-001", "title": "b", "severity": "low", "stages": ["plan"], "waivable_by": []},
        {"id": "A-001", "title": "a", "severity": "low", "stages": ["plan"], "waivable_by": ["x"]},
    ]
    found = rule_rows(json.dumps({"rules": rows, "reads": {}}))
    assert [(row.id, row.waivable_by) for row in found] == [("A-001", ("x",)), ("B-001", ())]


# Text.


@pytest.mark.parametrize(
    ("case", "first"),
    [
        ("allowed", "ALLOW: nothing stops this plan. Stack prod, as of 2026-12-01"),
        ("warned", "ALLOW, with warnings. Stack prod, as of 2026-12-01"),
        ("denied", "DENY: this plan may not proceed. Stack prod, as of 2026-12-01"),
        (
            "blocked",
            "BLOCKED: the policy could not tell, so this plan may not proceed. "
            "Stack prod, as of 2026-12-01",
        ),
        (
            "infeasible",
            "INFEASIBLE: no option can serve chat (policy: ALLOW: nothing stops this plan). "
            "Stack prod, as of 2026-12-01",
        ),
    ],
)
def test_text_leads_with_the_verdict(case: str, first: str) -> None:
    assert FORMATS["text"](CASES[case]()).splitlines()[0] == first


def test_text_has_its_sections_in_order() -> None:
    found = checked(
        [decision(chosen=outcome([waived_finding(), model_finding(verdict="warn")]))],
        [budget_finding(), budget_finding(subject="chat", verdict="unavailable")],
        waivers=BOOK,
    )
    text = FORMATS["text"](found)
    titles = [
        "Questions without an answer",
        "Denials",
        "Warnings",
        "Waivers used",
        "Waivers that do not count",
        "Workloads",
    ]
    assert [line for line in text.splitlines() if line and not line.startswith(" ")][1:] == titles
    assert "1 denial, 1 unanswered question, 1 warning, 1 waived denial" in text
    assert (
        "  WVR-2026-014: MOD-001 for chat; 29 days left (until 2026-12-31T00:00:00+00:00); "
        "approved by head-of-ai-risk as AI risk (signature), RISK-1203: The committee"
    ) in text
    for line in (
        "  WVR-2: expired at 2026-12-01T00:00:00Z",
        "  WVR-3: counts only from 2026-12-02T00:00:00Z",
        "  WVR-4: nothing that decides this plan needs it (rule BUD-001)",
        "  broken.yaml: too broad: '*' is a pattern",
    ):
        assert line in text.splitlines()
    assert "WVR-5" not in text


def test_a_waiver_counts_only_from_its_approval() -> None:
    late = {"role": "ai_risk", "verified_by": "review", "at": AT + dt.timedelta(hours=1)}
    book = WaiverBook(waivers=(verified(approval=late),))
    assert "WVR-1: counts only from 2026-12-01T13:00:00Z" in FORMATS["text"](
        checked([decision(chosen=outcome())], waivers=book)
    )


def test_a_finding_answers_the_readers_questions() -> None:
    block = FORMATS["text"](denied()).split("DENY RES-001", 1)[1].split("\n  DENY")[0]
    assert block.splitlines() == [
        " Prompts are processed only inside the declared residency [critical]",
        "    subject:  chat/payg",
        "    file:     stacks/prod/chat.yaml",
        "    why:      chat/payg may be processed in JP, not inside the residency AU",
        "    observed: jurisdictions AU, JP; spill none",
        "    expected: countries AU; known yes",
        "    citation: Regulation (EU) 2016/679 (GDPR), Article 44",
        "    remedy:   Choose a region inside the residency.",
        "    waivers:  nobody: this rule cannot be waived",
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_a_message_forges_nothing(form: str) -> None:
    evil = "x\n  ALLOW all\x1b[2J\x00 <missing> | </details> ]]> <script>"
    found = checked([decision(others=[outcome([make_finding(message=evil, title=evil)])])])
    text = FORMATS[form](found)
    text.encode()
    assert "\x1b" not in text
    assert "\n  ALLOW all" not in text
    if form == "markdown":
        assert "<script>" not in text
        assert text.count("</details>") == 1
        assert r"\| &lt;/details" in text
    if form == "junit":
        ElementTree.fromstring(text)


# JSON.


def test_json_holds_everything_with_its_version() -> None:
    found = json.loads(FORMATS["json"](warned()))
    assert found["schema_version"] == 1
    assert found["verdict"] == "warn"
    assert found["counts"] == {
        "denials": 0, "unanswered_questions": 0, "warnings": 1, "waived_denials": 1,
    }  # fmt: skip
    assert found["evaluated_at"] == "2026-12-01T12:00:00Z"
    assert {row["raw_verdict"] for row in found["findings"]} == {"warn", "deny"}
    assert {row["file"] for row in found["findings"]} == {"stacks/prod/chat.yaml"}
    (used,) = found["waivers_used"]
    assert (used["id"], used["days_left"], used["waives"]) == (
        "WVR-2026-014", 29, ["MOD-001 chat"],
    )  # fmt: skip
    assert [row["waiver"] for row in found["waivers_not_counted"]] == [
        "WVR-2", "WVR-3", "WVR-4", "broken.yaml",
    ]  # fmt: skip


def test_json_says_of_each_workload_what_decides_it_and_counts_what_bars_options() -> None:
    lost = outcome([make_finding(), model_finding()], lost="denied", id="chat/other")
    case = checked([decision(chosen=outcome(), others=[lost])])
    row = json.loads(FORMATS["json"](case))["workloads"]["chat"]
    assert row["findings"] == []
    assert row["options_barred"] == {"MOD-001": 1, "RES-001": 1}
    row = json.loads(FORMATS["json"](denied()))["workloads"]["chat"]
    assert [found["rule_id"] for found in row["findings"]] == ["RES-001", "MOD-001"]


# SARIF.

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


# JUnit.


def suite_of(case: Checked) -> TestSuite:
    (suite,) = JUnitXml.fromstring(FORMATS["junit"](case))
    return suite


def results(case: Checked) -> dict[str, str]:
    found = {}
    for row in suite_of(case):
        name = f"{row.classname} {row.name.rpartition(': ')[2]}"
        assert name not in found
        found[name] = type(row.result[0]).__name__ if row.result else "passed"
    return found


def test_junit_has_a_passed_case_for_each_rule_and_subject() -> None:
    assert results(allowed()) == {
        "chat.BUD-001 chat": "passed",
        "chat.MOD-001 chat/payg": "passed",
        "chat.RES-001 chat/payg": "passed",
        "chat.TIER-001 chat": "passed",
        "chat.TIER-001 chat/payg": "passed",
        "stack.BUD-001 stack": "passed",
        "stack.TIER-001 stack": "passed",
    }


def test_junit_a_denial_fails_and_what_is_waived_is_skipped() -> None:
    found = results(denied())
    assert found["stack.BUD-001 stack"] == "Failure"
    assert found["chat.RES-001 chat/payg"] == "Failure"
    assert found["chat.MOD-001 chat/payg"] == "Skipped"
    assert found["batch.MOD-001 batch/payg"] == "passed"
    assert "chat.TIER-001 chat/payg" not in found
    suite = suite_of(denied())
    assert (suite.failures, suite.errors, suite.skipped) == (2, 0, 1)


def test_junit_a_question_without_an_answer_is_an_error() -> None:
    assert results(blocked())["chat.RES-001 chat/payg"] == "Error"
    assert suite_of(blocked()).errors == 1


def test_junit_says_why_something_is_skipped_and_keeps_warnings() -> None:
    cases = {case.classname: case for case in suite_of(warned()) if case.name.endswith("payg")}
    (skipped,) = cases["chat.MOD-001"].result
    assert skipped.message == (
        "waived by WVR-2026-014, 29 days left: The committee approves the model on 2026-12-15."
    )
    assert cases["chat.TIER-001"].is_passed
    assert "chat shares a deployment" in cases["chat.TIER-001"].system_out


def test_junit_the_worst_of_a_case_decides() -> None:
    both = [waived_finding(message="b"), model_finding(message="a", verdict="unavailable")]
    found = checked([decision(chosen=outcome(both))])
    assert results(found)["chat.MOD-001 chat/payg"] == "Error"
    mixed = [model_finding(message="a", verdict="warn"), waived_finding(message="b")]
    found = checked([decision(chosen=outcome(mixed))])
    assert results(found)["chat.MOD-001 chat/payg"] == "Skipped"


def test_junit_fails_for_a_workload_that_nothing_serves() -> None:
    assert results(infeasible())["chat.capacity chat"] == "Failure"
    unexplained = checked([decision(status="blocked", others=[outcome()])])
    assert results(unexplained)["chat.capacity chat"] == "Failure"


# Markdown.


def test_markdown_begins_with_a_mark_and_the_verdict() -> None:
    lines = FORMATS["markdown"](denied()).splitlines()
    assert lines[0] == "<!-- llm-capacity check: prod -->"
    assert lines[1].startswith("**DENY: this plan may not proceed")
    head = "\n".join(lines).split("<details>")[0]
    assert head.index("### Denials") < head.index("[BUD-001](docs/policies/BUD-001.md)")
    assert "| nobody: this rule cannot be waived |" in head
    assert "Article 44" not in head
    assert "Article 44" in "\n".join(lines)


def test_markdown_tables_keep_their_columns() -> None:
    text = FORMATS["markdown"](checked([], [budget_finding(message="a | b \\| c")]))
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(re.split(r"(?<!\\)(?:\\\\)*\|", row)) for row in block.splitlines()}
        assert len(widths) == 1


def test_markdown_folds_what_does_not_fit_on_a_screen() -> None:
    many = [budget_finding(subject=f"s{number:02}") for number in range(12)]
    head, details = FORMATS["markdown"](checked([], many)).split("<details>")
    assert head.count("[BUD-001]") == 8
    assert "and 4 more, in the details" in head
    assert details.count("[BUD-001]") == 12


def test_markdown_shows_waivers_with_their_time() -> None:
    text = FORMATS["markdown"](warned())
    assert "| WVR-2026-014 | MOD-001 for chat | 29 days left, until" in text
    assert "- WVR-2: expired at 2026-12-01T00:00:00Z" in text
    assert text.index("### Waivers used") < text.index("### Warnings") < text.index("<details>")
