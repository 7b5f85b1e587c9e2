"""The whole difference between two plans."""

from __future__ import annotations

from planner.comparing.assumptions import assumptions
from planner.comparing.blast import blast_radius
from planner.comparing.capacity import capacity_rows, flipped
from planner.comparing.cost import cost_diff
from planner.comparing.findings import findings_diff
from planner.comparing.residency import residency_diff
from planner.comparing.snapshot import Snapshot, snapshot_of
from planner.comparing.types import PlanDiff, Side
from planner.plan import Plan


def compare(
    old: Plan | Snapshot,
    new: Plan | Snapshot,
    *,
    old_label: str = "baseline",
    new_label: str = "this plan",
) -> PlanDiff:
    """Return how ``new`` differs from ``old``; the labels say where each came from."""
    a = snapshot_of(old) if isinstance(old, Plan) else old
    b = snapshot_of(new) if isinstance(new, Plan) else new
    return PlanDiff(
        stack=b.stack,
        old=_side(a, old_label),
        new=_side(b, new_label),
        capacity=capacity_rows(a, b),
        cost=cost_diff(a, b),
        residency=residency_diff(a, b),
        blast_radius=blast_radius(a.resources, b.resources),
        assumptions=assumptions(a, b),
        flipped=flipped(a, b),
        findings=findings_diff(a, b),
    )


def _side(side: Snapshot, label: str) -> Side:
    return Side(
        label=label,
        kind=side.kind,
        as_of=side.as_of,
        verdict=side.verdict,
        infeasible=side.infeasible,
        capacity_digest=side.capacity_digest,
        evidence_digest=side.evidence_digest,
        inputs=side.inputs,
    )
