"""How a plan's verdict is to be taken."""

from __future__ import annotations

from planner.plan import Plan
from planner.report.html.model import Tone


def tone_of(plan: Plan) -> Tone:
    """Return good only where nothing warns or stops; bad where a workload has no decision."""
    undecided = any(decision.chosen is None for decision in plan.decisions)
    if plan.verdict in ("deny", "unavailable") or undecided:
        return "bad"
    return "good" if plan.verdict == "allow" else "warn"
