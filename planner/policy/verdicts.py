"""What the policy engine says: verdicts, and findings that explain them."""

from __future__ import annotations

from collections.abc import Callable, Collection
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
    """The waiver that turned a denial into a warning; dates are ISO strings.

    ``approver_role`` is the role that lets the approver waive the rule, ``verified_by`` how
    the approval was verified, ``digest`` the sha256 of the waiver's file.
    """

    id: str
    approver: str
    approver_role: str
    verified_by: Literal["signature", "review"]
    digest: str
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


class OptionVerdict:
    """The verdict on one option: the worst of its findings, allow if none. Immutable.

    The findings may be given as the function that makes them: most options are never asked
    for theirs, and there can be hundreds of thousands.
    """

    __slots__ = ("_findings", "_option_id", "_verdict")

    def __init__(
        self,
        option_id: str,
        verdict: Verdict,
        findings: tuple[Finding, ...] | Callable[[], tuple[Finding, ...]],
    ) -> None:
        """Take the option's id, the verdict and the findings, or what makes them."""
        self._option_id = option_id
        self._verdict = verdict
        self._findings = findings

    @property
    def option_id(self) -> str:
        """The id of the option."""
        return self._option_id

    @property
    def verdict(self) -> Verdict:
        """The verdict, after waivers."""
        return self._verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, the worst first."""
        if callable(self._findings):
            self._findings = self._findings()
        return self._findings

    def __eq__(self, other: object) -> bool:
        """Whether the other is an equal verdict on the same option for equal reasons."""
        if not isinstance(other, OptionVerdict):
            return NotImplemented
        mine = (self._option_id, self._verdict, self.findings)
        return mine == (other._option_id, other._verdict, other.findings)

    def __hash__(self) -> int:
        """Equal verdicts have equal hashes."""
        return hash((self._option_id, self._verdict))

    def __repr__(self) -> str:
        """Show every field."""
        return (
            f"OptionVerdict(option_id={self._option_id!r}, verdict={self._verdict!r}, "
            f"findings={self.findings!r})"
        )


def run_verdict(statuses: Collection[str], verdicts: Collection[Verdict]) -> Verdict:
    """Return the verdict on a run.

    ``statuses`` are those of its decisions, ``verdicts`` those on the options that were
    chosen and of the findings on the plan. What cannot be told comes before a denial.
    """
    if "blocked" in statuses or "unavailable" in verdicts:
        return "unavailable"
    if "denied" in statuses or "deny" in verdicts:
        return "deny"
    return "warn" if "warn" in verdicts else "allow"
