"""``check`` as JUnit: a case for each rule and subject; none can turn a denial into a pass."""

from __future__ import annotations

from junitparser import JUnitXml, TestSuite

from planner.report.findings import Checked
from planner.report.formats import FORMATS
from tests.report.builders import (
    checked,
    decision,
    model_finding,
    outcome,
    waived_finding,
)
from tests.report.cases import allowed, blocked, denied, infeasible, warned


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
