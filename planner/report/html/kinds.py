"""The kinds of charts: which columns of its table, params and further tables each reads.

A kind draws the columns it names. Where ``lines`` is set, every other column of the table is
a line of its own, named by the column's title and drawn against the first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.report.html.model import Chart, Table


@dataclass(frozen=True)
class Kind:
    """What a chart of one kind reads.

    ``columns`` are keys that the table must have, ``params`` the scalars it may be given,
    ``also`` further data sets with the keys of their columns.
    """

    columns: tuple[str, ...]
    params: tuple[str, ...] = ()
    lines: bool = False
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


KINDS: Mapping[str, Kind] = {
    # USD a month (a column for each option) against tokens a month, both on log scales.
    "cost": Kind(
        columns=("volume",),
        params=("now", "chosen"),  # tokens a month today; title of the chosen option's column
        lines=True,
        also={"crossovers": ("volume", "usd")},
    ),
    # Break-even tokens a month against a share of the mix, 0 to 1.
    "break_even": Kind(
        columns=("share", "tokens"),
        params=("now", "volume", "axis"),  # share today, tokens a month today, title of x
    ),
    # p95 milliseconds against requests a minute of one replica.
    "latency": Kind(
        columns=("rate", "ttft", "itl"),
        params=("ttft_objective", "itl_objective", "peak", "planned"),
    ),
    # FLOP/s reached against FLOPs a byte; the roof is min(peak, bandwidth x intensity).
    "roofline": Kind(
        columns=("phase", "intensity", "reached"),
        params=("peak", "bandwidth"),  # FLOP/s, bytes/s
    ),
    # GPUs and units by place: a bar for each row.
    "fleet": Kind(columns=("place", "class", "count"), params=("axis",)),
    # Tokens a minute against the share of the active minutes, with the floor.
    "demand": Kind(columns=("share", "tokens"), params=("floor",)),
    # What fills a GPU's memory, GiB: one bar, stacked in the order of the rows.
    "memory": Kind(columns=("part", "gib"), params=("total",)),
}
"""By the name that ``Chart.kind`` gives; units are those of planner/curves/types.py."""


def check_chart(chart: Chart, table: Table | None, tables: Mapping[str, Table]) -> None:
    """Raise ValueError for a chart that its table cannot feed: a fault of the page."""
    kind = KINDS.get(chart.kind)
    if kind is None:
        raise ValueError(f"no kind of chart {chart.kind!r}; known: {', '.join(sorted(KINDS))}")
    if table is None:
        raise ValueError(f"a {chart.kind} chart needs a table beside it")
    _check_columns(chart.kind, table, kind.columns)
    if unknown := sorted(set(chart.params) - set(kind.params)):
        raise ValueError(f"a {chart.kind} chart takes no {', '.join(unknown)}")
    for name, id in chart.also.items():
        if name not in kind.also:
            raise ValueError(f"a {chart.kind} chart takes no data set {name!r}")
        if id not in tables:
            raise ValueError(f"table {table.id}: its chart reads {id!r}, which does not exist")
        _check_columns(chart.kind, tables[id], kind.also[name])
    if not chart.alt.strip():
        raise ValueError(f"the chart of table {table.id} has no text for who cannot see it")


def _check_columns(kind: str, table: Table, needed: tuple[str, ...]) -> None:
    missing = [key for key in needed if key not in {column.key for column in table.columns}]
    if missing:
        raise ValueError(f"table {table.id}: a {kind} chart reads {', '.join(missing)}")
