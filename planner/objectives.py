"""Objectives held against what is known of an option; unknown is never a pass where it counts."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decision import Latency, Outcome
from planner.economics.availability import promise_verdict
from planner.economics.cost_types import Cost
from planner.option import Option
from planner.units import format_availability, format_share
from planner.workload import Workload


def missed_objectives(
    workload: Workload,
    option: Option,
    latency: Latency,
    availability: float | None,
    cost: Cost,
) -> tuple[str, ...]:
    """Return each objective that the option misses, in words with numbers.

    A provider's latency that nobody measured is no pass for a critical workload;
    for others it is accepted and shown as unverified.
    """
    return tuple(_misses(workload, option, latency, availability, cost))


def tightest_objective(workload: Workload, outcome: Outcome) -> str:
    """Return the objective that the outcome comes closest to missing."""
    wanted, latency = workload.objectives, outcome.latency
    held: list[tuple[float, str]] = []
    unverified: list[str] = []
    for name, limit, value in _latencies(workload, latency):
        if value is None or (latency is not None and latency.basis == "target"):
            unverified.append(f"{name} {limit:,.0f} ms")
        else:
            held.append((value / limit, f"{name} {value:,.0f} of {limit:,.0f} ms"))
    if wanted.availability is not None and outcome.availability is not None:
        used = (1 - outcome.availability) / (1 - wanted.availability)
        promised = format_availability(outcome.availability)
        held.append(
            (used, f"availability {promised} of {format_availability(wanted.availability)}")
        )
    floor = outcome.cost.floor if outcome.cost else None
    if wanted.max_spill_share < 1 and floor is not None and wanted.max_spill_share > 0:
        used = floor.spill_share / wanted.max_spill_share
        held.append(
            (
                used,
                f"spill {format_share(floor.spill_share)} of "
                f"{format_share(wanted.max_spill_share)}",
            )
        )
    if unverified:
        return f"{', '.join(unverified)} unverified"
    return max(held)[1] if held else "none asked"


def _misses(
    workload: Workload,
    option: Option,
    latency: Latency,
    availability: float | None,
    cost: Cost,
) -> Iterator[str]:
    wanted = workload.objectives
    for name, limit, value in _latencies(workload, latency):
        if value is None and workload.critical:
            yield f"{name} is unverified, which is no pass for a critical workload"
        elif latency.basis == "target" and workload.critical:
            yield f"{name} is only the provider's target, no pass for a critical workload"
        elif value is not None and value > limit:
            yield f"{name} {value:,.0f} ms, {value - limit:,.0f} above the {limit:,.0f} asked"
    # A batch pool has no spares: its work waits for the node instead.
    waits = workload.tier == "batch" and option.kind == "self_hosted"
    verdict = promise_verdict(None if waits else wanted.availability, availability)
    if verdict == "missed":
        promised = format_availability(availability or 0.0)
        yield f"availability {promised} of the {wanted.availability} asked"
    elif verdict == "unverified" and workload.critical:
        yield "availability is not promised, which is no pass for a critical workload"
    if wanted.dedicated and option.kind == "payg":
        yield "dedicated capacity is asked for and pay-as-you-go has none"
    floor = cost.floor
    if wanted.dedicated and option.kind != "payg" and (floor is None or floor.step.units == 0):
        yield "dedicated capacity is asked for and the floor is empty"


def _latencies(
    workload: Workload, latency: Latency | None
) -> Iterator[tuple[str, float, float | None]]:
    wanted = workload.objectives
    if wanted.ttft_p95_ms is not None:
        yield "TTFT p95", wanted.ttft_p95_ms, latency.ttft_p95_ms if latency else None
    if wanted.itl_p95_ms is not None:
        yield "ITL p95", wanted.itl_p95_ms, latency.itl_p95_ms if latency else None
