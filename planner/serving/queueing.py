"""Waiting: for the prefill server, and for a slot in the running batch.

Prefills are served one after another (vLLM admits one partial prefill at a
time), so a new request waits as in an M/G/1 queue whose service is a prefill.
Slots are many servers; square-root staffing keeps enough of them free.
"""

from __future__ import annotations

import math

Z_95 = 1.6449
"""The 95th percentile of a standard normal variable."""

TAIL = 0.05
"""Share of requests that may wait longer than the 95th percentile."""

MAX_PREFILL_UTILISATION = 0.90
"""Cap on the prefill server's use: above it the wait grows without useful bound."""

WIDEST_LOG_RATIO = Z_95**2 / 2
"""ln(p95 / mean) of the widest lognormal; a wider ratio is taken as this one."""


def squared_variation(mean: float, p95: float) -> float:
    """Return (deviation / mean)^2 of the lognormal with this mean and 95th percentile.

    A 95th percentile at or below the mean counts as no variation.
    """
    if p95 <= mean:
        return 0.0
    ratio = min(math.log(p95 / mean), WIDEST_LOG_RATIO)
    sigma = Z_95 - math.sqrt(Z_95**2 - 2 * ratio)
    return math.exp(sigma**2) - 1


def wait_p95_seconds(rate: float, service_s: float, variation2: float) -> float:
    """Return the 95th percentile of the M/G/1 wait, infinite at full utilisation.

    The mean is Pollaczek-Khinchine's rate x E[S^2] / 2(1 - rho); a share rho of
    requests waits at all, and their waits are taken as exponential. Grows with
    the rate, the service time and its variation.
    """
    use = rate * service_s
    if use >= 1:
        return math.inf
    if use <= TAIL:
        return 0.0
    mean = rate * service_s**2 * (1 + variation2) / (2 * (1 - use))
    return mean / use * math.log(use / TAIL)


def mean_occupancy(slots: float) -> float:
    """Return the mean of running requests whose 95th percentile just fills ``slots``.

    Solves a + z sqrt(a) = slots: occupancy of an uncongested queue is Poisson.
    """
    return (math.sqrt(Z_95**2 / 4 + slots) - Z_95 / 2) ** 2


def slots_needed(occupancy: float) -> int:
    """Return the slots that 95% of arrivals find free at a mean occupancy."""
    return max(1, math.ceil(occupancy + Z_95 * math.sqrt(occupancy) - 1e-9))


def sequences_held(capacity: float, mean: float, p95: float) -> int:
    """Return how many sequences of varying size a capacity holds, nineteen times in twenty.

    Sizes have this mean and 95th percentile; the sum of n of them is n x mean +
    (p95 - mean) x sqrt(n) at its own 95th percentile, so that a single sequence
    is counted at its 95th percentile and equal sequences by plain division.
    """
    spread = max(0.0, p95 - mean)
    root = (math.sqrt(spread**2 + 4 * mean * capacity) - spread) / (2 * mean)
    held = math.floor(root**2)
    while held > 0 and held * mean + spread * math.sqrt(held) > capacity:
        held -= 1
    while (held + 1) * mean + spread * math.sqrt(held + 1) <= capacity:
        held += 1
    return held
