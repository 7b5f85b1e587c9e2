"""What the policy says of a plan, as text and as a document: the verdict comes first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from planner.decision import Decision
from planner.grounds import field_of
from planner.nearest import nearest
from planner.plan import Plan
from planner.policy.document import instant
from planner.policy.verdicts import Finding
from planner.report.findings import (
    STOPPING,
    Checked,
    Told,
    deciding,
    denied,
    findings_text,
    told,
    unanswered,
    waived,
    waivers_not_counted,
    waivers_used,
    warning,
)
from planner.report.words import (
    VERDICTS,
    approver_words,
    clean,
    days_left,
    left_words,
    value_words,
)
from planner.units import counted

SCHEMA_VERSION = 1


def check_text(checked: Checked) -> str:
    """Return the verdict, then what it rests on and the waivers.

    Questions without an answer come first: a regime that no rule knows leaves the policies
    without an answer on every option, and is the cause of what is denied below.
    """
    found = told(checked)
    lines = [headline(checked), f"  {counts_words(found)}", *_causes(checked.plan)]
    lines += _blocks("Questions without an answer", unanswered(found))
    lines += _blocks("Denials", denied(found))
    lines += _blocks("Warnings", warning(found))
    lines += _titled("Waivers used", _used_lines(checked, found))
    uncounted = waivers_not_counted(checked, found)
    lines += _titled("Waivers that do not count", (f"  {w}: {why}" for w, why in uncounted))
    lines += _titled("Workloads", (_workload_line(item) for item in checked.plan.decisions))
    return "\n".join(lines) + "\n"


def check_json(checked: Checked) -> str:
    """Return :func:`check_document` as JSON, newline-terminated."""
    document = check_document(checked)
    return json.dumps(document, sort_keys=True, indent=2) + "\n"


def check_document(checked: Checked) -> dict[str, Any]:
    """Return what the policy says, as plain data.

    ``findings`` are those that the verdict rests on, each with its workload and file;
    ``workloads`` hold those of each, and how many findings of which rule bar options of it;
    ``plan_findings`` what is said of the plan as a whole.
    """
    plan, found = checked.plan, told(checked)
    return {
        "schema_version": SCHEMA_VERSION,
        "stack": plan.stack,
        "as_of": plan.as_of,
        "evaluated_at": instant(checked.at),
        "verdict": plan.verdict,
        "counts": _counts(found),
        "findings": [
            {
                **item.finding.model_dump(mode="json"),
                "workload": item.workload,
                "file": item.file,
            }
            for item in found
        ],
        "waivers_used": [
            {
                **waiver.model_dump(mode="json"),
                "days_left": days_left(waiver.expires, checked.at),
                "waives": sorted({f"{item.finding.rule_id} {item.workload}" for item in items}),
            }
            for waiver, items in waivers_used(found)
        ],
        "waivers_not_counted": [row._asdict() for row in waivers_not_counted(checked, found)],
        "workloads": {
            decision.workload: {
                "file": checked.file_of(decision.workload),
                "status": decision.status,
                "explanation": decision.explanation,
                "findings": [f.model_dump(mode="json") for f in deciding(decision)],
                "options_barred": dict(sorted(_barred(decision).items())),
            }
            for decision in plan.decisions
        },
        "plan_findings": [finding.model_dump(mode="json") for finding in plan.findings],
        "capacity_digest": plan.capacity_digest,
        "evidence_digest": plan.evidence_digest,
    }


def headline(checked: Checked) -> str:
    """Return the verdict in one line; that no option can serve comes before it."""
    plan = checked.plan
    verdict = VERDICTS[plan.verdict]
    infeasible = sorted(d.workload for d in plan.decisions if d.status == "infeasible")
    if infeasible and plan.verdict in ("allow", "warn"):
        verdict = f"INFEASIBLE: no option can serve {', '.join(infeasible)} (policy: {verdict})"
    return f"{verdict}. Stack {plan.stack}, as of {plan.as_of}"


def _causes(plan: Plan) -> list[str]:
    """Return a line for each misspelt name, and each question no option gets an answer to."""
    workloads: dict[tuple[str, str], set[str]] = {}
    for decision in plan.decisions:
        if decision.status != "blocked":
            continue
        asked = [
            {f.rule_id: f for f in outcome.findings if f.verdict == "unavailable"}
            for outcome in field_of(decision)
        ]
        for rule in set.intersection(*map(set, asked)) if asked else ():
            told = {value_words(row[rule].observed) for row in asked}
            what = f"observed {told.pop()}" if len(told) == 1 else f"{len(told)} observations"
            what += f", expected {value_words(asked[0][rule].expected)}"
            workloads.setdefault((rule, what), set()).add(decision.workload)
    misspelt = [line for found in plan.findings for line in _misspelt(found)]
    return misspelt + [
        f"  cause: {rule} gets no answer for any option of {', '.join(sorted(names))}: {what}"
        for (rule, what), names in sorted(workloads.items())
    ]


def _misspelt(found: Finding) -> Iterator[str]:
    """Yield a line for a name that no rule knows, where one of those expected is near."""
    observed, expected = found.observed, found.expected
    if found.verdict != "unavailable" or not isinstance(observed, str):
        return
    known = expected if isinstance(expected, list | tuple) else ()
    if near := nearest(observed, [name for name in known if isinstance(name, str)]):
        yield f"  cause: {found.rule_id}: {clean(found.message)}: did you mean {' or '.join(near)}?"


def counts_words(found: Sequence[Told]) -> str:
    """Return how many findings there are of each kind."""
    counts = _counts(found)
    return ", ".join(counted(counts[f"{kind}s"], kind.replace("_", " ")) for kind in _KINDS)


_KINDS = ("denial", "unanswered_question", "warning", "waived_denial")


def _counts(found: Sequence[Told]) -> dict[str, int]:
    verdicts = Counter(item.finding.verdict for item in found)
    return {
        "denials": verdicts["deny"],
        "unanswered_questions": verdicts["unavailable"],
        "warnings": len(warning(found)),
        "waived_denials": len(waived(found)),
    }


def _titled(title: str, lines: Iterator[str]) -> list[str]:
    body = list(lines)
    return ["", title, *body] if body else []


def _blocks(title: str, found: Sequence[Told]) -> list[str]:
    """Return a section of blocks, workload by workload."""
    lines: list[str] = []
    for workload in sorted({item.workload for item in found}):
        of_one = [item for item in found if item.workload == workload]
        files = {item.finding.subject: item.file for item in of_one}
        lines += findings_text([item.finding for item in of_one], files)
    return _titled(title, iter(lines))


def _used_lines(checked: Checked, found: Sequence[Told]) -> Iterator[str]:
    for waiver, items in waivers_used(found):
        what = sorted({f"{item.finding.rule_id} for {item.workload}" for item in items})
        yield (
            f"  {waiver.id}: {', '.join(what)}; {left_words(waiver.expires, checked.at)} "
            f"(until {waiver.expires}); approved by {approver_words(waiver)}, "
            f"{clean(waiver.ticket)}: {clean(waiver.reason)}"
        )


def _workload_line(decision: Decision) -> str:
    listed = ", ".join(f"{rule} x {count}" for rule, count in sorted(_barred(decision).items()))
    tail = f"options barred: {listed}" if listed else "no option barred"
    why = f" - {clean(decision.explanation)}" if decision.chosen is None else ""
    return f"  {decision.workload}: {decision.status}{why}; {tail}"


def _barred(decision: Decision) -> Counter[str]:
    """Count the findings that bar options of a workload, by rule."""
    return Counter(
        finding.rule_id
        for outcome in decision.others
        for finding in outcome.findings
        if finding.verdict in STOPPING
    )
