"""The break-even tables of Azure and Google units, reproduced from the catalog's rows alone.

The tables were worked out by hand from the same sources. Two of their figures do not
come to within a point and stay as computed: "280%" for an hourly PTU of GPT-4.1 and
newer is 277.8% for the models worth $0.360 an hour (gpt-4.1, 5.4 and 5.5), and "197%"
for a week of gemini-3.x is 198.4%. o1, o3-mini and gpt-5.1-codex have units but no
pay-as-you-go price in the catalog, so they have no break-even: unknown, not 0.
"""

from __future__ import annotations

import datetime as dt

import pytest

from planner.catalog.loader import load_catalog
from planner.economics.blend import blended_usd_per_mtok
from planner.economics.breakeven import unit_value_usd_per_hour
from planner.economics.prices import PriceBook

UNITS, PAYG = "GlobalProvisionedManaged", "GlobalStandard"
REGION = "swedencentral"
NEWER = [
    "gpt-5.5",
    "gpt-5.4",
    "gpt-5.3-codex",
    "gpt-5.2",
    "gpt-5.2-codex",
    "gpt-5.1",
    "gpt-5",
    "gpt-5-mini",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-4.1-nano",
]


@pytest.fixture(scope="module")
def book() -> PriceBook:
    catalog = load_catalog()
    return PriceBook.build(
        dt.date(2026, 11, 29),
        payg=catalog.payg_prices,
        units=catalog.provisioned_units,
        provisioned=catalog.provisioned_prices,
    )


def percent(book: PriceBook, model: str, term: int, ratio: float, cached: float) -> float:
    """Break-even use of a PTU; ``ratio`` is output over input tokens."""
    unit = book.unit("azure", model, UNITS)
    payg = book.payg("azure", model, PAYG, REGION)
    price = book.provisioned("azure", model, UNITS, REGION, term)
    assert unit is not None
    assert payg is not None
    assert price is not None
    f = ratio / (1 + ratio)
    weight = (1 - f) * (1 - cached * (1 - unit.cached_input_weight)) + f * unit.output_weight
    blended = blended_usd_per_mtok(payg, f, cached)
    worth = unit_value_usd_per_hour(unit.input_tokens_per_minute, blended, weight)
    return 100 * price.usd_per_unit_month / 730 / worth


@pytest.mark.parametrize("model", NEWER)
def test_from_gpt_4_1_on_the_mix_does_not_move_it(book: PriceBook, model: str) -> None:
    shares = [percent(book, model, 12, ratio, 0.0) for ratio in (0.0, 0.05, 0.25, 1.0, 4.0)]
    assert shares == pytest.approx([shares[0]] * 5)
    assert 84.0 <= shares[0] <= 85.0


@pytest.mark.parametrize("model", NEWER)
def test_from_gpt_4_1_on_caching_lowers_it(book: PriceBook, model: str) -> None:
    shares = [percent(book, model, 12, 0.05, cached) for cached in (0.0, 0.3, 0.5, 0.8)]
    assert shares == sorted(shares, reverse=True)
    assert shares[3] < shares[0] - 5


@pytest.mark.parametrize("model", NEWER)
def test_by_the_hour_it_never_pays_and_by_the_month_only_when_full(
    book: PriceBook, model: str
) -> None:
    assert 277.7 <= percent(book, model, 0, 0.05, 0.0) <= 280.8
    assert 98.9 <= percent(book, model, 1, 0.05, 0.0) <= 100.0


@pytest.mark.parametrize(
    ("model", "hourly", "month", "year"),
    [("gpt-4.1", 277.8, 98.9, 84.1), ("gpt-4o", 267, 95, 81), ("gpt-4o-mini", 300, 107, 91)],
)
def test_each_price_of_a_unit(
    book: PriceBook, model: str, hourly: float, month: float, year: float
) -> None:
    found = [percent(book, model, term, 0.05, 0.0) for term in (0, 1, 12)]
    assert found == pytest.approx([hourly, month, year], abs=0.5)


@pytest.mark.parametrize(
    ("model", "ratio", "shares"),
    [
        ("gpt-4.1", 0.05, (84, 78, 71, 56)),
        ("gpt-4.1", 0.25, (84, 81, 78, 72)),
        ("gpt-5.2", 0.05, (85, 83, 80, 75)),
        ("gpt-5.2", 0.25, (85, 84, 83, 82)),
        ("gpt-4o", 0.05, (81, 69, 59, 40)),
        ("gpt-4o", 0.25, (81, 74, 69, 61)),
    ],
)
def test_a_year_by_cached_share_to_the_whole_point(
    book: PriceBook, model: str, ratio: float, shares: tuple[int, ...]
) -> None:
    found = [percent(book, model, 12, ratio, cached) for cached in (0.0, 0.3, 0.5, 0.8)]
    assert found == pytest.approx(list(shares), abs=0.51)


def test_units_without_a_comparator_have_no_break_even(book: PriceBook) -> None:
    for model in ("o1", "o3-mini", "gpt-5.1-codex"):
        assert book.unit("azure", model, UNITS) is not None
        assert book.payg("azure", model, PAYG, REGION) is None


@pytest.mark.parametrize(
    ("model", "shares"),
    [
        ("gemini-2.5-pro", (244.2, 126.4, 112.4, 93.7)),  # by hand 245 / 126 / 113 / 94
        ("gemini-3.1-pro-preview", (198.4, 102.7, 91.3, 76.1)),  # 197 / 102 / 91 / 76
    ],
)
def test_google_units_at_the_price_of_a_week_month_quarter_and_year(
    book: PriceBook, model: str, shares: tuple[float, ...]
) -> None:
    unit = book.unit("gcp", model, "pt_global")
    payg = book.payg("gcp", model, "global", "us-central1")
    assert unit is not None
    assert payg is not None
    weight = 0.8 + 0.2 * unit.output_weight
    worth = 730 * unit_value_usd_per_hour(
        unit.input_tokens_per_minute, blended_usd_per_mtok(payg, 0.2, 0.0), weight
    )
    # A week is $1,200 (no catalog row: terms are whole months); the others are rows.
    monthly = [1_200 * 730 / 168]
    for term in (1, 3, 12):
        price = book.provisioned("gcp", model, "pt_global", "us-central1", term)
        assert price is not None
        monthly.append(price.usd_per_unit_month)
    assert [100 * usd / worth for usd in monthly] == pytest.approx(list(shares), abs=0.06)
