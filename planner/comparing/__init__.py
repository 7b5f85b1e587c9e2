"""One plan held against another: capacity, cost, residency, blast radius, and why."""

from planner.comparing.compare import compare
from planner.comparing.snapshot import Snapshot, nothing, snapshot_of
from planner.comparing.types import PlanDiff

__all__ = ["PlanDiff", "Snapshot", "compare", "nothing", "snapshot_of"]
