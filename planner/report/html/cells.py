"""Cells, facts and attributes as HTML: each value escaped, each number with its full value.

They are written here and not by the template since there are many: a report of 500 workloads
has some 60,000 cells. What HTML lets out (end tags, quotes) is left out.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from planner.canonical import rounded
from planner.report.html.document import Document
from planner.report.html.model import Linked, Table, Value
from planner.report.html.shown import point_anchor

UNKNOWN = "\N{EN DASH}"
"""What a cell shows where nothing is known or nothing applies; report.js reads it as none."""

_PLAIN = re.compile(r"[A-Za-z0-9._#/-]+")
"""What an attribute's value may be made of to stand without quotes."""

_MANY_TABLES = 400
"""Tables above which a report saves on links that say the same."""

_SHORT = 24
"""Characters that a row's name may have to stay in one line."""

_WIDTHS = (24, 16, 10, 6, 3)
"""Least widths of columns, in the em of style.css."""


class Cells:
    """Writes head and body of tables; what HTML lets out is left out.

    A header cell of the first row is one of its column, one of the first column of its row.

    Of very many tables only the first with a kind of column leads to what explains it.
    """

    def __init__(self, document: Document) -> None:
        tables = sum(part.table is not None for page in document.pages for part in page.sections)
        self._once = tables > _MANY_TABLES
        self._told: set[str] = set()

    def __call__(self, table: Table) -> Markup:
        """Return what stands inside a table element."""
        columns = [
            dataclasses.replace(column, explains=None) if column.explains in self._told else column
            for column in table.columns
        ]
        if self._once:
            self._told |= {column.explains for column in columns if column.explains is not None}
        shown = dataclasses.replace(table, columns=tuple(columns))
        return Markup("".join(_lines(shown)))  # noqa: S704 - every value is escaped below


def _lines(table: Table) -> Iterator[str]:
    numeric = [_numeric(table, at) for at in range(len(table.columns))]
    yield "<thead><tr>"
    for at, (column, right) in enumerate(zip(table.columns, numeric, strict=True)):
        unit = f"<small>{escape(column.unit)}</small>" if column.unit else ""
        mark = " data-n" if right else _width(table, at)
        title = str(escape(column.title))
        if column.explains is not None:
            title = _link(point_anchor(column.explains), title)
        yield f"<th data-k={attribute(column.key)}{mark}>{title}{unit}"
    yield "<tbody>"
    for number, row in enumerate(table.rows):
        yield f"<tr id={attribute(table.row_ids[number])}>\n" if table.row_ids else "<tr>\n"
        for at, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
            tag = "<th" if at == 0 else "<td"
            text, full = _shown(cell, column.digits)
            mark = "" if full is None else f" data-v={full}" if full else " data-v"
            linked = table.explain.get((number, column.key))
            if linked is not None:
                text = _link(linked, text)
            yield f"{tag}{mark}>{text}"


def _link(target: str, text: str) -> str:
    """Return escaped text as a link to an element of the report."""
    return f"<a href={href(target)}>{text}</a>"


def attribute(value: str) -> Markup:
    """Return an attribute's value, quoted where HTML asks for it."""
    if _PLAIN.fullmatch(value):
        return Markup(value)  # noqa: S704 - nothing in it could end the value
    return Markup('"{}"').format(value)


def href(target: str) -> Markup:
    """Return an href to an element of the report."""
    return attribute(f"#{target}")


def _numeric(table: Table, at: int) -> bool:
    """Say whether a column holds numbers, so that its heading stands above them."""
    return any(isinstance(row[at], int | float) for row in table.rows)


def is_short(table: Table) -> bool:
    """Say whether the first column, which names the rows, is short enough for one line."""
    return all(len(str(row[0])) <= _SHORT for row in table.rows)


def _width(table: Table, at: int) -> str:
    """Return the class that keeps a column of long texts from becoming a narrow tower."""
    longest = max((len(str(row[at])) for row in table.rows), default=0)
    return next((f" class=w{width}" for width in _WIDTHS if longest > 6 * width), "")


def value_html(value: Value, digits: int | None) -> Markup:
    """Return a fact's value; a number that is shown with fewer digits is a data element."""
    text, full = _shown(value, digits)
    if not full:
        return Markup(text)  # noqa: S704 - escaped by _shown
    return Markup(f"<data value={full}>{text}</data>")  # noqa: S704 - digits, and text that is escaped


def _shown(value: Value, digits: int | None) -> tuple[str, str | None]:
    """Return a value as escaped text, and its full value: "" where the text shows all of it.

    None for the full value of what is no number.
    """
    if value is None:
        return UNKNOWN, None
    if isinstance(value, bool):
        return ("yes" if value else "no"), None
    if isinstance(value, str):
        return str(escape(value)), None
    if isinstance(value, Linked):
        pieces = (
            (piece.target, str(escape(piece.text)).replace("\n", "<br>")) for piece in value.pieces
        )
        return "".join(_link(to, text) if to else text for to, text in pieces), None
    text = f"{value:,}" if digits is None else f"{value:,.{digits}f}"
    full = exact(value)
    return text, "" if float(text.replace(",", "")) == float(full) else full


def exact(value: Value) -> str:
    """Return a value in full: a float as the plan's JSON has it, for JavaScript to read.

    Raises ValueError for NaN and infinity.
    """
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is no value of a report")
    plain = float(rounded(value))
    return str(int(plain)) if plain.is_integer() and abs(plain) < 1e15 else repr(plain)
