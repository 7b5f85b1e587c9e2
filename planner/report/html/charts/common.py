"""What the chart templates share: named data, theme colours, lines, and rules at a scalar.

A template holds no rows and no colours. The browser puts in the rows of the table beside the
chart, the scalars of its params, and for each ``@name`` a colour of the theme in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

INK, MUTED, GRID, PAPER = "@ink", "@muted", "@grid", "@paper"
COLOURS = tuple(f"@c{number}" for number in range(7))
"""The theme's categorical colours (style.css), told apart by the colour-blind."""

DASHES: tuple[list[int], ...] = ([], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2], [1, 3])
"""Line patterns, so that a line is known without its colour."""

HEIGHT = 280
COMPACT = "~s"
"""The number format of axes: 12k, 3.4M."""

Layer = alt.Chart


def table() -> alt.NamedData:
    """Return the rows of the table beside the chart."""
    return alt.NamedData(name="table")


def scalars(*names: str) -> list[alt.Parameter]:
    """Return params that the browser sets; None (not given) until then."""
    return [alt.param(name=name, value=None) for name in names]


def tokens_axis() -> alt.Axis:
    """Return an axis of token counts: 10^9 reads B (billion), as the texts have it."""
    return alt.Axis(format=COMPACT, labelExpr="replace(datum.label, 'G', 'B')", **_QUIET)


def log_axis(form: str = COMPACT) -> alt.Axis:
    """Return an axis of a log scale."""
    return alt.Axis(format=form, **_QUIET)


def _labelled(value: float) -> dict[str, Any]:
    # Vega leaves the label of a minor tick of a log scale empty.
    return {"condition": {"test": "datum.label === ''", "value": 0}, "value": value}


_QUIET: dict[str, Any] = {"gridOpacity": _labelled(1), "tickOpacity": _labelled(1)}
"""Grid and ticks only where there is a label: a log scale would draw nine for each."""


def rule(
    name: str, *, axis: str, label: str, dash: Sequence[int] = (4, 3), line: int = 0
) -> list[Layer]:
    """Return a rule and its label where the param ``name`` is; nothing without a value.

    ``axis`` is "x" or "y". The label stands at the upper end of a vertical rule (``line``
    lines below it, so that two do not cover each other), above the right end of a
    horizontal one.
    """
    at = (
        alt.Chart(alt.InlineData(values=[{}]))
        .transform_calculate(at=f"{name}", label=f"'{label}'")
        .transform_filter("isValid(datum.at)")
    )
    if axis == "x":
        return [
            at.mark_rule(color=MUTED, strokeDash=[*dash]).encode(x=alt.X("at:Q")),
            at.mark_text(
                align=_by_side("'right'", "'left'"),
                baseline="top",
                dx=_by_side("-4", "4"),
                color=INK,
            ).encode(x=alt.X("at:Q"), y=alt.value(2 + 15 * line), text="label:N"),
        ]
    return [
        at.mark_rule(color=MUTED, strokeDash=[*dash]).encode(y=alt.Y("at:Q")),
        at.mark_text(align="right", baseline="bottom", dx=-4, dy=-2, color=INK).encode(
            x=alt.value("width"), y=alt.Y("at:Q"), text="label:N"
        ),
    ]


def _by_side(right: str, left: str) -> alt.ExprRef:
    """Return one value for what stands near the right edge, where a label has no room."""
    return alt.ExprRef(f"scale('x', datum.at) > 0.75 * width ? {right} : {left}")


def lines_colour(field: str, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return colour and dash of lines by ``field``, one legend for both.

    ``names`` are the lines where they are known. Without, they are those of the data in their
    order, and report.js writes the legend: such names are long.
    """
    domain: dict[str, Any] = {} if names is None else {"domain": [*names]}
    count = len(COLOURS) if names is None else len(names)
    rest: dict[str, Any] = {"title": None, "sort": None}
    if names is None:
        rest["legend"] = None
    return {
        "color": alt.Color(field, scale=alt.Scale(range=[*COLOURS[:count]], **domain), **rest),
        "strokeDash": alt.StrokeDash(
            field, scale=alt.Scale(range=[*DASHES[:count]], **domain), **rest
        ),
    }


def finished(
    layers: Sequence[Layer],
    *params: str,
    height: int | alt.Step = HEIGHT,
    legend_columns: int | alt.ExprRef = 1,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of layers in the look that all charts have."""
    whole = (
        alt.LayerChart(layer=[*layers])
        .add_params(*scalars(*params))
        .properties(width="container", height=height, background="transparent")
        .configure(
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
            padding=4,
            font="@font",
            aria=False,  # the chart as a whole has its text
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            domainColor=MUTED,
            tickColor=MUTED,
            gridColor=GRID,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
            tickCount=5,
            labelOverlap="greedy",
        )
        .configure_legend(
            labelColor=INK,
            orient="top",
            direction="vertical",
            columns=legend_columns,
            labelFontSize=12,
            labelLimit=0,
            symbolSize=240,
            symbolStrokeWidth=2.5,
            padding=0,
            offset=8,
        )
        .configure_text(fontSize=12)
    )
    return dict(whole.to_dict())
