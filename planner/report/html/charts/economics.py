"""Charts of money and demand: cost against volume, break-even against a share, demand."""

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
    tokens_axis,
)


def cost() -> dict[str, Any]:
    """USD a month of each option against tokens a month, log-log, with crossovers."""
    x = alt.X(
        "x:Q",
        title="tokens a month",
        scale=alt.Scale(type="log", nice=False),
        axis=tokens_axis(),
    )
    y = alt.Y("y:Q", title="USD a month", scale=alt.Scale(type="log"), axis=log_axis("$~s"))
    lines = (
        alt.Chart(table())
        .transform_filter("isValid(datum.y) && datum.y > 0")
        .mark_line()
        .encode(
            x=x,
            y=y,
            **lines_colour("line:N"),
            strokeWidth=alt.condition("datum.line === chosen", alt.value(3.5), alt.value(1.75)),
            tooltip=[
                alt.Tooltip("line:N", title="option"),
                alt.Tooltip("x:Q", title="tokens a month", format=".4s"),
                alt.Tooltip("y:Q", title="USD a month", format="$,.0f"),
            ],
        )
    )
    crossings = (
        alt.Chart(alt.NamedData(name="crossovers"))
        .mark_point(shape="circle", size=70, filled=True, fill=PAPER, stroke=INK, strokeWidth=2)
        .encode(
            x=alt.X("volume:Q"),
            y=alt.Y("usd:Q"),
            tooltip=[
                alt.Tooltip("volume:Q", title="crossover, tokens a month", format=".4s"),
                alt.Tooltip("usd:Q", title="USD a month", format="$,.0f"),
            ],
        )
    )
    layers = [lines, crossings, *rule("now", axis="x", label="today")]
    return finished(layers, "now", "chosen")


def break_even() -> dict[str, Any]:
    """Break-even volume against a share of the mix; gaps lie beyond the capacity."""
    line = (
        alt.Chart(table())
        .transform_filter("isValid(datum.tokens)")
        .mark_line(color=COLOURS[0], strokeWidth=2.5, point=alt.OverlayMarkDef(color=COLOURS[0]))
        .encode(
            x=_share("@axis"),
            y=_tokens("break-even, tokens a month"),
            tooltip=[
                alt.Tooltip("share:Q", title="share", format=".0%"),
                alt.Tooltip("tokens:Q", title="break-even, tokens a month", format=".4s"),
            ],
        )
    )
    layers = (
        line,
        *rule("now", axis="x", label="mix today"),
        *rule("volume", axis="y", label="volume today", dash=(2, 2)),
    )
    return finished(layers, "now", "volume")


def demand() -> dict[str, Any]:
    """Tokens a minute by share of the active minutes; what lies above the floor is shaded."""
    x, y = _share("share of the active minutes at or below"), _tokens("tokens a minute")
    knots = alt.Chart(table())
    above = (
        knots.transform_window(
            next_share="lead(share)", next_tokens="lead(tokens)", sort=[{"field": "share"}]
        )
        .transform_filter("isValid(floor)")
        # Each knot above the floor, and the point where the line crosses it.
        .transform_calculate(
            edge_share="[datum.tokens >= floor ? datum.share : null, "
            "datum.tokens < floor && datum.next_tokens > floor ? "
            "datum.share + (datum.next_share - datum.share) * (floor - datum.tokens) / "
            "(datum.next_tokens - datum.tokens) : null]",
            edge_tokens="[max(datum.tokens, floor), floor]",
            low="floor",
        )
        .transform_flatten(["edge_share", "edge_tokens"])
        .transform_filter("isValid(datum.edge_share)")
        .mark_area(color=COLOURS[1], opacity=0.35)
        .encode(x=alt.X("edge_share:Q"), y=alt.Y("low:Q"), y2=alt.Y2("edge_tokens:Q"))
    )
    line = knots.mark_line(
        color=COLOURS[0], strokeWidth=2.5, point=alt.OverlayMarkDef(color=COLOURS[0])
    ).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("share:Q", title="share of active minutes", format=".1%"),
            alt.Tooltip("tokens:Q", title="tokens a minute", format=",.0f"),
        ],
    )
    return finished([above, line, *rule("floor", axis="y", label="floor")], "floor")


def _share(title: str) -> alt.X:
    """Return the axis of a share from 0 to 1."""
    return alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="~%"))


def _tokens(title: str) -> alt.Y:
    """Return the axis of tokens, from 0."""
    return alt.Y("tokens:Q", title=title, scale=alt.Scale(zero=True), axis=tokens_axis())
