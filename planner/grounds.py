"""What a decision rests on: the findings that allow, warn of, or bar what a workload gets."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decision import Decision, Outcome
from planner.policy.verdicts import Finding

STOPPING = ("deny", "unavailable")


def deciding(decision: Decision) -> Iterator[Finding]:
    """Yield the findings that a workload's status rests on."""
    if decision.chosen is not None:
        yield from decision.chosen.findings
    elif decision.status in ("denied", "blocked"):
        yield from blocking(decision)
        for outcome in decision.others:
            if outcome.option.pinned:
                yield from (finding for finding in outcome.findings if finding.waiver is not None)


def blocking(decision: Decision) -> Iterator[Finding]:
    """Yield the findings that keep a workload from having any option, each rule once."""
    seen: set[tuple[str, str]] = set()
    for outcome in field_of(decision):
        for finding in outcome.findings:
            key = (finding.rule_id, finding.subject)
            if finding.verdict in STOPPING and key not in seen:
                seen.add(key)
                yield finding


def field_of(decision: Decision) -> list[Outcome]:
    """Return the options that could have served: the pinned ones, all without a pin."""
    return [o for o in decision.others if o.option.pinned] or list(decision.others)
