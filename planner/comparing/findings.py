"""Findings and waivers that are new or gone."""

from __future__ import annotations

from planner.comparing.snapshot import Found, Snapshot
from planner.comparing.types import FindingsDiff, WaiverRow
from planner.policy.verdicts import UsedWaiver


def findings_diff(old: Snapshot, new: Snapshot) -> FindingsDiff:
    """Return what the policy says of one side only."""
    before, after = _by_key(old), _by_key(new)
    waived_before, waived_after = waivers_used(old), waivers_used(new)
    return FindingsDiff(
        new=tuple(after[key] for key in sorted(set(after) - set(before))),
        gone=tuple(before[key] for key in sorted(set(before) - set(after))),
        waivers_new=_only(waived_after, waived_before),
        waivers_gone=_only(waived_before, waived_after),
    )


def waivers_used(side: Snapshot) -> dict[str, WaiverRow]:
    """Return each waiver that counts on a side with what it waives, by id and content."""
    found: dict[str, tuple[UsedWaiver, set[str]]] = {}
    for item in side.findings:
        waiver = item.finding.waiver
        if waiver is not None:
            key = f"{waiver.id} {waiver.digest}"
            found.setdefault(key, (waiver, set()))[1].add(
                f"{item.finding.rule_id} for {item.workload}"
            )
    return {
        key: WaiverRow(waiver=waiver, waives=tuple(sorted(waives)))
        for key, (waiver, waives) in sorted(found.items())
    }


def _by_key(side: Snapshot) -> dict[tuple[str, str, str, str], Found]:
    found: dict[tuple[str, str, str, str], Found] = {}
    for item in side.findings:
        found.setdefault(item.key, item)
    return found


def _only(of_one: dict[str, WaiverRow], of_other: dict[str, WaiverRow]) -> tuple[WaiverRow, ...]:
    return tuple(row for key, row in of_one.items() if key not in of_other)
