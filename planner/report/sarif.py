"""The verdict as SARIF 2.1.0, which code scanning of a pull request reads.

A waived denial stays in, as a suppressed result with its justification. An unanswered
question is an error like a denial: a reader of levels must not take it for a pass.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from sarif_pydantic import (
    ArtifactLocation,
    Invocation,
    Level,
    Location,
    LogicalLocation,
    Message,
    PhysicalLocation,
    Region,
    ReportingConfiguration,
    ReportingDescriptor,
    Result,
    Run,
    Sarif,
    Tool,
    ToolDriver,
)
from sarif_pydantic.sarif import Notification, Suppression

from planner.decision import Decision
from planner.policy.document import instant
from planner.policy.verdicts import Finding
from planner.report.findings import Checked, RuleRow, Told, citation_words, told
from planner.report.words import approver_words, clean, roles_words, value_words

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
PAGES = "docs/policies"
FINGERPRINT = "llmCapacityFinding/v1"

_LEVELS = {
    "deny": Level.ERROR,
    "unavailable": Level.ERROR,
    "warn": Level.WARNING,
    "allow": Level.NONE,
}
_SEVERITIES = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}


def sarif(checked: Checked) -> str:
    """Return the SARIF log of one run, newline-terminated."""
    plan, found = checked.plan, told(checked)
    rules = _rules(checked.rules, found)
    index = {rule.id: position for position, rule in enumerate(rules)}
    run = Run(
        tool=Tool(driver=ToolDriver(name="llm-capacity", rules=rules)),
        invocations=[_invocation(checked)],
        results=[
            _result(item, index[item.finding.rule_id], fingerprint)
            for item, fingerprint in zip(found, _fingerprints(plan.stack, found), strict=True)
        ],
        properties={
            "stack": plan.stack,
            "asOf": plan.as_of,
            "verdict": plan.verdict,
            "capacityDigest": plan.capacity_digest,
            "evidenceDigest": plan.evidence_digest,
            "policyDigest": plan.inputs.policy_digest,
        },
    )
    log = Sarif.model_validate({"$schema": SCHEMA, "runs": [run]})
    document = log.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(document, sort_keys=True, indent=2) + "\n"


def _rules(rows: Sequence[RuleRow], found: Sequence[Told]) -> list[ReportingDescriptor]:
    """Return every rule of the manifest and of the findings, by id."""
    said = {item.finding.rule_id: item.finding for item in reversed(found)}
    known = {row.id: row for row in rows}
    return [_rule(id, known.get(id), said.get(id)) for id in sorted({*known, *said})]


def _rule(id: str, row: RuleRow | None, said: Finding | None) -> ReportingDescriptor:
    page = f"{PAGES}/{id}.md"
    title = row.title if row else clean(said.title) if said else id
    severity = row.severity if row else said.severity if said else "critical"
    roles = row.waivable_by if row else said.waivable_by if said else ()
    lines = [f"Who can waive it: {roles_words(roles)}.", f"More: {page}"]
    if said is not None:
        lines = [
            f"What to do: {clean(said.remedy)}",
            f"Rests on: {citation_words(said)}.",
            *lines,
        ]
    return ReportingDescriptor(
        id=id,
        short_description=Message(text=title),
        help=Message(text="\n".join(lines), markdown="\n\n".join(lines)),
        help_uri=page,
        default_configuration=ReportingConfiguration(level=_SEVERITIES.get(severity, "error")),
        properties={"severity": severity, "waivableBy": list(roles)},
    )


def _result(item: Told, rule_index: int, fingerprint: str) -> Result:
    found = item.finding
    text = (
        f"{clean(found.message)}. Observed: {value_words(found.observed)}. "
        f"Expected: {value_words(found.expected)}. What to do: {clean(found.remedy)}"
    )
    extra: dict[str, Any] = {"suppressions": _suppressions(found)}
    return Result(
        rule_id=found.rule_id,
        rule_index=rule_index,
        kind="fail",
        level=_LEVELS[found.verdict],
        message=Message(text=text),
        locations=[
            Location(
                physical_location=PhysicalLocation(
                    artifact_location=ArtifactLocation(uri=quote(item.file)),
                    region=Region(start_line=1),
                ),
                logical_locations=[
                    LogicalLocation(name=item.workload, fully_qualified_name=found.subject)
                ],
            )
        ],
        partial_fingerprints={FINGERPRINT: fingerprint},
        properties={
            "verdict": found.verdict,
            "rawVerdict": found.raw_verdict,
            "severity": found.severity,
            "workload": item.workload,
            "subject": found.subject,
            "observed": found.observed,
            "expected": found.expected,
            "evidence": found.evidence,
            "citation": found.citation.model_dump(),
            "waivableBy": list(found.waivable_by),
        },
        **extra,
    )


def _suppressions(found: Finding) -> list[Mapping[str, Any]]:
    """Return the waiver as a suppression; an empty list says that there is none.

    The models of sarif-pydantic name a single ``suppression``; SARIF has a list of them.
    """
    used = found.waiver
    if used is None:
        return []
    why = f"{used.id}: {used.reason} (approved by {approver_words(used)}, {used.ticket}, until "
    suppression = Suppression(
        kind="external",
        status="accepted",
        justification=clean(f"{why}{used.expires})"),
        properties={"waiver": used.id, "granted": used.granted, "expires": used.expires},
    )
    return [suppression.model_dump(mode="json", by_alias=True, exclude_none=True)]


def _fingerprints(stack: str, found: Sequence[Told]) -> list[str]:
    """Return what names a finding from run to run: neither order nor amounts change it."""
    seen: Counter[str] = Counter()
    names = []
    for item in found:
        field = [part for part in item.finding.evidence.split("/") if not part.isdigit()]
        name = "\0".join([stack, item.finding.rule_id, item.finding.subject, *field])
        seen[name] += 1
        names.append(hashlib.sha256(f"{name}\0{seen[name]}".encode()).hexdigest())
    return names


def _invocation(checked: Checked) -> Invocation:
    """Return the run: a workload that no rule stops and no option serves is noted."""
    infeasible = [d for d in checked.plan.decisions if d.status == "infeasible"]
    extra: dict[str, Any] = {
        "endTimeUtc": instant(checked.at),
        "toolExecutionNotifications": [
            _notification(decision, checked.file_of(decision.workload)) for decision in infeasible
        ],
    }
    stopped = checked.plan.verdict == "unavailable" or infeasible
    return Invocation.model_validate({"executionSuccessful": not stopped, **extra})


def _notification(decision: Decision, file: str) -> dict[str, Any]:
    notification = Notification(
        level=Level.ERROR,
        message=Message(text=clean(f"{decision.workload}: {decision.explanation}")),
        locations=[
            Location(
                physical_location=PhysicalLocation(
                    artifact_location=ArtifactLocation(uri=quote(file))
                )
            )
        ],
    )
    document: dict[str, Any] = notification.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return document
