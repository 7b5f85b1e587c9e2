"""What the policy's findings on a plan come to: which decide it, where they are, who waived them.

Every format of ``check`` tells the same ``Checked``; what is in it is all they know.
"""

from __future__ import annotations

import datetime as dt
import json
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.grounds import STOPPING as STOPPING
from planner.grounds import blocking as blocking
from planner.grounds import deciding as deciding
from planner.plan import Plan
from planner.policy.document import instant
from planner.policy.verdicts import Finding, UsedWaiver
from planner.policy.waivers import NO_WAIVERS, STACK, WaiverBook, begins, liveness
from planner.report.words import clean, value_words, waivable_words

SHOWN_FINDINGS = 2
"""Findings of one rule that a text shows for a workload."""

PLATFORM_FILE = "platform.yaml"


class RuleRow(NamedTuple):
    """A rule of the manifest: what was judged even where nothing was found."""

    id: str
    title: str
    severity: str
    stages: tuple[str, ...]
    waivable_by: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """A plan, and what a reader of its verdict needs besides.

    ``at`` is when waivers were judged; ``files`` maps a workload to the file that declares
    it (planner.declare.Stack.files); ``rules`` are those of the manifest.
    """

    plan: Plan
    at: dt.datetime
    files: Mapping[str, str] = field(default_factory=dict)
    waivers: WaiverBook = NO_WAIVERS
    rules: tuple[RuleRow, ...] = ()

    def file_of(self, workload: str) -> str:
        """Return the file that declares a workload; the platform's for anything else."""
        if workload in self.files:
            return self.files[workload]
        folder = posixpath.dirname(min(self.files.values(), default=""))
        return posixpath.join(folder, PLATFORM_FILE)


class Told(NamedTuple):
    """A finding with the workload that it is about (or "stack") and that one's file."""

    finding: Finding
    workload: str
    file: str


class Uncounted(NamedTuple):
    """A waiver, or a file of waivers, that changes nothing here, and why."""

    waiver: str
    reason: str


def rule_rows(manifest: bytes | str) -> tuple[RuleRow, ...]:
    """Return the rules of ``manifest/data.json``, by id."""
    rows = json.loads(manifest)["rules"]
    return tuple(
        RuleRow(
            id=row["id"],
            title=row["title"],
            severity=row["severity"],
            stages=tuple(row["stages"]),
            waivable_by=tuple(row.get("waivable_by", ())),
        )
        for row in sorted(rows, key=lambda row: str(row["id"]))
    )


def told(checked: Checked) -> tuple[Told, ...]:
    """Return the findings that the plan's verdict rests on, the worst first.

    For a decided workload those on its chosen option, for a denied or blocked one those
    that leave it none; then those on the plan as a whole. What a waiver turned into a
    warning is among them.
    """
    plan = checked.plan
    names = [decision.workload for decision in plan.decisions]
    found = [
        Told(finding, decision.workload, checked.file_of(decision.workload))
        for decision in plan.decisions
        for finding in deciding(decision)
    ]
    for finding in plan.findings:
        workload = finding.subject if finding.subject in names else STACK
        found.append(Told(finding, workload, checked.file_of(workload)))
    return tuple(sorted(found, key=_order))


def denied(found: Sequence[Told]) -> list[Told]:
    """Return the denials that no waiver covers."""
    return [item for item in found if item.finding.verdict == "deny"]


def unanswered(found: Sequence[Told]) -> list[Told]:
    """Return those that say that the policy could not tell, which stops a plan as well."""
    return [item for item in found if item.finding.verdict == "unavailable"]


def warning(found: Sequence[Told]) -> list[Told]:
    """Return those that only warn, and were never a denial."""
    return [
        item for item in found if item.finding.verdict == "warn" and item.finding.waiver is None
    ]


def waived(found: Sequence[Told]) -> list[Told]:
    """Return the denials that a waiver turned into warnings."""
    return [item for item in found if item.finding.waiver is not None]


def waivers_used(found: Sequence[Told]) -> list[tuple[UsedWaiver, list[Told]]]:
    """Return each waiver that counts here with what it waives, by id."""
    used: dict[str, tuple[UsedWaiver, list[Told]]] = {}
    for item in waived(found):
        if item.finding.waiver is not None:
            used.setdefault(item.finding.waiver.id, (item.finding.waiver, []))[1].append(item)
    return [used[id] for id in sorted(used)]


def waivers_not_counted(checked: Checked, found: Sequence[Told]) -> list[Uncounted]:
    """Return the waivers of this stack that change nothing, and files that are none."""
    used = {waiver.id for waiver, _ in waivers_used(found)}
    rows = []
    for waiver in checked.waivers.waivers:
        if waiver.id in used or waiver.scope.get("stack") != checked.plan.stack:
            continue
        match liveness(waiver, checked.at):
            case "expired":
                reason = f"expired at {instant(waiver.expires)}"
            case "not yet granted":
                reason = f"counts only from {instant(begins(waiver))}"
            case _:
                reason = f"nothing that decides this plan needs it (rule {waiver.rule})"
        rows.append(Uncounted(waiver.id, reason))
    rows += [Uncounted(row.file, clean(row.reason)) for row in checked.waivers.rejected]
    return sorted(rows)


def finding_lines(finding: Finding, file: str | None = None) -> list[str]:
    """Return a finding as a block that needs no Rego to read."""
    return [
        f"  {finding.verdict.upper()} {finding.rule_id} {clean(finding.title)} "
        f"[{finding.severity}]",
        f"    subject:  {clean(finding.subject)}",
        *([f"    file:     {file}"] if file else []),
        f"    why:      {clean(finding.message)}",
        f"    observed: {value_words(finding.observed)}",
        f"    expected: {value_words(finding.expected)}",
        f"    citation: {citation_words(finding)}",
        f"    remedy:   {clean(finding.remedy)}",
        f"    waivers:  {waivable_words(finding)}",
    ]


def findings_text(findings: Sequence[Finding], files: Mapping[str, str] | None = None) -> list[str]:
    """Return findings as blocks, the first of each rule; the others are counted.

    ``files`` maps subjects to the files that declare them.
    """
    lines: list[str] = []
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule_id, []).append(finding)
    for rule_id, found in sorted(by_rule.items()):
        for finding in found[:SHOWN_FINDINGS]:
            lines += finding_lines(finding, (files or {}).get(finding.subject))
        if len(found) > SHOWN_FINDINGS:
            more = len(found) - SHOWN_FINDINGS
            lines.append(f"  and {more} more of {rule_id}; --format json lists them all")
    return lines


def citation_words(finding: Finding) -> str:
    """Return the clause that a finding rests on."""
    return clean(f"{finding.citation.document}, {finding.citation.clause}")


def _order(item: Told) -> tuple[int, str, str, str, str, str]:
    found = item.finding
    worst_first = ("unavailable", "deny", "warn", "allow")
    rank = worst_first.index(found.verdict)
    return rank, found.rule_id, item.workload, found.subject, found.message, found.evidence
