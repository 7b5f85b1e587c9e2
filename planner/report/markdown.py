"""The verdict as Markdown, for one comment on a pull request: a screen, details folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.policy.document import instant
from planner.report.check import counts_words, headline
from planner.report.escape import escaped
from planner.report.findings import (
    Checked,
    Told,
    citation_words,
    denied,
    told,
    unanswered,
    waivers_not_counted,
    waivers_used,
    warning,
)
from planner.report.words import approver_words, left_words, value_words, waivable_words

SHOWN_ROWS = 8
"""Rows of a table above the fold; the details hold every one."""

PAGES = "docs/policies"


def markdown(checked: Checked) -> str:
    """Return the comment; its first line is a hidden mark by which it can be found again."""
    found = told(checked)
    lines = [
        f"<!-- llm-capacity check: {checked.plan.stack} -->",
        f"**{escaped(headline(checked))}**",
        "",
        f"{counts_words(found)}; capacity digest `{checked.plan.capacity_digest[:12]}`",
    ]
    lines += _table("Denials", denied(found))
    lines += _table("Questions without an answer", unanswered(found))
    lines += _waivers(checked, found)
    lines += _table("Warnings", warning(found))
    lines += _details(checked, found)
    return "\n".join(lines) + "\n"


def _table(title: str, found: Sequence[Told]) -> Iterator[str]:
    if not found:
        return
    yield from ("", f"### {title}", "")
    yield "| rule | where | why | what to do | who can waive |"
    yield "|---|---|---|---|---|"
    for item in found[:SHOWN_ROWS]:
        finding = item.finding
        cells = (
            f"{_link(finding.rule_id)} {finding.severity}",
            f"{escaped(item.workload)} ({escaped(item.file)})",
            escaped(finding.message),
            escaped(finding.remedy),
            escaped(waivable_words(finding)),
        )
        yield f"| {' | '.join(cells)} |"
    if len(found) > SHOWN_ROWS:
        yield from ("", f"and {len(found) - SHOWN_ROWS} more, in the details")


def _waivers(checked: Checked, found: Sequence[Told]) -> Iterator[str]:
    used, uncounted = waivers_used(found), waivers_not_counted(checked, found)
    if used:
        yield from ("", "### Waivers used", "")
        yield "| waiver | waives | time left | approved by | reason |"
        yield "|---|---|---|---|---|"
    for waiver, items in used:
        what = sorted({f"{item.finding.rule_id} for {item.workload}" for item in items})
        cells = (
            escaped(waiver.id),
            escaped(", ".join(what)),
            f"{left_words(waiver.expires, checked.at)}, until {escaped(waiver.expires)}",
            escaped(f"{approver_words(waiver)}, {waiver.ticket}"),
            escaped(waiver.reason),
        )
        yield f"| {' | '.join(cells)} |"
    if uncounted:
        yield from ("", "### Waivers that do not count", "")
        yield from (f"- {escaped(row.waiver)}: {escaped(row.reason)}" for row in uncounted)


def _details(checked: Checked, found: Sequence[Told]) -> Iterator[str]:
    plan = checked.plan
    yield from ("", "<details><summary>Details</summary>", "")
    for item in found:
        finding = item.finding
        yield f"- {finding.verdict} {_link(finding.rule_id)} {escaped(finding.title)}"
        yield f"  - subject: {escaped(finding.subject)} ({escaped(item.file)})"
        yield f"  - why: {escaped(finding.message)}"
        yield f"  - observed: {escaped(value_words(finding.observed))}"
        yield f"  - expected: {escaped(value_words(finding.expected))}"
        yield f"  - citation: {escaped(citation_words(finding))}"
        yield f"  - remedy: {escaped(finding.remedy)}"
        yield f"  - waivers: {escaped(waivable_words(finding))}"
    for decision in plan.decisions:
        yield f"- {escaped(decision.workload)}: {decision.status} - {escaped(decision.explanation)}"
    yield f"- judged at {instant(checked.at)}"
    yield f"- capacity digest `{plan.capacity_digest}`"
    yield f"- evidence digest `{plan.evidence_digest}`"
    yield f"- policy digest `{escaped(plan.inputs.policy_digest)}`"
    yield from (
        f"- to see it again: `llm-capacity check --stack {plan.stack} --format json`",
        "",
        "</details>",
    )


def _link(rule_id: str) -> str:
    return f"[{rule_id}]({PAGES}/{rule_id}.md)"
