"""The waivers of a folder: which count at a moment, until when, and which never will."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from typing import Any

from planner.policy.document import instant
from planner.policy.project_owners import LABEL
from planner.policy.waiver_owners import OWNERS_FILE
from planner.policy.waivers import (
    SOON_DAYS,
    Holder,
    VerifiedWaiver,
    WaiverBook,
    begins,
    expiring,
    liveness,
)
from planner.units import counted

SCHEMA_VERSION = 1

NO_APPROVERS = (
    "No approver is named: no waiver can be verified, and none applies. "
    f"Name your organisation's in {LABEL} (docs/waivers.md)."
)


def waivers_document(book: WaiverBook, at: dt.datetime) -> dict[str, Any]:
    """Return the waivers as plain data, judged at a moment, in order of id."""
    return {
        "schema_version": SCHEMA_VERSION,
        "at": instant(at),
        "approvers": book.approvers,
        "owners": {
            "place": _place(book),
            "digest": book.owners_digest,
            "holders": [holder._asdict() for holder in book.holders],
        },
        "notes": list(_notes(book)),
        "waivers": [_row(waiver, at) for waiver in book.waivers],
        "expiring_30d": [waiver.id for waiver in expiring(book, at)],
        "rejected": [row._asdict() for row in book.rejected],
    }


def waivers_text(book: WaiverBook, at: dt.datetime) -> str:
    """Return the waivers as text: how many count, one line each, and what was rejected."""
    soon = {waiver.id for waiver in expiring(book, at)}
    states = Counter(liveness(waiver, at) for waiver in book.waivers)
    parts = [f"{states['live']} live"]
    if soon:
        parts.append(f"{len(soon)} of them to expire within {SOON_DAYS} days")
    parts += [f"{states[state]} {state}" for state in ("not yet granted", "expired")]
    parts.append(f"{len(book.rejected)} rejected")
    lines = [f"Waivers at {instant(at)}: {', '.join(parts)}"]
    for waiver in book.waivers:
        lines += [f"  {line}" for line in _lines(waiver, at, waiver.id in soon)]
    if book.rejected:
        lines += ["", "Rejected, so they waive nothing:"]
        lines += [f"  {row.file}: {row.reason}" for row in book.rejected]
    if book.holders:
        lines += ["", f"Who may approve, by {_place(book)}:"]
        lines += [f"  {_holder(holder)}" for holder in book.holders]
    notes = list(_notes(book))
    lines += ["", *notes] if notes else []
    return "\n".join(lines) + "\n"


def _place(book: WaiverBook) -> str:
    return OWNERS_FILE if book.owners_digest is None else LABEL


def _holder(holder: Holder) -> str:
    ways = " or ".join(f"by {way}" for way in holder.ways) or "no way of approving"
    return f"{holder.id}: {', '.join(holder.roles)}; {ways}"


def _notes(book: WaiverBook) -> Iterator[str]:
    if not book.approvers:
        yield NO_APPROVERS


def _row(waiver: VerifiedWaiver, at: dt.datetime) -> dict[str, Any]:
    return {
        "id": waiver.id,
        "state": liveness(waiver, at),
        "rule": waiver.rule,
        "subject": waiver.subject,
        "scope": dict(sorted(waiver.scope.items())),
        "requested_by": waiver.requested_by,
        "approver": waiver.approver,
        "approver_role": waiver.approval.role,
        "verified_by": waiver.approval.verified_by,
        "approved_at": instant(waiver.approval.at),
        "ticket": waiver.ticket,
        "reason": waiver.reason,
        "granted": instant(waiver.granted),
        "expires": instant(waiver.expires),
        "file": waiver.file,
        "digest": waiver.digest,
    }


def _lines(waiver: VerifiedWaiver, at: dt.datetime, soon: bool) -> Iterator[str]:
    scope = ", ".join(f"{key}={value}" for key, value in sorted(waiver.scope.items()))
    yield f"{waiver.id} {waiver.rule} {waiver.subject} ({scope}): {_state(waiver, at, soon)}"
    approval = waiver.approval
    how = "signed" if approval.verified_by == "signature" else "reviewed"
    yield (
        f"  asked by {waiver.requested_by}; approved by {waiver.approver} as {approval.role}, "
        f"{how} {instant(approval.at)}; {waiver.ticket}: {' '.join(waiver.reason.split())}"
    )


def _state(waiver: VerifiedWaiver, at: dt.datetime, soon: bool) -> str:
    state = liveness(waiver, at)
    if state == "expired":
        return f"expired {instant(waiver.expires)}"
    if state == "not yet granted":
        return f"not yet granted, counts from {instant(begins(waiver))}"
    left = (waiver.expires - at).days
    told = f"live until {instant(waiver.expires)}, {counted(left, 'whole day')} left"
    return f"EXPIRES SOON: {told}" if soon else told
