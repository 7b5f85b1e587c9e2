"""Waivers: data with an expiry, an approver who is verified, a ticket and a narrow scope.

A live waiver turns a denial into a warning and leaves the raw verdict in place. One
function, ``liveness``, decides whether a waiver is live. Critical residency and whatever is
``unavailable`` cannot be waived. Only a ``VerifiedWaiver`` can be applied: planner.policy
.waiver_files makes them, after planner.policy.approvals has verified who approved.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, model_validator

from planner.base import Frozen
from planner.policy.moments import Moment
from planner.policy.verdicts import Finding, Severity, UsedWaiver

Liveness = Literal["live", "expired", "not yet granted"]

SCOPE_KEYS = ("stack", "kind", "model", "provider", "region", "deployment_type")
"""What a scope may name; ``stack`` always, and for a workload at least one more."""

SOON_DAYS = 30
"""A waiver that expires within so many days is listed."""

STACK = "stack"
"""The subject of findings about the plan as a whole."""

_BROAD = re.compile(r"[*?%\[\]{}|]|^(any|all|every)$", re.IGNORECASE)


def _printable(text: str) -> str:
    # What moves the cursor or turns the direction of writing would forge a report.
    if not " ".join(text.split()).isprintable():
        raise ValueError("it holds characters that cannot be printed")
    return text


Text = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_printable)]
Reason = Annotated[str, Field(min_length=10, max_length=2000), AfterValidator(_printable)]


class Waiver(Frozen):
    """One file of the folder; a date without a time means midnight UTC as it begins."""

    id: Annotated[str, Field(pattern=r"^[A-Z]+-[0-9A-Za-z-]+$", max_length=40)]
    rule: Annotated[str, Field(pattern=r"^[A-Z]+-[0-9]{3}$")]
    subject: Text
    scope: dict[str, Text]
    requested_by: Text
    approver: Text
    ticket: Text
    reason: Reason
    granted: Moment
    expires: Moment

    @model_validator(mode="after")
    def _narrow(self) -> Self:
        unknown = sorted(set(self.scope) - set(SCOPE_KEYS))
        if unknown:
            raise ValueError(f"scope names {', '.join(unknown)}; it may name {SCOPE_KEYS}")
        broad = [text for text in (self.subject, *self.scope.values()) if _BROAD.search(text)]
        if broad:
            raise ValueError(f"too broad: {broad[0]!r} is a pattern, not a name")
        if "stack" not in self.scope or (self.subject != STACK and len(self.scope) < 2):
            raise ValueError(
                "too broad: scope must name the stack and, for a workload, "
                "one of kind, model, provider, region, deployment_type"
            )
        if not self.granted < self.expires:
            raise ValueError("it must expire after it is granted")
        return self


class Approval(Frozen):
    """Proof that an owner of the rule approved exactly this file.

    ``role`` is the one the rule may be waived by; ``at`` is when it was signed or reviewed.
    """

    role: str
    verified_by: Literal["signature", "review"]
    at: dt.datetime


class VerifiedWaiver(Waiver):
    """A waiver whose approval was verified; ``digest`` is the sha256 of its ``file``."""

    file: str
    digest: str
    approval: Approval


class Rejected(NamedTuple):
    """A waiver file that does not count, and why; it belongs in the report."""

    file: str
    reason: str


class Holder(NamedTuple):
    """One whom the owner list names: the roles held, and the ways in which they may approve."""

    id: str
    roles: tuple[str, ...]
    ways: tuple[Literal["signature", "review"], ...]


class WaiverBook(Frozen):
    """Every waiver that was found: those that can count, and those that cannot.

    ``approvers`` is how many people the owner list names: with none, nothing can count.
    ``owners_digest`` is the sha256 of the project's own owner list, None where the list is the
    policies'; ``holders`` are those whom the list names.
    """

    waivers: tuple[VerifiedWaiver, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    approvers: int = 0
    owners_digest: str | None = None
    holders: tuple[Holder, ...] = ()


NO_WAIVERS = WaiverBook()


def begins(waiver: VerifiedWaiver) -> dt.datetime:
    """Return when a waiver begins: when it is granted, and never before it was approved.

    What is granted on a date and approved during that day counts from the approval.
    """
    return max(waiver.granted, waiver.approval.at)


def liveness(waiver: VerifiedWaiver, at: dt.datetime) -> Liveness:
    """Say whether a waiver counts at a moment: from its beginning until just before expiry."""
    if at < begins(waiver):
        return "not yet granted"
    return "live" if at < waiver.expires else "expired"


def expiring(
    book: WaiverBook, at: dt.datetime, days: int = SOON_DAYS
) -> tuple[VerifiedWaiver, ...]:
    """Return the live waivers that expire within ``days``."""
    soon = dt.timedelta(days=days)
    return tuple(w for w in book.waivers if liveness(w, at) == "live" and w.expires - at <= soon)


def never_waivable(rule_id: str, severity: Severity) -> bool:
    """Say whether no waiver may touch the rule, whatever the policy data say."""
    return rule_id.startswith("RES-") and severity == "critical"


def apply_waivers(
    findings: Iterable[Finding],
    book: WaiverBook,
    at: dt.datetime,
    facts_of: Callable[[str], Mapping[str, Any]],
) -> tuple[Finding, ...]:
    """Return the findings with live waivers applied.

    ``facts_of`` gives the facts of a finding's subject: ``workload`` and the keys of a
    scope. A fact that is absent matches nothing.
    """
    live = [waiver for waiver in book.waivers if liveness(waiver, at) == "live"]
    return tuple(_waived(found, live, facts_of(found.subject)) for found in findings)


def _waived(found: Finding, live: list[VerifiedWaiver], facts: Mapping[str, Any]) -> Finding:
    if found.raw_verdict != "deny" or never_waivable(found.rule_id, found.severity):
        return found
    subjects = {found.subject, facts.get("workload")}
    for waiver in live:
        if waiver.rule != found.rule_id or waiver.subject not in subjects:
            continue
        # The engine may serve other policies than those the waiver was verified against.
        if waiver.approval.role not in found.waivable_by:
            continue
        if all(facts.get(key) == value for key, value in waiver.scope.items()):
            return found.model_copy(update={"verdict": "warn", "waiver": used(waiver)})
    return found


def used(waiver: VerifiedWaiver) -> UsedWaiver:
    """Return the waiver as a finding and a record show it."""
    return UsedWaiver(
        id=waiver.id,
        approver=waiver.approver,
        approver_role=waiver.approval.role,
        verified_by=waiver.approval.verified_by,
        digest=waiver.digest,
        ticket=waiver.ticket,
        reason=waiver.reason,
        granted=waiver.granted.isoformat(),
        expires=waiver.expires.isoformat(),
        scope=dict(waiver.scope),
    )
