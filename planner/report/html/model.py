"""What a page of the report is made of: plain values, no HTML.

A page module has one public function ``page(told: Reported) -> Page | None`` and imports
nothing of the other pages; None leaves it out. A chart holds no data of its own: it draws
the columns of the table beside it, so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from planner.curves.types import Curves
from planner.report.findings import Checked

Value = str | float | int | None
"""A cell: text, a number, or None for what is not known or does not apply."""


@dataclass(frozen=True)
class Reported:
    """What pages tell of: the checked plan, and the curves of each workload by name."""

    checked: Checked
    curves: Mapping[str, Curves] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column: ``key`` is unique in the table, ``unit`` stands in the heading.

    ``digits`` are the decimals shown; the full value stays in the cell's data.
    """

    key: str
    title: str
    unit: str = ""
    digits: int | None = None


@dataclass(frozen=True)
class Table:
    """Rows under columns. ``explain`` maps a (row, column key) to the id of its explanation."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    explain: Mapping[tuple[int, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Chart:
    """A chart of the table beside it: ``kind`` names a template, ``alt`` says what it shows.

    ``params`` are scalars of the template (an objective, today's volume); None leaves the
    mark that needs it out.
    """

    kind: str
    alt: str
    params: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One thing told: a sentence or two, a table, and maybe a chart of that table.

    ``folded`` tables are closed at first; the chart stays in sight.
    """

    id: str
    title: str
    text: tuple[str, ...]
    table: Table | None = None
    chart: Chart | None = None
    folded: bool = False
    level: Literal[2, 3, 4] = 3


@dataclass(frozen=True)
class Page:
    """A page: its place in the contents, and its sections in order."""

    id: str
    title: str
    sections: tuple[Section, ...]
