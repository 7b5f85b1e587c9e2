"""What comes out otherwise when a decision is asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.base import Frozen
from planner.canonical import canonical

SHOWN = 20
"""Differences of one kind that are listed; the rest are counted."""

_COMPARED = (
    "operation",
    "regimes",
    "baseline_digest",
    "input_digest",
    "rules_disabled",
    "verdict",
    "counts",
    "waiver_owners_digest",
    "waivers_used",
    "waivers_expiring_30d",
    "waivers_not_live",
    "waivers_rejected",
)
"""Fields of a record that replaying makes anew, besides its findings and its policy."""


class Difference(Frozen):
    """What came out otherwise, as recorded and as found now."""

    what: str
    recorded: str
    now: str


def differences_of(
    record: Mapping[str, Any], again: Mapping[str, Any], raw_recorded: bytes, raw_now: bytes
) -> Iterator[Difference]:
    """Yield what differs between a record and the one that would be written now.

    The raw findings are those before waivers, as planner.evidence.archive writes them.
    """
    for field in _COMPARED:
        if record.get(field) != again[field]:
            yield _difference(field, record.get(field), again[field])
    if record["policy"].get("rule_count") != again["policy"]["rule_count"]:
        counts = record["policy"].get("rule_count"), again["policy"]["rule_count"]
        yield _difference("policy.rule_count", *counts)
    recorded = [canonical(row) for row in record.get("findings", [])]
    now = [canonical(row) for row in again["findings"]]
    yield from _findings("finding", recorded, now)
    recorded, now = raw_recorded.decode().splitlines(), raw_now.decode().splitlines()
    yield from _findings("raw finding", recorded, now)


def _findings(kind: str, recorded: Sequence[str], now: Sequence[str]) -> Iterator[Difference]:
    """Yield findings that are on one side only, and a change of order alone."""
    lost, new = sorted(set(recorded) - set(now)), sorted(set(now) - set(recorded))
    if not lost and not new and list(recorded) != list(now):
        yield Difference(what=f"{kind}s", recorded="in one order", now="in another")
    for row in lost[:SHOWN]:
        yield _difference(f"{kind} {_named(row)}", json.loads(row), None)
    for row in new[:SHOWN]:
        yield _difference(f"{kind} {_named(row)}", None, json.loads(row))
    rest = max(len(lost) - SHOWN, 0) + max(len(new) - SHOWN, 0)
    if rest:
        yield Difference(what=f"{kind}s", recorded=f"{rest} more differ", now="")


def _named(row: str) -> str:
    finding = json.loads(row)
    return f"{finding.get('rule_id')} on {finding.get('subject')}"


def _difference(what: str, recorded: Any, now: Any) -> Difference:
    return Difference(what=what, recorded=_short(recorded), now=_short(now))


def _short(value: Any) -> str:
    """Return a value in a line: a finding by its verdict and message."""
    if value is None:
        return "none"
    if isinstance(value, Mapping) and {"verdict", "message"} <= set(value):
        value = f"{value['verdict']}: {value['message']}"
    return value if isinstance(value, str) else canonical(value)
