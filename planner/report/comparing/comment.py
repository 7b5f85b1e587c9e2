"""The comment on a pull request: eight parts in one screen, details folded.

One comment for a stack is updated in place: its first line is a hidden mark. Equal inputs give
equal bytes; no clock is read, only how long waivers still count depends on the moment asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.comparing.types import PlanDiff
from planner.report.check import headline
from planner.report.comparing.failure import marker
from planner.report.comparing.markdown import (
    CAPACITY_HEAD,
    COST_HEAD,
    blast_lines,
    bullets,
    capacity_cells,
    cost_cells,
    whole,
)
from planner.report.comparing.text import residency_lines
from planner.report.comparing.words import (
    blast_counts,
    flip_words,
    moved_words,
    short,
    unknown_words,
    verdict_words,
)
from planner.report.escape import escaped, table
from planner.report.findings import (
    Checked,
    Told,
    citation_words,
    denied,
    told,
    unanswered,
    waivers_used,
    warning,
)
from planner.report.words import approver_words, left_words, value_words, waivable_words
from planner.units import counted

PAGES = "docs/policies"

SHOWN_FINDINGS, SHOWN_WAIVERS, SHOWN_WORKLOADS, SHOWN_LINES = 4, 3, 5, 4
"""Rows above the fold; what is cut there is whole in the details."""

LONGEST = 60_000
"""Characters of a comment: hosts refuse more than 65,536."""

DENIALS = ("rule", "subject", "observed", "expected", "what to do", "rests on", "who can waive")
"""The head of the table of denials."""

_CUT = "- cut here: `llm-capacity diff` has all of it"


@dataclass(frozen=True)
class Commented:
    """What a comment tells: the difference, the new plan's findings, how to see it again.

    ``commit`` is the revision under review, None where it is not known, ``edited`` whether
    files have changed since; ``command`` is the line that reproduces it.
    """

    diff: PlanDiff
    checked: Checked
    command: str
    commit: str | None = None
    edited: bool = False


def comment(given: Commented) -> str:
    """Return the comment, newline-terminated."""
    found = told(given.checked)
    diff = given.diff
    lines = [marker(diff.stack), *_headline(given)]
    for part in (
        _findings(given, found),
        _capacity(diff),
        _cost(diff),
        _residency(diff),
        _blast(diff),
        _assumptions(diff),
        _reproduce(given),
    ):
        body = list(part)
        lines += ["", *body] if body else []
    return _with_details(lines, list(_details(given, found)))


def _headline(given: Commented) -> Iterator[str]:
    diff = given.diff
    yield f"**{escaped(headline(given.checked))}**"
    edited = " with local changes" if given.edited else ""
    facts = [
        *([f"commit `{short(given.commit)}`{edited}"] if given.commit else []),
        f"plan `{short(diff.new.capacity_digest)}`",
        f"policies `{escaped(short(diff.new.inputs.policy_digest))}`",
        f"against {escaped(diff.old.label)} ({verdict_words(diff.old)})",
    ]
    yield ""
    yield " - ".join(facts)
    policies = diff.old.inputs.policy_digest
    if policies and policies != diff.new.inputs.policy_digest:
        yield ""
        yield f"Each side was judged by its own policies; the old side's are `{short(policies)}`."


def _findings(given: Commented, found: Sequence[Told]) -> Iterator[str]:
    stopping = [*denied(found), *unanswered(found)]
    if stopping:
        yield "**Denials**"
        yield ""
        rows = _by_rule(stopping)
        yield from table(DENIALS, [_finding_cells(*row) for row in rows[:SHOWN_FINDINGS]])
        if len(rows) > SHOWN_FINDINGS:
            # Right below the table it would be a row of it.
            yield ""
        yield from _more(len(rows), SHOWN_FINDINGS, "denial")
        yield ""
    used = waivers_used(found)
    if used:
        yield "**Waivers used**"
        yield ""
        for waiver, items in used[:SHOWN_WAIVERS]:
            what = ", ".join(sorted({f"{i.finding.rule_id} for {i.workload}" for i in items}))
            left = left_words(waiver.expires, given.checked.at)
            words = f"{waiver.id}: {what}; {left}; {approver_words(waiver)}, {waiver.ticket}"
            yield from bullets([words])
        yield from _more(len(used), SHOWN_WAIVERS, "waiver")
        yield ""
    warned = warning(found)
    # What is new is news; a warning that was there before is counted only.
    new = {item.key for item in given.diff.findings.new}
    fresh = [item for item in warned if _key(item) in new]
    if warned:
        yield f"**Warnings**: {len(fresh)} new, {len(warned) - len(fresh)} as before"
        if fresh:
            yield ""
        for item in fresh[:SHOWN_WAIVERS]:
            text = f"{item.workload}: {item.finding.message}"
            yield f"- {_link(item.finding.rule_id)} {escaped(text)}"
        yield from _more(len(fresh), SHOWN_WAIVERS, "warning")


def _capacity(diff: PlanDiff) -> Iterator[str]:
    rows = [row for row in diff.capacity if row.changed]
    if not rows:
        yield "**Capacity**: no change"
        return
    yield f"**Capacity**: {len(rows)} of {len(diff.capacity)} workloads change"
    yield ""
    yield from table(CAPACITY_HEAD, capacity_cells(rows[:SHOWN_WORKLOADS]))
    if diff.flipped or len(rows) > SHOWN_WORKLOADS:
        yield ""
    yield from _more(len(rows), SHOWN_WORKLOADS, "workload")
    yield from bullets(f"flipped - {flip_words(row)}" for row in diff.flipped[:SHOWN_LINES])
    yield from _more(len(diff.flipped), SHOWN_LINES, "flipped decision")


def _cost(diff: PlanDiff) -> Iterator[str]:
    cost = diff.cost
    yield "**Cost**"
    yield ""
    yield from table(COST_HEAD, cost_cells(diff, SHOWN_WORKLOADS))
    yield ""
    dates = cost.price_dates
    told_dates = f"{dates[0]} to {dates[-1]}" if len(dates) > 1 else "".join(dates) or "none"
    words = [f"Prices as of {diff.new.as_of}, dated {told_dates}; sources in the details."]
    words += [f"{line[0].upper()}{line[1:]}." for line in unknown_words(cost)]
    if not (cost.unknown_new or cost.unpriced_options_new):
        words.append("Unknown prices: 0.")
    yield escaped(" ".join(words))


def _residency(diff: PlanDiff) -> Iterator[str]:
    lines = list(residency_lines(diff))
    if not lines:
        yield "**Residency**: no change"
        return
    classes = ", ".join(diff.residency.classes)
    yield f"**Residency** changes{f'; data: {classes}' if classes else ''}"
    yield ""
    yield from bullets(lines[:SHOWN_LINES])
    yield from _more(len(lines), SHOWN_LINES, "change")


def _blast(diff: PlanDiff) -> Iterator[str]:
    lines = list(blast_lines(diff))
    yield f"**Blast radius**: {blast_counts(diff.blast_radius)}"
    if lines:
        yield ""
        yield from bullets(lines[:SHOWN_LINES])
        yield from _more(len(lines), SHOWN_LINES, "line")


def _assumptions(diff: PlanDiff) -> Iterator[str]:
    lines = [moved_words(row) for row in diff.assumptions]
    if not lines:
        yield "**Assumptions**: none moved"
        return
    yield "**Assumptions that moved the result most**"
    yield ""
    yield from bullets(lines[:SHOWN_LINES])
    yield from _more(len(lines), SHOWN_LINES, "assumption")


def _reproduce(given: Commented) -> Iterator[str]:
    stack = given.diff.stack
    yield (
        f"To see it again: `{given.command}`. The whole plan is `out/{stack}/plan.json`; for code "
        f"scanning: `llm-capacity check --stack {stack} --format sarif`."
    )


def _details(given: Commented, found: Sequence[Told]) -> Iterator[str]:
    diff = given.diff
    for item in found:
        finding = item.finding
        text = (
            f"{item.workload} ({item.file}): {finding.message.rstrip('.')}. Observed: "
            f"{value_words(finding.observed)}. Expected: {value_words(finding.expected)}. "
            f"{finding.remedy} {citation_words(finding)}. Waivers: {waivable_words(finding)}"
        )
        yield f"- {finding.verdict} {_link(finding.rule_id)} {escaped(text)}"
    # A table that was not cut above is not told twice.
    yield from whole(diff, SHOWN_WORKLOADS)
    sources = sorted(
        {
            source
            for decision in given.checked.plan.decisions
            if decision.chosen and decision.chosen.cost
            for source in decision.chosen.cost.price_sources
        }
    )
    if sources:
        yield from ("", "### Prices in use", "", *bullets(sources))


def _with_details(lines: list[str], details: list[str]) -> str:
    """Return the comment with its details folded, cut where a host would refuse it."""
    head = "\n".join([*lines, "", "<details><summary>Details</summary>", "", ""])
    tail = "\n\n</details>\n"
    left = LONGEST - len(head) - len(tail) - len(_CUT) - 1
    kept: list[str] = []
    for line in details:
        left -= len(line) + 1
        if left < 0:
            kept.append(_CUT)
            break
        kept.append(line)
    return f"{head}{chr(10).join(kept).strip()}{tail}"


def _by_rule(found: Sequence[Told]) -> list[tuple[Told, int]]:
    """Return the first of each rule's findings on a workload, with how many more there are."""
    groups: dict[tuple[str, str, str], list[Told]] = {}
    for item in found:
        key = (item.finding.rule_id, item.workload, item.finding.verdict)
        groups.setdefault(key, []).append(item)
    return [(items[0], len(items) - 1) for items in groups.values()]


def _finding_cells(item: Told, more: int) -> tuple[str, ...]:
    finding = item.finding
    others = f" and {counted(more, 'more option')}" if more else ""
    subject = finding.subject.removeprefix(f"{item.workload}/")
    return (
        f"{_link(finding.rule_id)} {finding.severity}",
        escaped(f"{item.workload}: {subject}{others}" if subject != item.workload else subject),
        escaped(value_words(finding.observed)),
        escaped(value_words(finding.expected)),
        escaped(finding.remedy),
        escaped(citation_words(finding)),
        escaped(waivable_words(finding)),
    )


def _key(item: Told) -> tuple[str, str, str, str]:
    finding = item.finding
    waiver = finding.waiver.id if finding.waiver else ""
    return (finding.rule_id, item.workload, finding.verdict, waiver)


def _more(count: int, shown: int, what: str) -> Iterator[str]:
    if count > shown:
        yield f"- and {counted(count - shown, f'more {what}')}, in the details"


def _link(rule_id: str) -> str:
    return f"[{rule_id}]({PAGES}/{rule_id}.md)"
