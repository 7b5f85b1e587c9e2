"""Latency of one replica against its load, by the model that sized it."""

from __future__ import annotations

from planner.curves.case import Case
from planner.curves.types import LatencyCurve, LatencyPoint
from planner.decision import Outcome
from planner.serving.queueing import slots_needed
from planner.serving.sizing import profile_of
from planner.serving.sizing_types import Replica
from planner.serving.speed import Load, load_of

STEPS = 14
"""Steps from an idle replica to the rate that it sustains."""

HALVINGS = 48


def latency_curve(case: Case) -> LatencyCurve | None:
    """Return p95 latencies against a replica's rate; None without a self-hosted choice.

    The operating point is a replica's share of the demand's peak, by tokens as the plan
    counts load, at most what it sustains: the rest spills or waits. For the batch tier
    TTFT leaves its queue out, as the plan's does.
    """
    chosen = case.decision.chosen
    if chosen is None or chosen.self_hosted is None:
        return None
    replica = chosen.self_hosted.replica
    load = load_at(case, chosen)
    wanted = case.workload.objectives
    interactive = wanted.ttft_p95_ms is not None or wanted.itl_p95_ms is not None
    planned = replica.requests_per_minute
    peak = peak_rate(case, chosen)
    highest = occupancy_at(load, planned, float(replica.max_num_seqs))
    points = {
        load.rate(occupancy) * 60: occupancy
        for occupancy in (highest * step / STEPS for step in range(STEPS))
    }
    points[peak] = occupancy_at(load, peak, highest)
    points[planned] = highest
    return LatencyCurve(
        points=tuple(
            _point(load, replica, rate, points[rate], interactive=interactive)
            for rate in sorted(points)
        ),
        requests_per_minute_at_peak=peak,
        requests_per_minute_planned=planned,
        ttft_p95_objective_ms=wanted.ttft_p95_ms,
        itl_p95_objective_ms=wanted.itl_p95_ms,
    )


def load_at(case: Case, chosen: Outcome) -> Load:
    """Return the speed model of the chosen replica for the workload's requests."""
    assert chosen.self_hosted is not None  # noqa: S101 - callers have asked
    machine, shape = case.machine(chosen.option)
    multiplier = case.choice(chosen.option).token_multiplier
    profile = profile_of(case.workload.traffic, multiplier)
    length = machine.settings.max_model_len or profile.longest
    return load_of(
        shape,
        chosen.self_hosted.replica.layout,
        machine.accelerator,
        machine.instance.interconnect,
        machine.settings.model_copy(update={"max_model_len": length}),
        profile,
    )


def peak_rate(case: Case, chosen: Outcome) -> float:
    """Return a replica's requests a minute at the demand's peak, at most what it sustains."""
    assert chosen.self_hosted is not None  # noqa: S101 - callers have asked
    size = chosen.self_hosted
    multiplier = case.choice(chosen.option).token_multiplier
    carried = size.replicas * size.replica.tokens_per_minute
    share = min(1.0, case.demand.tokens.peak * multiplier / carried)
    return share * size.replica.requests_per_minute


def occupancy_at(load: Load, requests_per_minute: float, at_most: float) -> float:
    """Return the mean running requests at a rate: the inverse of ``Load.rate``, which rises."""
    low, high = 0.0, at_most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if load.rate(middle) * 60 < requests_per_minute:
            low = middle
        else:
            high = middle
    return high


def _point(
    load: Load, replica: Replica, rate: float, occupancy: float, *, interactive: bool
) -> LatencyPoint:
    """Return the latencies at a rate: ITL in the batch that 19 of 20 arrivals find at most."""
    slots = replica.max_num_seqs
    batch = min(slots, slots_needed(occupancy)) if interactive else occupancy
    return LatencyPoint(
        requests_per_minute=rate,
        ttft_p95_ms=load.ttft_p95(occupancy if interactive else 0.0) * 1000,
        itl_p95_ms=load.tpot(batch) * 1000,
    )
