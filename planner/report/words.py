"""Values, roles and verdicts in words: what a reader who knows no Rego understands."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence

from planner.policy.verdicts import Finding, UsedWaiver, Verdict
from planner.policy.waivers import never_waivable
from planner.units import counted

SHOWN_ITEMS = 8
"""Items of a list that a text shows; JSON holds them all."""

SHOWN_CHARACTERS = 400
"""Characters of a value that a text shows; JSON holds them all."""

MISSING = "<missing>"
"""How policy marks a field that the question leaves out."""

VERDICTS: Mapping[Verdict, str] = {
    "allow": "ALLOW: nothing stops this plan",
    "warn": "ALLOW, with warnings",
    "deny": "DENY: this plan may not proceed",
    "unavailable": "BLOCKED: the policy could not tell, so this plan may not proceed",
}


def verdict_word(verdict: Verdict) -> str:
    """Return the verdict alone, without what it means: ALLOW, with warnings."""
    return VERDICTS[verdict].partition(":")[0]


ROLES: Mapping[str, str] = {
    "ai_risk": "AI risk",
    "budget_owner": "the budget owner",
    "compliance": "compliance",
    "data_protection": "data protection",
    "platform_owner": "the platform owner",
    "procurement": "procurement",
    "security": "security",
    "service_owner": "the service owner",
}
"""Roles of METADATA's ``waivable_by`` in words."""

_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Return ``text`` as one line that no terminal or XML reader stumbles over.

    A message cannot forge lines of the report, and policy's mark of an absent field is
    said in words.
    """
    return " ".join(_UNPRINTABLE.sub(" ", text).replace(MISSING, "(not stated)").split())


def value_words(value: object) -> str:
    """Return a finding's observed or expected value in words; what is cut says so."""
    text = clean(_value(value))
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS].rstrip()} ... (--format json has all of it)"


def roles_words(roles: Sequence[str]) -> str:
    """Return roles in words: "compliance or the platform owner"; nobody for none."""
    named = [ROLES.get(role, role.replace("_", " ")) for role in roles]
    if not named:
        return "nobody"
    *first, last = named
    return f"{', '.join(first)} or {last}" if first else last


def waivable_words(finding: Finding) -> str:
    """Return who can waive a finding, or why nobody can."""
    if finding.waiver is not None:
        used = finding.waiver
        return f"waived by {approver_words(used)}: {used.id}, until {used.expires}"
    if finding.raw_verdict == "unavailable":
        return "nobody: what the policy cannot judge cannot be waived"
    if not finding.waivable_by or never_waivable(finding.rule_id, finding.severity):
        return "nobody: this rule cannot be waived"
    roles = roles_words(finding.waivable_by)
    return f"{roles}; a warning needs none" if finding.raw_verdict == "warn" else roles


def approver_words(used: UsedWaiver) -> str:
    """Return who approved a waiver, in which role, and how that was verified."""
    return f"{clean(used.approver)} as {roles_words([used.approver_role])} ({used.verified_by})"


def left_words(expires: str, at: dt.datetime) -> str:
    """Return how long a waiver that expires at ISO moment ``expires`` still counts."""
    days = days_left(expires, at)
    return f"{counted(days, 'day')} left" if days else "less than a day left"


def days_left(expires: str, at: dt.datetime) -> int:
    """Return the whole days from ``at`` until the ISO moment ``expires``, never below 0."""
    return max((dt.datetime.fromisoformat(expires) - at).days, 0)


def _value(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:,}"
        case Mapping():
            said = (f"{str(key).replace('_', ' ')} {_nested(value[key])}" for key in sorted(value))
            return "; ".join(said) or "(none)"
        case list() | tuple():
            shown = ", ".join(_nested(item) for item in value[:SHOWN_ITEMS])
            more = len(value) - SHOWN_ITEMS
            return f"{shown} and {more} more" if more > 0 else shown or "(none)"
        case _:
            return str(value)


def _nested(value: object) -> str:
    """Return a value inside another: what has parts of its own stands in brackets."""
    if isinstance(value, Mapping):
        return f"({_value(value)})"
    return _value(value)
