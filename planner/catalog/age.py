"""How old a catalog row is on a given day, and which rows are older than they should be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from planner.base import Frozen
from planner.units import counted

MAX_AGE_DAYS = 180
"""Age above which a row is reported, unless told otherwise."""


class StaleRow(Frozen):
    """A row older than the limit, or one whose date cannot be read (``age_days`` None)."""

    row: str
    dated: str
    age_days: int | None
    max_age_days: int
    source: str

    def __str__(self) -> str:
        """Return the warning as one line."""
        age = "has no date" if self.age_days is None else f"is {counted(self.age_days, 'day')} old"
        return f"{self.row} {age} (dated {self.dated}; limit {self.max_age_days}): {self.source}"


def dated(row: object) -> str:
    """Return the date that a row states: that of its price, else of its fact; "" if none."""
    return str(getattr(row, "price_date", "") or getattr(row, "as_of", "") or "")


def age_days(date: str, as_of: dt.date) -> int | None:
    """Return the days from a date to ``as_of``, None when it is no date.

    A month or a year alone counts from its first day: the row may be that old. A date
    after ``as_of`` has age 0.
    """
    parts = date.split("-")
    try:
        numbers = [int(part) for part in parts]
        start = dt.date(*(numbers + [1] * (3 - len(numbers))))
    except (TypeError, ValueError):
        return None
    return max(0, (as_of - start).days)


def label(row: object) -> str:
    """Return what a row is about: its type and the fields that identify it."""
    names = ("provider", "cloud", "name", "instance", "model", "kind", "deployment_type")
    rest = ("concern", "region", "term_months")
    parts = [str(getattr(row, name)) for name in (*names, *rest) if hasattr(row, name)]
    return f"{type(row).__name__} {' '.join(parts)}"


def stale_rows(
    catalog_rows_used: Iterable[object], as_of: dt.date, max_age_days: int = MAX_AGE_DAYS
) -> tuple[StaleRow, ...]:
    """Return the rows older than ``max_age_days`` on ``as_of``, each once, the oldest first."""
    found: dict[str, StaleRow] = {}
    for row in catalog_rows_used:
        date = dated(row)
        age = age_days(date, as_of)
        if age is None or age > max_age_days:
            found[label(row)] = StaleRow(
                row=label(row),
                dated=date or "never",
                age_days=age,
                max_age_days=max_age_days,
                source=str(getattr(row, "source", "")),
            )
    return tuple(
        sorted(
            found.values(),
            key=lambda item: (item.age_days is not None, -(item.age_days or 0), item.row),
        )
    )
