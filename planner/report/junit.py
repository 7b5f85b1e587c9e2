"""The verdict as JUnit XML: one case for each rule and each subject that it judged.

A denial is a failure, an unanswered question an error, a waived denial is skipped with its
reason. A rule that found nothing on a chosen option or a decided workload has passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from planner.decision import Decision
from planner.policy.document import instant
from planner.policy.waivers import STACK
from planner.report.findings import (
    Checked,
    Told,
    blocking,
    citation_words,
    told,
)
from planner.report.words import clean, left_words, value_words, waivable_words

Key = tuple[str, str, str]
"""Workload, rule and subject."""


def junit(checked: Checked) -> str:
    """Return the XML document, newline-terminated."""
    plan = checked.plan
    suite = TestSuite(f"llm-capacity check {plan.stack}")
    suite.timestamp = instant(checked.at).removesuffix("Z")
    for name, value in (
        ("verdict", plan.verdict),
        ("as_of", plan.as_of),
        ("capacity_digest", plan.capacity_digest),
        ("evidence_digest", plan.evidence_digest),
    ):
        suite.add_property(name, value)
    suite.add_testcases(list(_cases(checked)))
    suites = JUnitXml("llm-capacity check")
    suites.add_testsuite(suite)
    suites.update_statistics()
    xml: bytes = suites.tostring()
    return f"{xml.decode()}\n"


def _cases(checked: Checked) -> Iterator[TestCase]:
    judged: dict[Key, list[Told]] = {key: [] for key in _passable(checked)}
    titles = {rule.id: rule.title for rule in checked.rules}
    for item in told(checked):
        key = (item.workload, item.finding.rule_id, item.finding.subject)
        judged.setdefault(key, []).append(item)
        titles.setdefault(item.finding.rule_id, item.finding.title)
    for (workload, rule, subject), found in sorted(judged.items()):
        case = TestCase(
            name=f"{rule} {clean(titles[rule])}: {clean(subject)}", classname=f"{workload}.{rule}"
        )
        _judge(case, found, checked)
        yield case
    yield from (_without_option(item) for item in checked.plan.decisions if _unexplained(item))


def _passable(checked: Checked) -> Iterator[Key]:
    """Yield what passes unless something is found: rules on what was chosen, and on the plan.

    A rule on resources is asked by the engine, not by a check: it has passed nothing here.
    """
    plan = checked.plan
    decided = [decision for decision in plan.decisions if decision.chosen is not None]
    for rule in checked.rules:
        for decision in decided:
            if decision.chosen is not None and "options" in rule.stages:
                yield decision.workload, rule.id, decision.chosen.option.id
            if "plan" in rule.stages:
                yield decision.workload, rule.id, decision.workload
        if "plan" in rule.stages:
            yield STACK, rule.id, STACK


def _judge(case: TestCase, found: Sequence[Told], checked: Checked) -> None:
    """Give the case the result of the worst finding and the words of all."""
    if not found:
        return
    text = "\n\n".join(_words(item, checked) for item in found)
    findings = [item.finding for item in found]
    # The first is the worst; of warnings, a waived denial says more than the others.
    waived = next((f for f in findings if f.waiver is not None), findings[0])
    worst = waived if findings[0].verdict == "warn" else findings[0]
    message = clean(worst.message)
    result: Error | Failure | Skipped
    match worst.verdict:
        case "unavailable":
            result = Error(message, "unavailable")
        case "deny":
            result = Failure(message, "deny")
        case _ if worst.waiver is not None:
            left = left_words(worst.waiver.expires, checked.at)
            result = Skipped(
                clean(f"waived by {worst.waiver.id}, {left}: {worst.waiver.reason}"), "waived"
            )
        case _:
            case.system_out = f"warning: {text}"
            return
    result.text = text
    case.result = result


def _words(item: Told, checked: Checked) -> str:
    found = item.finding
    lines = [
        f"why:      {clean(found.message)}",
        f"file:     {item.file}",
        f"observed: {value_words(found.observed)}",
        f"expected: {value_words(found.expected)}",
        f"citation: {citation_words(found)}",
        f"remedy:   {clean(found.remedy)}",
        f"waivers:  {waivable_words(found)}",
    ]
    return "\n".join(lines)


def _unexplained(decision: Decision) -> bool:
    """Return whether a workload has no option although no finding says why."""
    explained = decision.status in ("denied", "blocked") and any(blocking(decision))
    return decision.chosen is None and not explained


def _without_option(decision: Decision) -> TestCase:
    """Return the failure of a workload that no option can serve: it must not look passed."""
    case = TestCase(
        name=f"an option can serve: {decision.workload}", classname=f"{decision.workload}.capacity"
    )
    case.result = Failure(clean(decision.explanation), decision.status)
    return case
