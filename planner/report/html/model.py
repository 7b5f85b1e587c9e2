"""What a page of the report is made of: plain values, no HTML.

A page module has one public function ``page(told: Reported) -> Page | None`` and imports
nothing of the other pages; None leaves it out. A chart holds no data of its own: it draws
the columns of the table beside it, so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from planner.curves.types import Curves
from planner.report.findings import Checked
from planner.report.html.shown import Shown


@dataclass(frozen=True)
class Link:
    """A piece of text, and the id in the report that it leads to, where it does."""

    text: str
    target: str | None = None


@dataclass(frozen=True)
class Linked:
    """Text in pieces, some of which lead elsewhere in the report; a newline ends a line."""

    pieces: tuple[Link, ...]

    def __str__(self) -> str:
        """Return the text alone."""
        return "".join(piece.text for piece in self.pieces)


Value = str | float | int | Linked | None
"""A cell: text, a number, or None for what is not known or does not apply."""


@dataclass(frozen=True)
class Reported:
    """What pages tell of: the checked plan, and the curves of each workload by name.

    ``shown`` are the explained numbers that the report holds, None without any.
    """

    checked: Checked
    curves: Mapping[str, Curves] = field(default_factory=dict)
    shown: Shown | None = None

    def link(self, workload: str, kind: str) -> str | None:
        """Return where a number of a workload is explained ("" for the stack); else None."""
        return None if self.shown is None else self.shown.link(workload, kind)

    def links(
        self, cells: Mapping[tuple[int, str], tuple[str, str]]
    ) -> Mapping[tuple[int, str], str]:
        """Return a table's ``explain`` of cells that name a workload and a kind of number."""
        found = ((cell, self.link(*named)) for cell, named in cells.items())
        return {cell: target for cell, target in found if target is not None}


@dataclass(frozen=True)
class Column:
    """A column: ``key`` is unique in the table, ``unit`` stands in the heading.

    ``digits`` are the decimals shown; the full value stays in the cell's data.
    ``explains`` is the key of the rule that tells how the points of a curve come about
    (planner.report.numbers.curves): one for the whole column.
    """

    key: str
    title: str
    unit: str = ""
    digits: int | None = None
    explains: str | None = None


@dataclass(frozen=True)
class Table:
    """Rows under columns. ``explain`` maps a (row, column key) to the id of its explanation.

    ``row_ids`` are ids of the rows, one for each, where something leads to them.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    explain: Mapping[tuple[int, str], str] = field(default_factory=dict)
    row_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chart:
    """A chart of the table beside it: ``kind`` names a template, ``alt`` says what it shows.

    The kinds, with the column keys and params that each reads, are in
    planner/report/html/kinds.py. ``params`` are scalars of the template (an objective,
    today's volume); None leaves the mark that needs it out. ``also`` maps a further data set
    of the template (crossovers) to the id of another table of the report.
    """

    kind: str
    alt: str
    params: Mapping[str, Value] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)


Tone = Literal["", "good", "warn", "bad"]
"""How a reader should take what is told; words say it too, never the colour alone."""


@dataclass(frozen=True)
class Fact:
    """A term and what it is, as in a list of key figures; a number keeps its full value.

    ``explain`` is the id of its explanation in the report.
    """

    term: str
    value: Value
    unit: str = ""
    digits: int | None = None
    explain: str | None = None


@dataclass(frozen=True)
class Section:
    """One thing told: a sentence or two, a table, and maybe a chart of that table.

    ``folded`` tables are closed at first; the chart stays in sight. ``facts`` stand before
    the table, as key figures where ``key_figures`` is set, else as a list of terms.
    """

    id: str
    title: str
    text: tuple[str, ...]
    table: Table | None = None
    chart: Chart | None = None
    folded: bool = False
    level: Literal[2, 3, 4] = 3
    facts: tuple[Fact, ...] = ()
    key_figures: bool = False
    tone: Tone = ""


@dataclass(frozen=True)
class Page:
    """A page: its place in the contents, and its sections in order."""

    id: str
    title: str
    sections: tuple[Section, ...]

    @classmethod
    def of(cls, id: str, title: str, sections: Iterable[Section]) -> Page | None:
        """Return a page of these sections; None without any."""
        found = tuple(sections)
        return cls(id, title, found) if found else None
