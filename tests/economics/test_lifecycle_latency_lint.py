"""The successor's units, a provider's latency, and a ``max_tokens`` far too large."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.loader import load_catalog
from planner.catalog.rows import ProvisionedUnit
from planner.declared.accounts import MeasuredLatency
from planner.economics.latency import provider_latency
from planner.economics.leaky_bucket import Call, bucket_of, simulate
from planner.economics.max_tokens import max_tokens_loss, traffic_loss
from planner.economics.prices import PriceBook
from planner.economics.successor import successor_units
from planner.workload import Lengths, TokensPerMinute, Traffic

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def catalog_book() -> PriceBook:
    catalog = load_catalog()
    return PriceBook.build(dt.date(2026, 11, 29), units=catalog.provisioned_units)


def test_a_floor_of_gpt_4_1_fits_its_successor_and_not_the_next_model(
    demand: Make, option: Make, catalog_book: PriceBook
) -> None:
    # 100 PTU x 3,000 / (0.8 + 0.2 x 4) = 187,500 tokens/min of a fifth output. On gpt-5.1
    # they weigh 0.8 + 0.2 x 8 = 2.4: 450,000 / 4,750 = 94.7 -> 95; on gpt-5.2 / 3,400 -> 135.
    named = load_catalog().model("gpt-4.1").successor
    assert named == "gpt-5.1"
    found = successor_units(demand(), option(), catalog_book, successor=named, floor_units=100)
    assert found.raw_units == pytest.approx(450_000 / 4_750)
    assert (found.units, found.fits) == (95, True)
    worse = successor_units(demand(), option(), catalog_book, successor="gpt-5.2", floor_units=100)
    assert (worse.units, worse.fits) == (135, False)
    assert "do not carry it" in worse.note


def test_a_successor_that_needs_more_tokens_for_the_same_work_needs_more_units(
    demand: Make, option: Make, catalog_book: PriceBook
) -> None:
    found = successor_units(
        demand(), option(), catalog_book, successor="gpt-5.1", floor_units=100,
        token_multiplier=1.0, successor_multiplier=1.5,
    )  # fmt: skip
    assert found.units == 145  # 94.7 x 1.5 = 142.1


@pytest.mark.parametrize("successor", [None, "gpt-6-sol", "gemini-3.6-flash"])
def test_an_unknown_successor_is_never_a_fit(
    demand: Make, option: Make, catalog_book: PriceBook, successor: str | None
) -> None:
    found = successor_units(demand(), option(), catalog_book, successor=successor, floor_units=100)
    assert (found.units, found.fits, found.raw_units) == (None, None, None)
    assert found.note.startswith("no ")


def test_units_of_a_model_that_nobody_published_have_no_successor_size(
    demand: Make, option: Make, catalog_book: PriceBook
) -> None:
    asked = option(model="gpt-unknown")
    found = successor_units(demand(), asked, catalog_book, successor="gpt-5.1", floor_units=15)
    assert found.fits is None


def measured() -> MeasuredLatency:
    return MeasuredLatency(
        provider="azure", model="gpt-4.1", deployment_type="GlobalProvisionedManaged",
        region="swedencentral", ttft_p95_ms=900.0, itl_p95_ms=30.0, date=dt.date(2026, 10, 1),
        ref="run 4",
    )  # fmt: skip


def test_a_target_is_a_floor_labelled_as_one_and_a_measurement_wins(unit: Make) -> None:
    target = provider_latency(None, unit())
    assert (target.basis, target.itl_p95_ms, target.ttft_p95_ms) == ("target", 12.5, None)
    assert "sizing page" in target.source
    found = provider_latency(measured(), unit())
    assert (found.basis, found.itl_p95_ms, found.ttft_p95_ms) == ("measured", 30.0, 900.0)
    assert found.source == "measured 2026-10-01, run 4"


def test_without_target_and_measurement_nothing_is_known(unit: Make) -> None:
    for row in (None, unit(target_output_tokens_per_s=None)):
        assert provider_latency(None, row).basis == "unverified"


def test_a_max_tokens_twenty_times_the_output_loses_most_of_the_burst(unit: Make) -> None:
    # Held 1,000 + 4 x 4,000 = 17,000 against 1,000 + 4 x 200 = 1,800: 89.4% lost.
    found = max_tokens_loss(
        unit(), prompt_tokens=2_000.0, cached_fraction=0.5, output_p95=200.0, max_tokens=4_000.0,
        units=100,
    )  # fmt: skip
    assert found is not None
    assert found.lost_share == pytest.approx(1 - 1_800 / 17_000)
    assert found.lost_units == pytest.approx(89.4, abs=0.05)
    assert "20.0 times the output p95 of 200" in found.message
    assert "89.4% (89.4 of 100 PTU)" in found.message


def test_the_lint_counts_what_the_simulation_refuses(unit: Make) -> None:
    # 100 PTU of 3,000: 100% is 50,000 tokens. From idle 1 + 50,000 // 1,800 = 28 calls at the
    # p95 pass at once, 1 + 50,000 // 17,000 = 3 with max_tokens 4,000: 89% fewer.
    calls = [Call(0.0, 1_000.0, 200.0)] * 100
    passed = [
        100 - simulate(calls, bucket_of(unit(), 100, max_tokens=asked)).refused
        for asked in (200.0, 4_000.0)
    ]
    assert passed == [28, 3]
    assert 1 - passed[1] / passed[0] == pytest.approx(1 - 1_800 / 17_000, abs=0.02)


def test_a_max_tokens_near_the_output_is_left_alone(unit: Make) -> None:
    for asked in (200.0, 400.0):
        assert (
            max_tokens_loss(
                unit(), prompt_tokens=1_000.0, cached_fraction=0.0, output_p95=200.0,
                max_tokens=asked,
            )
            is None
        )  # fmt: skip


def test_the_lint_of_a_declared_workload(unit: Make) -> None:
    traffic = Traffic(
        tokens_per_minute=TokensPerMinute(p10=1.0, p50=2.0, p90=3.0, p99=4.0, peak=5.0),
        output_fraction=0.2,
        prompt_tokens=Lengths(mean=1_200.0, p50=1_000.0, p95=3_000.0),
        output_tokens=Lengths(mean=300.0, p50=250.0, p95=700.0),
        max_tokens=8_192,
    )
    found = traffic_loss(unit(), traffic, 50)
    assert found is not None
    assert found.lost_share == pytest.approx(1 - (1_200 + 2_800) / (1_200 + 4 * 8_192))
    assert traffic_loss(unit(), traffic.model_copy(update={"max_tokens": 1_400})) is None


def test_where_output_has_its_own_limit_the_estimate_counts_against_that(unit: Make) -> None:
    row = unit(output_weight=0.0, output_tokens_per_minute=8_000.0)
    found = max_tokens_loss(
        row, prompt_tokens=9_999.0, cached_fraction=0.0, output_p95=200.0, max_tokens=1_000.0
    )
    assert found is not None
    assert found.lost_share == pytest.approx(0.8)


@given(
    st.floats(min_value=0, max_value=1e5),
    st.floats(min_value=1, max_value=1e4),
    st.floats(min_value=2.001, max_value=1e3),
    st.floats(min_value=1, max_value=10),
)
def test_the_loss_lies_between_none_and_all_and_grows_with_max_tokens(
    prompt: float, p95: float, times: float, more: float
) -> None:
    row = ProvisionedUnit(
        provider="azure", model="m", deployment_type="t", unit="PTU", minimum_units=15,
        step_units=5, input_tokens_per_minute=3_400.0, output_weight=4.0,
        cached_input_weight=0.0, target_output_tokens_per_s=None, source="s",
    )  # fmt: skip

    def lost(asked: float) -> float:
        found = max_tokens_loss(
            row, prompt_tokens=prompt, cached_fraction=0.0, output_p95=p95, max_tokens=asked
        )
        assert found is not None
        return found.lost_share

    assert 0 < lost(p95 * times) <= lost(p95 * times * more) < 1
