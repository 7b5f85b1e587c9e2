"""Latency of a self-hosted replica against its load, with the objectives and the peak."""

from __future__ import annotations

from collections.abc import Mapping

from planner.curves.types import LatencyCurve, LatencyPoint
from planner.decision import Decision, SelfHosted
from planner.report.html.model import Chart, Column, Page, Reported, Section, Table
from planner.report.html.words import anchor

COLUMNS = (
    Column("rate", "Requests a minute", "one replica", 1, explains="latency-rate"),
    Column("ttft", "TTFT p95", "ms", 0, explains="latency-ttft"),
    Column("itl", "ITL p95", "ms", 1, explains="latency-itl"),
)

LIMITS: Mapping[str, str] = {
    "kv_cache": "the memory of its KV cache",
    "itl": "the ITL objective",
    "ttft": "the TTFT objective",
    "compute": "arithmetic",
    "bandwidth": "memory bandwidth",
}
"""What caps a replica's rate (planner.serving.sizing_types.Replica.limited_by), in words."""


def page(reported: Reported) -> Page | None:
    """Return a section for each self-hosted workload; None without any."""
    sections = (
        _section(decision, decision.chosen.self_hosted, curves.latency)
        for decision in reported.checked.plan.decisions
        if decision.chosen is not None
        and decision.chosen.self_hosted is not None
        and (curves := reported.curves.get(decision.workload)) is not None
        and curves.latency is not None
    )
    return Page.of("latency", "Latency against load", sections)


def _section(decision: Decision, size: SelfHosted, curve: LatencyCurve) -> Section:
    id = anchor("latency", decision.workload)
    ends = f"{curve.points[0].requests_per_minute:,.0f} to {_rate(curve.points[-1])}"
    alt = (
        f"Lines: TTFT and ITL p95 of a replica of {decision.workload} from {ends} requests a "
        f"minute. {_at_peak(size, curve)}"
    )
    return Section(
        id,
        decision.workload,
        (_at_peak(size, curve), _planned(decision, size, curve)),
        Table(
            f"{id}.table",
            f"Latency of one replica of {decision.workload} by its load, modelled",
            COLUMNS,
            tuple(
                (point.requests_per_minute, point.ttft_p95_ms, point.itl_p95_ms)
                for point in curve.points
            ),
        ),
        Chart(
            "latency",
            alt,
            {
                "ttft_objective": curve.ttft_p95_objective_ms,
                "itl_objective": curve.itl_p95_objective_ms,
                "peak": curve.requests_per_minute_at_peak,
                "planned": curve.requests_per_minute_planned,
            },
        ),
        folded=True,
    )


def _at_peak(size: SelfHosted, curve: LatencyCurve) -> str:
    point = _point(curve, curve.requests_per_minute_at_peak)
    ttft = _against(point.ttft_p95_ms, curve.ttft_p95_objective_ms)
    itl = _against(point.itl_p95_ms, curve.itl_p95_objective_ms)
    each = "the replica" if size.replicas == 1 else f"each of {size.replicas} replicas"
    return (
        f"At the peak of the demand {each} takes {_rate(point)} requests a minute: TTFT p95 "
        f"{ttft}, ITL p95 {itl}."
    )


def _planned(decision: Decision, size: SelfHosted, curve: LatencyCurve) -> str:
    point = _point(curve, curve.requests_per_minute_planned)
    limit = LIMITS[size.replica.limited_by]
    queue = " TTFT leaves the queue of a batch out." if decision.tier == "batch" else ""
    return (
        f"A replica is planned for at most {_rate(point)} requests a minute (limited by "
        f"{limit}). Modelled, not measured: TTFT under load is the least certain figure.{queue}"
    )


def _point(curve: LatencyCurve, rate: float) -> LatencyPoint:
    return next(point for point in curve.points if point.requests_per_minute == rate)


def _against(value: float, objective: float | None) -> str:
    asked = f" of {objective:,.0f} allowed" if objective is not None else ", no objective"
    return f"{value:,.0f} ms{asked}"


def _rate(point: LatencyPoint) -> str:
    return f"{point.requests_per_minute:,.1f}"
