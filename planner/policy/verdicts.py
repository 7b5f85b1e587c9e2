"""What the policy engine says: verdicts, and findings that explain them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from planner.base import Frozen

Verdict = Literal["allow", "deny", "warn", "unavailable"]
Severity = Literal["low", "medium", "high", "critical"]


class Citation(Frozen):
    """The clause a rule rests on."""

    document: str
    clause: str


class UsedWaiver(Frozen):
    """The waiver that turned a denial into a warning; dates are ISO strings."""

    id: str
    approver: str
    ticket: str
    reason: str
    granted: str
    expires: str
    scope: dict[str, str]


class Finding(Frozen):
    """One rule's word on one subject. ``raw_verdict`` is before waivers.

    ``evidence`` is a JSON pointer into the document the engine was given;
    ``waivable_by`` names the roles that may waive a denial, none for nobody.
    """

    rule_id: str
    title: str
    severity: Severity
    verdict: Verdict
    raw_verdict: Verdict
    message: str
    remedy: str
    citation: Citation
    waivable_by: Annotated[tuple[str, ...], Field(strict=False)]
    subject: str
    observed: Any
    expected: Any
    evidence: str
    waiver: UsedWaiver | None = None


class OptionVerdict(Frozen):
    """The verdict on one option: the worst of its findings, allow if none."""

    option_id: str
    verdict: Verdict
    findings: tuple[Finding, ...]
