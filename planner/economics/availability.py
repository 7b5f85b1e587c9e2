"""Spares for an availability asked, and a provider's promise held against it."""

from __future__ import annotations

import math
from typing import Literal

from planner.workload import Tier

MAX_SPARES = 64
"""Spares beyond which the pool's nodes are too unreliable for what is asked."""


def pool_availability(needed: int, spares: int, node_availability: float) -> float:
    """Return P(at least ``needed`` of ``needed + spares`` nodes are up).

    Binomial: nodes fail independently. What they share (zone, control plane,
    image) is outside this figure.
    """
    nodes, down = needed + spares, 1 - node_availability
    return min(
        1.0,
        math.fsum(
            math.comb(nodes, lost) * down**lost * node_availability ** (nodes - lost)
            for lost in range(spares + 1)
        ),
    )


def spare_nodes(
    needed: int, availability: float | None, node_availability: float, tier: Tier
) -> int | None:
    """Return the fewest spares of a pool that reach ``availability``; None if too many.

    Batch has no spares (it waits), nor has a pool of which nothing is asked.
    """
    if tier == "batch" or availability is None or needed == 0:
        return 0
    for spares in range(MAX_SPARES + 1):
        if pool_availability(needed, spares, node_availability) >= availability:
            return spares
    return None


def promise_verdict(
    asked: float | None, promised: float | None
) -> Literal["met", "missed", "unverified"]:
    """Hold a provider's promise against the availability asked; no promise is no pass."""
    if asked is None:
        return "met"
    if promised is None:
        return "unverified"
    return "met" if promised >= asked else "missed"
