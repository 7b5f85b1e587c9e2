"""Waivers: data with an expiry, an approver, a ticket and a narrow scope.

A live waiver turns a denial into a warning and leaves the raw verdict in place. One
function, ``liveness``, decides whether a waiver is live. Residency (RES-*) and whatever is
``unavailable`` cannot be waived. Who may approve is for the owners of the folder that
holds the files (review through CODEOWNERS): an approver's name is recorded, not verified.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from planner.base import Frozen
from planner.errors import InputError
from planner.policy.verdicts import Finding, UsedWaiver
from planner.yamlfile import read_yaml

Liveness = Literal["live", "expired", "not yet granted"]

SCOPE_KEYS = ("stack", "kind", "model", "provider", "region", "deployment_type")
"""What a scope may name; ``stack`` always, and for a workload at least one more."""

MAX_DAYS = 366
"""The longest a waiver may live; longer needs a change of the rule or its data."""

STACK = "stack"
"""The subject of findings about the plan as a whole."""

_BROAD = re.compile(r"[*?%\[\]{}|]|^(any|all|every)$", re.IGNORECASE)

Text = Annotated[str, Field(min_length=1, max_length=500)]


class Waiver(Frozen):
    """One file of the folder; a date without a time means midnight UTC as it begins."""

    id: Annotated[str, Field(pattern=r"^[A-Z]+-[0-9A-Za-z-]+$", max_length=40)]
    rule: Annotated[str, Field(pattern=r"^[A-Z]+-[0-9]{3}$")]
    subject: Text
    scope: dict[str, Text]
    approver: Text
    ticket: Text
    reason: Annotated[str, Field(min_length=10, max_length=2000)]
    granted: dt.datetime
    expires: dt.datetime

    @field_validator("granted", "expires", mode="before")
    @classmethod
    def _moment(cls, value: Any) -> dt.datetime:
        return _moment(value)

    @model_validator(mode="after")
    def _narrow(self) -> Self:
        if self.rule.startswith("RES-"):
            raise ValueError("residency cannot be waived")
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
        if not self.granted < self.expires <= self.granted + dt.timedelta(days=MAX_DAYS):
            raise ValueError(f"it must expire after it is granted, within {MAX_DAYS} days")
        return self


class Rejected(NamedTuple):
    """A waiver file that does not count, and why; it belongs in the report."""

    file: str
    reason: str


class WaiverBook(Frozen):
    """Every waiver that was found: those that can count, and those that cannot."""

    waivers: tuple[Waiver, ...] = ()
    rejected: tuple[Rejected, ...] = ()


NO_WAIVERS = WaiverBook()


def load_waivers(folder: Path) -> WaiverBook:
    """Read every YAML file of ``folder``, one waiver a file; no folder, no waivers."""
    waivers: dict[str, Waiver] = {}
    files: dict[str, str] = {}
    rejected: list[Rejected] = []
    paths = sorted(path for path in folder.glob("*") if path.suffix in (".yaml", ".yml"))
    for path in paths:
        try:
            waiver = _read(path)
        except (InputError, OSError, ValueError) as error:
            rejected.append(Rejected(path.name, _why(error)))
            continue
        if waiver.id in files:
            rejected.append(Rejected(path.name, f"{waiver.id} is also in {files[waiver.id]}"))
            if waivers.pop(waiver.id, None):
                rejected.append(Rejected(files[waiver.id], f"{waiver.id} is given twice"))
            continue
        files[waiver.id] = path.name
        waivers[waiver.id] = waiver
    return WaiverBook(
        waivers=tuple(waivers[id] for id in sorted(waivers)), rejected=tuple(sorted(rejected))
    )


def liveness(waiver: Waiver, at: dt.datetime) -> Liveness:
    """Say whether a waiver counts at a moment: from the grant until just before expiry."""
    if at < waiver.granted:
        return "not yet granted"
    return "live" if at < waiver.expires else "expired"


def expiring(book: WaiverBook, at: dt.datetime, days: int = 30) -> tuple[Waiver, ...]:
    """Return the live waivers that expire within ``days``."""
    end = at + dt.timedelta(days=days)
    return tuple(w for w in book.waivers if liveness(w, at) == "live" and w.expires <= end)


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


def _waived(found: Finding, live: list[Waiver], facts: Mapping[str, Any]) -> Finding:
    if found.raw_verdict != "deny" or found.rule_id.startswith("RES-"):
        return found
    subjects = {found.subject, facts.get("workload")}
    for waiver in live:
        if waiver.rule != found.rule_id or waiver.subject not in subjects:
            continue
        if all(facts.get(key) == value for key, value in waiver.scope.items()):
            return found.model_copy(update={"verdict": "warn", "waiver": used(waiver)})
    return found


def used(waiver: Waiver) -> UsedWaiver:
    """Return the waiver as a finding and a record show it."""
    return UsedWaiver(
        id=waiver.id,
        approver=waiver.approver,
        ticket=waiver.ticket,
        reason=waiver.reason,
        granted=waiver.granted.isoformat(),
        expires=waiver.expires.isoformat(),
        scope=dict(waiver.scope),
    )


def _read(path: Path) -> Waiver:
    content = read_yaml(path, path.name).data
    if not isinstance(content, dict):
        raise ValueError("a waiver file holds one mapping")
    return Waiver.model_validate(content)


def _moment(value: Any) -> dt.datetime:
    """Return a date (its first moment in UTC) or a moment with a time zone."""
    if isinstance(value, str):
        text = value.strip()
        value = dt.date.fromisoformat(text) if len(text) == 10 else dt.datetime.fromisoformat(text)
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            raise ValueError("a time needs its zone, such as 2027-01-31T12:00:00Z")
        return value.astimezone(dt.UTC)
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time(), dt.UTC)
    raise ValueError("write a date such as 2027-01-31")


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        rows = error.errors(include_url=False, include_input=False)
        return "; ".join(
            ": ".join(filter(None, [".".join(map(str, row["loc"])), row["msg"]])) for row in rows
        )
    if isinstance(error, InputError):
        return "; ".join(map(str, error.problems))
    return " ".join(str(error).split())[:300]
