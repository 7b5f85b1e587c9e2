"""Two limits, units as the user measured them, and what they change in a cost."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from planner.catalog.rows import ProvisionedUnit
from planner.declared.rates import ProvisionedRate, UnitRate
from planner.demand import Demand, TraceSeries
from planner.economics.floor import FloorRules
from planner.economics.given import rate_problems
from planner.economics.prices import PriceBook, describe
from planner.economics.pricing import price_provisioned
from planner.economics.unit_load import CallMix, unit_bursts, unit_curve, unit_weight
from planner.economics.unit_sizing import calls_within, largest_within, size_units
from planner.workload import Lengths

Make = Callable[..., Any]
AS_OF = dt.date(2026, 11, 29)
QUOTE = dt.date(2026, 11, 1)


def given_unit(**changes: object) -> UnitRate:
    fields: dict[str, object] = {
        "kind": "unit",
        "provider": "aws",
        "model": "nova-pro",
        "deployment_type": "provisioned",
        "unit": "MU",
        "input_tokens_per_minute": 40_000.0,
        "output_tokens_per_minute": 8_000.0,
        "output_weight": 0.0,
        "date": QUOTE,
        "ref": "account manager, mail of 1 November",
    }
    return UnitRate.model_validate(fields | changes)


def model_unit(**changes: object) -> ProvisionedUnit:
    book = PriceBook.build(AS_OF, rates=[given_unit(**changes)])
    (row,) = book.unit_rows
    return row


def test_the_tighter_of_two_limits_binds(demand: Make) -> None:
    row = model_unit()
    # An output token is worth 40,000 / 8,000 = 5 input tokens. At a fifth of output:
    # 0.8 of input against 0.2 x 5 = 1.0, so output binds.
    assert unit_weight(demand(), row) == pytest.approx(1.0)
    # At a tenth: 0.9 against 0.5, so input binds.
    assert unit_weight(demand(output_fraction=0.1), row) == pytest.approx(0.9)
    found = size_units(row, CallMix(calls_per_minute=100, prompt_tokens=1_000, output_tokens=300))
    assert (found.binding, found.units) == ("output", 4)  # 30,000 / 8,000 = 3.75
    found = size_units(row, CallMix(calls_per_minute=100, prompt_tokens=1_000, output_tokens=100))
    assert (found.binding, found.units) == ("weighted", 3)  # 100,000 / 40,000 = 2.5


def test_a_trace_finds_the_binding_limit_minute_by_minute(demand: Make) -> None:
    series = TraceSeries(
        requests=(1.0, 1.0), input_tokens=(1_000.0, 1_000.0), output_tokens=(100.0, 400.0)
    )
    curve = unit_curve(demand(series=series), model_unit())
    # max(1,000, 5 x 100) and max(1,000, 5 x 400).
    assert (curve.levels[0], curve.peak) == (1_000.0, 2_000.0)


def test_bursts_follow_the_binding_limit(demand: Make) -> None:
    even = demand(
        prompt_tokens=Lengths(mean=1200.0, p50=1200.0, p95=1200.0),
        output_tokens=Lengths(mean=300.0, p50=300.0, p95=300.0),
    )
    # Equal requests weigh 5 x 300 where output binds, 1,200 where input does.
    assert unit_bursts(even, model_unit()).size_variance_ratio == pytest.approx(1_500.0)
    wide = model_unit(output_tokens_per_minute=40_000.0)
    assert unit_bursts(even, wide).size_variance_ratio == pytest.approx(1_200.0)


def test_one_limit_weighs_as_before(demand: Make, unit: Make) -> None:
    work = demand(cached_fraction=0.3)
    assert unit_weight(work, unit()) == work.weight(4.0, 0.0)
    assert unit_curve(work, unit()) == work.weighted_curve(4.0, 0.0)


def test_a_unit_measured_by_the_user_wins_over_the_datasheet(unit: Make) -> None:
    published = unit(max_prompt_tokens=128_000)
    measured = given_unit(
        provider="azure", model="gpt-4.1", deployment_type="GlobalProvisionedManaged",
        unit="PTU", minimum_units=15, step_units=5, input_tokens_per_minute=2_600.0,
        output_tokens_per_minute=None, output_weight=4.0, cached_input_weight=0.0,
        ref="benchmark 12",
    )  # fmt: skip
    older = measured.model_copy(update={"date": dt.date(2026, 5, 1)})
    book = PriceBook.build(AS_OF, units=[published], rates=[measured, older])
    found = book.unit("azure", "gpt-4.1", "GlobalProvisionedManaged")
    assert found is not None
    assert found.input_tokens_per_minute == 2_600.0
    assert found.as_of == "2026-11-01"
    # What only the provider can say stays the provider's.
    assert (found.max_prompt_tokens, found.target_output_tokens_per_s) == (128_000, 80.0)
    assert found.spillover
    assert describe(found) == (
        "unit row: azure/gpt-4.1/GlobalProvisionedManaged/PTU 2026-11-01 benchmark 12 (user-given)"
    )


def test_a_unit_nobody_published_routes_no_overflow_unless_the_user_says_so() -> None:
    assert not model_unit().spillover
    assert model_unit(deployment_type="reserved", spillover=True).spillover
    assert model_unit().target_output_tokens_per_s is None


def test_a_later_measurement_is_reported_and_not_used() -> None:
    future = given_unit(date=dt.date(2027, 1, 1))
    assert PriceBook.build(AS_OF, rates=[future]).unit_rows == ()
    assert len(rate_problems([future], AS_OF)) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"model": "*"},
        {"input_tokens_per_minute": 0.0},
        {"output_tokens_per_minute": 0.0},
        {"output_weight": -1.0},
        {"minimum_units": 0},
        {"input_tokens_per_minute": float("nan")},
        {"unit": "TPM"},
    ],
)
def test_impossible_units_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        given_unit(**bad)


def test_model_units_are_priced_once_the_user_states_throughput_and_price(
    demand: Make, option: Make
) -> None:
    price = ProvisionedRate(
        kind="provisioned", provider="aws", model="nova-pro", deployment_type="provisioned",
        region="us-east-1", term_months=1, usd_per_unit_month=25_000.0, date=QUOTE, ref="quote 9",
    )  # fmt: skip
    book = PriceBook.build(AS_OF, rates=[given_unit(), price])
    asked = option(
        provider="aws", model="nova-pro", deployment_type="provisioned", region="us-east-1",
        term_months=1, spill=None,
    )  # fmt: skip
    cost = price_provisioned(demand(), asked, book, rules=FloorRules(dedicated=True))
    assert cost.floor is not None
    # 1,500,000 tokens/min at the peak, a fifth output: 300,000 / 8,000 = 37.5 at least.
    assert cost.floor.step.units >= 38
    assert cost.fixed_usd_per_month == cost.floor.step.units * 25_000.0
    assert cost.exit is not None
    assert cost.exit.rule == "Bedrock model units: bound to a model"
    without = PriceBook.build(AS_OF, rates=[price])
    assert price_provisioned(demand(), asked, without, rules=FloorRules()).status == "unknown"


def test_what_a_quota_still_carries(unit: Make) -> None:
    row = unit()
    assert [largest_within(row, quota) for quota in (14, 15, 19, 20, 101)] == [0, 15, 15, 20, 100]
    sizing = size_units(row, CallMix(calls_per_minute=100, prompt_tokens=600, output_tokens=100))
    assert calls_within(sizing, 20) == pytest.approx(60.0)  # 60,000 / (600 + 400)


@given(
    st.floats(min_value=0.01, max_value=0.99),
    st.floats(min_value=0, max_value=1),
    st.floats(min_value=1_000, max_value=1e6),
)
def test_a_second_limit_never_lowers_the_load(f: float, cached: float, limit: float) -> None:
    from tests.economics.conftest import _demand, _unit

    work: Demand = _demand(output_fraction=f, cached_fraction=cached)
    one = _unit()
    two = one.model_copy(update={"output_tokens_per_minute": limit})
    assert unit_weight(work, two) >= unit_weight(work, one)
    assert unit_weight(work, two) >= f * one.input_tokens_per_minute / limit * (1 - 1e-12)
