"""The formats of ``check``: each tells the same verdict, and none can turn one into a pass."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any
from xml.etree import ElementTree

import pytest

from planner.policy.waivers import WaiverBook
from planner.report.findings import Checked, rule_rows, told
from planner.report.formats import FORMATS
from planner.report.words import days_left, left_words, roles_words, value_words, waivable_words
from tests.report.builders import (
    AT,
    WAIVER,
    budget_finding,
    checked,
    decision,
    make_finding,
    model_finding,
    outcome,
    waived_finding,
)
from tests.report.cases import BOOK, CASES, denied, verified, warned


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
