"""Charts of serving: latency against load, the roofline, the memory of a GPU, the fleet."""

from __future__ import annotations

from typing import Any

import altair as alt

from planner.report.html.charts.common import (
    COLOURS,
    INK,
    PAPER,
    finished,
    lines_colour,
    log_axis,
    rule,
    table,
)

TTFT, ITL = "TTFT p95", "ITL p95"

FEW = alt.ExprRef("width < 420 ? 2 : 6")
"""Columns of a legend of short names."""


def latency() -> dict[str, Any]:
    """p95 TTFT and ITL of a replica against its requests a minute, log milliseconds."""
    lines = (
        alt.Chart(table())
        .transform_fold(["ttft", "itl"], as_=["measure", "ms"])
        .transform_calculate(line=f"datum.measure === 'ttft' ? '{TTFT}' : '{ITL}'")
        .transform_filter("isValid(datum.ms) && datum.ms > 0")
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("rate:Q", title="requests a minute, one replica", scale=alt.Scale(zero=True)),
            y=alt.Y(
                "ms:Q",
                title="milliseconds (log)",
                scale=alt.Scale(type="log"),
                axis=log_axis(",~r"),
            ),
            **lines_colour("line:N", (TTFT, ITL)),
            tooltip=[
                alt.Tooltip("line:N", title="measure"),
                alt.Tooltip("rate:Q", title="requests a minute", format=",.1f"),
                alt.Tooltip("ms:Q", title="milliseconds", format=",.0f"),
            ],
        )
    )
    layers = (
        lines,
        *rule("ttft_objective", axis="y", label="TTFT objective"),
        *rule("itl_objective", axis="y", label="ITL objective", dash=(2, 2)),
        *rule("peak", axis="x", label="at peak"),
        *rule("planned", axis="x", label="planned limit", dash=(2, 2), line=1),
    )
    return finished(layers, "ttft_objective", "itl_objective", "peak", "planned")


def roofline() -> dict[str, Any]:
    """FLOP/s against FLOPs a byte, log-log: the roof of a GPU, and its phases below it."""
    x = alt.X(
        "intensity:Q",
        title="FLOPs a byte read",
        scale=alt.Scale(type="log", nice=False),
        axis=log_axis(),
    )
    y = alt.Y("reached:Q", title="FLOP/s", scale=alt.Scale(type="log"), axis=log_axis())
    # From a decade left of the ridge and of any point to a decade right of both.
    ends = "[min(0.1 * peak / bandwidth, 0.5 * datum.least), peak / bandwidth, "
    ends += "max(10 * peak / bandwidth, 2 * datum.most)]"
    roof = (
        alt.Chart(table())
        .transform_aggregate(least="min(intensity)", most="max(intensity)")
        .transform_calculate(ends=ends)
        .transform_flatten(["ends"], as_=["intensity"])
        .transform_calculate(reached="min(peak, bandwidth * datum.intensity)")
        .mark_line(color=INK, strokeWidth=2.5)
        .encode(x=x, y=y)
    )
    points = alt.Chart(table()).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("phase:N", title="phase"),
            alt.Tooltip("intensity:Q", title="FLOPs a byte", format=",.1f"),
            alt.Tooltip("reached:Q", title="FLOP/s", format=".3s"),
        ],
    )
    # Each point is named beside it, so there is no legend.
    marks = points.mark_point(size=110, filled=True, opacity=1).encode(
        color=alt.Color("phase:N", sort=None, legend=None, scale=alt.Scale(range=[*COLOURS])),
        shape=alt.Shape("phase:N", sort=None, legend=None),
    )
    labels = points.mark_text(align="left", baseline="top", dx=8, dy=4, color=INK).encode(
        text="phase:N"
    )
    return finished([roof, marks, labels], "peak", "bandwidth")


def memory() -> dict[str, Any]:
    """What fills the memory of a GPU, GiB, as one bar in the order of the rows."""
    bars = (
        alt.Chart(table())
        .mark_bar(stroke=PAPER, strokeWidth=1.5, height=44)
        .encode(
            x=alt.X("gib:Q", title="GiB of one GPU", stack="zero", axis=alt.Axis(format="~r")),
            color=alt.Color("part:N", title=None, sort=None, scale=alt.Scale(range=[*COLOURS])),
            order=alt.Order("row:Q"),
            tooltip=[
                alt.Tooltip("part:N", title="part"),
                alt.Tooltip("gib:Q", title="GiB", format=",.2f"),
            ],
        )
    )
    return finished(
        [bars, *rule("total", axis="x", label="")], "total", height=64, legend_columns=FEW
    )


def fleet() -> dict[str, Any]:
    """A bar for each place, split by class: GPUs, units."""
    bars = (
        alt.Chart(table())
        .mark_bar(stroke=PAPER, strokeWidth=1, height=22)
        .encode(
            x=alt.X("count:Q", title="@axis", stack="zero", axis=alt.Axis(format="~r")),
            y=alt.Y("place:N", title=None, sort=None, axis=alt.Axis(labelLimit=150, grid=False)),
            color=alt.Color("class:N", title=None, sort=None, scale=alt.Scale(range=[*COLOURS])),
            tooltip=[
                alt.Tooltip("place:N", title="place"),
                alt.Tooltip("class:N", title="class"),
                alt.Tooltip("count:Q", title="count", format=","),
            ],
        )
    )
    return finished([bars], height=alt.Step(36), legend_columns=FEW)
