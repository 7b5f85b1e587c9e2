"""How old a row is, and which are too old."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

import pytest

from planner.catalog.age import age_days, label, stale_rows
from planner.catalog.loader import Catalog

DAY = dt.date(2026, 11, 29)


@pytest.mark.parametrize(
    ("date", "age"),
    [
        ("2026-11-29", 0),
        ("2026-11-28", 1),
        ("2026-11", 28),  # a month counts from its first day
        ("2026", 332),
        ("2027-01-01", 0),
        ("", None),
        ("spring", None),
        ("2026-13-01", None),
    ],
)
def test_age(date: str, age: int | None) -> None:
    assert age_days(date, DAY) == age


def test_stale_rows_come_once_and_the_oldest_first(catalog: Catalog) -> None:
    rows = [row for row in catalog.payg_prices if row.model == "gpt-4.1-mini"]
    assert stale_rows(rows, DAY) == ()
    later = stale_rows([*rows, *rows], dt.date(2027, 6, 1))
    assert len(later) == len(rows)
    assert later[0].age_days == 294
    assert "294 days old (dated 2026-08-11; limit 180): Azure Retail Prices" in str(later[0])
    assert stale_rows(rows, dt.date(2027, 2, 7)) == ()
    assert len(stale_rows(rows, dt.date(2027, 2, 8))) == len(rows)


def test_prices_age_by_their_own_date_and_facts_by_theirs(catalog: Catalog) -> None:
    oldest = stale_rows(catalog.promises, DAY)
    assert oldest[0].dated == "2023-10-04"
    assert all(row.age_days and row.age_days > 180 for row in oldest)


def test_an_undated_row_is_stale() -> None:
    (row,) = stale_rows([SimpleNamespace(name="x", source="s")], DAY)
    assert (row.age_days, row.dated) == (None, "never")
    assert "has no date" in str(row)


def test_labels_are_unique(catalog: Catalog) -> None:
    tables = (catalog.payg_prices, catalog.provisioned_prices, catalog.provisioned_units)
    rows = [row for table in (*tables, catalog.beyond_inference) for row in table]
    assert len({label(row) for row in rows}) == len(rows)
