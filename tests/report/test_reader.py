"""A person who knows no Rego reads a finding of every rule and finds six answers in it.

What, where, why, under which clause, what to do, who can waive it; from the real OPA.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from planner.policy.bundle import policies_folder
from planner.policy.engine import PolicyEngine
from planner.policy.verdicts import Finding
from planner.policy.waivers import never_waivable
from planner.report.findings import Checked
from planner.report.formats import FORMATS
from planner.report.words import ROLES, value_words
from tests.report.builders import AT, decision, make_plan, outcome
from tests.report.violations import VIOLATIONS

MANIFEST = json.loads((policies_folder() / "llm_capacity/manifest/data.json").read_text())
ROWS = {row["id"]: row for row in MANIFEST["rules"]}

REGO = re.compile(
    r"input\.|:=|data\.llm_capacity|<missing>|[{}]|\bnull\b|\\u00|\btrue\b|\bfalse\b"
    r"|\bsprintf\b|\[\"|\\n|\^\S*\$"
)
"""Traces of Rego, of JSON, of patterns."""


def test_every_rule_has_a_violating_question() -> None:
    assert set(VIOLATIONS) == set(ROWS), "add a row to tests/report/violations.py"


def findings_of(engine: PolicyEngine, make: SimpleNamespace, id: str) -> list[Finding]:
    answer = engine.ask(VIOLATIONS[id](make))
    return [found for found in answer.findings if found.rule_id == id]


def shown(found: Finding, stage: str) -> str:
    """The text of a check that this finding alone decides."""
    files = {"chat": "stacks/prod/chat.yaml"}
    if stage == "options":
        stopped = outcome([found], lost="denied", id=found.subject)
        plan = make_plan([decision(others=[stopped])])
    else:
        plan = make_plan([decision(chosen=outcome())], [found])
    return FORMATS["text"](Checked(plan, AT, files))


def labelled(text: str) -> Iterator[tuple[str, str]]:
    """The labels and words of the one block in a text."""
    for line in text.splitlines():
        if match := re.fullmatch(r"    (\w+): +(.+)", line):
            yield match[1], match[2]


@pytest.mark.parametrize("id", sorted(ROWS))
def test_a_reader_finds_the_answers(engine: PolicyEngine, make: SimpleNamespace, id: str) -> None:
    row = ROWS[id]
    question = VIOLATIONS[id](make)
    found = findings_of(engine, make, id)
    assert found, f"the question for {id} does not break it"
    for finding in found:
        text = shown(finding, question["stage"])
        answers = dict(labelled(text))
        words = {"deny": "DENY", "warn": "WARN", "unavailable": "UNAVAILABLE"}[finding.verdict]
        # What.
        assert f"  {words} {id} {row['title']} [{row['severity']}]" in text.splitlines()
        # Where: the subject and the file that declares it.
        assert answers["subject"] == finding.subject
        of_workload = question["stage"] == "options" or finding.subject == "chat"
        file = "stacks/prod/chat.yaml" if of_workload else "stacks/prod/platform.yaml"
        assert answers["file"] == file
        # Why, with what is and what should be.
        assert len(answers["why"].split()) >= 5
        assert answers["observed"] == value_words(finding.observed)
        assert answers["expected"] == value_words(finding.expected)
        assert answers["observed"] != answers["expected"]
        # Under which clause.
        assert finding.citation.document in answers["citation"]
        assert finding.citation.clause in answers["citation"]
        # What to do.
        assert answers["remedy"].endswith(".")
        assert len(answers["remedy"].split()) >= 5
        # Who can waive it.
        check_waivers(answers["waivers"], finding)
        traces = REGO.findall(text)
        assert not traces, f"{id} shows {traces} to a reader:\n{text}"


def check_waivers(words: str, finding: Finding) -> None:
    nobody = not finding.waivable_by or never_waivable(finding.rule_id, finding.severity)
    if finding.verdict == "unavailable" or nobody:
        assert words.startswith("nobody: ")
        return
    for role in finding.waivable_by:
        assert ROLES[role] in words
    assert "_" not in words


def test_roles_of_rules_have_words() -> None:
    named = {role for row in ROWS.values() for role in row["waivable_by"]}
    assert named <= set(ROLES)


@pytest.mark.parametrize("form", ["markdown", "junit"])
@pytest.mark.parametrize("id", sorted(ROWS))
def test_other_formats_for_people_say_as_much(
    engine: PolicyEngine, make: SimpleNamespace, id: str, form: str
) -> None:
    stage = VIOLATIONS[id](make)["stage"]
    finding: Any = findings_of(engine, make, id)[0]
    stopped = outcome([finding], lost="denied", id=finding.subject)
    plan = (
        make_plan([decision(others=[stopped])])
        if stage == "options"
        else make_plan([decision(chosen=outcome())], [finding])
    )
    text = FORMATS[form](Checked(plan, AT, {"chat": "stacks/prod/chat.yaml"}))
    plain = re.sub(r"\\([\\`*_\[\]|#])", r"\1", text)
    plain = plain.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    for part in (
        finding.message,
        finding.remedy,
        finding.citation.clause,
        value_words(finding.observed),
        value_words(finding.expected),
    ):
        assert part.replace("&quot;", '"') in plain.replace("&quot;", '"')
