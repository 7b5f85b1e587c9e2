"""An audit of what exists, told to people and machines."""

from __future__ import annotations

from typing import Any

from planner import faults
from planner.errors import PlannerError, PolicyDenied, PolicyUnavailable
from planner.pack.audit import Audit
from planner.report.findings import findings_text
from planner.report.words import verdict_word
from planner.units import counted


def audit_document(found: Audit) -> dict[str, Any]:
    """Return an audit as plain data."""
    return {
        "schema_version": 1,
        "stack": found.stack,
        "verdict": found.verdict,
        "resources": found.resources,
        "capacity_digest": found.capacity_digest,
        "findings": [finding.model_dump(mode="json") for finding in found.findings],
    }


def audit_text(found: Audit) -> str:
    """Return an audit as text: the verdict first, then every finding."""
    lines = [
        f"{verdict_word(found.verdict)}. What stack {found.stack} has against its plan",
        f"  {counted(found.resources, 'resource')}, capacity digest {found.capacity_digest}",
        *findings_text(found.findings),
    ]
    return "\n".join(lines) + "\n"


def audit_error(found: Audit) -> PlannerError | None:
    """Return the error that an audit stands for, None where nothing is barred."""
    where = f"stack {found.stack}"
    match found.verdict:
        case "unavailable":
            return PolicyUnavailable(faults.CANNOT_TELL.at(where, "the policy could not tell"))
        case "deny":
            return PolicyDenied(
                faults.STATE_DENIED.at(where, "it has what its plan does not allow")
            )
        case _:
            return None
