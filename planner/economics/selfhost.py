"""Self-hosting: what whole nodes cost, and where they pay.

Unit cost = monthly fixed cost / monthly tokens; fixed cost = machine hours + the
engineering line. Interactive capacity runs all 730 hours of a month; batch nodes
run their window and the time they need to start.
"""

from __future__ import annotations

from planner.economics.blend import MTOK
from planner.economics.breakeven import CommittedStep, break_even
from planner.economics.cost_types import BreakEven
from planner.units import HOURS_PER_MONTH, HOURS_PER_WEEK
from planner.workload import BatchWindow, Tier


def running_hours_per_month(
    tier: Tier, window: BatchWindow | None, startup_hours: float = 0.0
) -> float:
    """Return the hours a month that nodes are paid for.

    730, except for batch with a window: the window plus ``startup_hours`` for
    each day it opens, at most the whole week.
    """
    if tier != "batch" or window is None:
        return HOURS_PER_MONTH
    starts = len(set(window.days))
    weekly = min(HOURS_PER_WEEK, window.hours_per_week + starts * startup_hours)
    return weekly / HOURS_PER_WEEK * HOURS_PER_MONTH


def machines_usd_per_month(
    usd_per_machine_hour: float, machines: float, hours_per_month: float = HOURS_PER_MONTH
) -> float:
    """Return the month's cost of machines (nodes, or GPUs at a price each)."""
    return usd_per_machine_hour * machines * hours_per_month


def unit_cost_usd_per_mtok(fixed_usd_per_month: float, tokens_per_month: float) -> float | None:
    """Return fixed cost over tokens, USD per million; None without tokens."""
    return fixed_usd_per_month / tokens_per_month * MTOK if tokens_per_month > 0 else None


def crossover(
    *,
    usd_per_node_month: float,
    engineering_usd_per_month: float,
    capacity_tokens_per_node_month: float,
    max_nodes: int,
    output_fraction: float,
    cached_fraction: float,
    blended_usd_per_mtok: float,
) -> BreakEven:
    """Return the volume above which nodes beat pay-as-you-go, within what they can serve.

    One node first; where its break-even lies beyond its capacity, the next whole
    node, up to ``max_nodes``. The engineering line is paid once.
    """
    steps = [
        CommittedStep(
            label=f"{nodes} node{'s' if nodes > 1 else ''}",
            commitment_usd_per_month=nodes * usd_per_node_month + engineering_usd_per_month,
            capacity_tokens_per_month=nodes * capacity_tokens_per_node_month,
        )
        for nodes in range(1, max_nodes + 1)
    ]
    return break_even(
        steps,
        output_fraction=output_fraction,
        cached_fraction=cached_fraction,
        blended_usd_per_mtok=blended_usd_per_mtok,
    )
