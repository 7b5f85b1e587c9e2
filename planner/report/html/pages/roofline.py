"""The roofline of each self-hosted workload: what prefill and decode reach on its GPU."""

from __future__ import annotations

from planner.curves.types import Roofline, RooflinePoint
from planner.report.html.amounts import rate_words
from planner.report.html.model import Chart, Column, Page, Reported, Section, Table
from planner.report.html.words import anchor
from planner.units import format_share

COLUMNS = (
    Column("phase", "Phase"),
    Column("tokens", "Pass", "tokens", 0, explains="roofline-tokens"),
    Column("intensity", "Intensity", "FLOPs per byte", 1, explains="roofline-intensity"),
    Column("reached", "Reached", "FLOP/s", 0, explains="roofline-reached"),
    Column("roof", "Roof there", "FLOP/s", 0, explains="roofline-roof"),
    Column("bound", "Bound by"),
)


def page(reported: Reported) -> Page | None:
    """Return a section for each self-hosted workload; None without any."""
    sections = (
        _section(decision.workload, curves.roofline)
        for decision in reported.checked.plan.decisions
        if (curves := reported.curves.get(decision.workload)) is not None
        and curves.roofline is not None
    )
    return Page.of("roofline", "Roofline of a GPU", sections)


def roof_at(line: Roofline, flops_per_byte: float) -> float:
    """Return the roof at an intensity, FLOP/s: bandwidth x intensity, at most the peak."""
    return min(line.peak_flops_per_s, line.bandwidth_bytes_per_s * flops_per_byte)


def _section(workload: str, line: Roofline) -> Section:
    id = anchor("roofline", workload)
    told = tuple(_phase(line, point) for point in line.points)
    peak = rate_words(line.peak_flops_per_s, "FLOP/s")
    card = (
        f"{line.accelerator}: {peak} in {line.precision}, "
        f"{rate_words(line.bandwidth_bytes_per_s, 'B/s')}; the ridge is at "
        f"{line.ridge_flops_per_byte:,.0f} FLOPs per byte."
    )
    return Section(
        id,
        workload,
        (card, *told),
        Table(
            f"{id}.table",
            f"Operating points of {workload} on one {line.accelerator}",
            COLUMNS,
            tuple(
                (
                    point.phase,
                    point.tokens,
                    point.flops_per_byte,
                    point.flops_per_s,
                    roof_at(line, point.flops_per_byte),
                    point.bound_by,
                )
                for point in line.points
            ),
        ),
        Chart(
            "roofline",
            f"Roof of one {line.accelerator} in {line.precision}, with the operating points of "
            f"{workload}. {' '.join(told)}",
            {"peak": line.peak_flops_per_s, "bandwidth": line.bandwidth_bytes_per_s},
        ),
        folded=True,
    )


def _phase(line: Roofline, point: RooflinePoint) -> str:
    noun = "requests" if point.phase == "decode" else "prompt tokens"
    of_roof = point.flops_per_s / roof_at(line, point.flops_per_byte)
    return (
        f"{point.phase.capitalize()} of {point.tokens:,.0f} {noun} does "
        f"{point.flops_per_byte:,.0f} FLOPs for a byte it reads: bound by {point.bound_by}, "
        f"{rate_words(point.flops_per_s, 'FLOP/s')}, {format_share(of_roof)} of the roof there."
    )
