"""Bursts inside a minute: laws, and a measured trace."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.demand import Demand, DemandCurve
from planner.economics.bursts import (
    SMOOTHING_WINDOWS,
    Bursts,
    BurstyCurve,
    bursts_of,
    expected_overflow,
    smoothing_window_s,
    squared_variation,
)
from planner.workload import Lengths

TRACE = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces" / "azure2023_conv.csv.gz"
CURVE = DemandCurve(
    shares=(0.0, 0.1, 0.5, 0.9, 0.99, 1.0), levels=(0.0, 1e5, 4e5, 8e5, 1.2e6, 1.5e6)
)
BURSTY = BurstyCurve(curve=CURVE)
LEVEL = st.floats(min_value=0, max_value=3e6)
VARIANCE = st.floats(min_value=0, max_value=1e6)


def test_at_the_floor_half_a_deviation_more_or_less_overflows() -> None:
    # w = F = 10,000 and variance 100 x w: sd 1,000, E[(X - F)+] = 1,000 / sqrt(2 pi).
    assert expected_overflow(1e4, 1e4, 100.0) == pytest.approx(1_000 / math.sqrt(2 * math.pi))
    assert expected_overflow(1e4, 4e3, 0.0) == 6e3
    assert expected_overflow(1e4, 1e6, 100.0) == pytest.approx(0.0, abs=1e-9)


def test_lognormal_variation_from_median_and_p95() -> None:
    # sigma = ln(e) / 1.645 = 0.608; exp(0.3696) - 1 = 0.447
    assert squared_variation(Lengths(mean=9.0, p50=1.0, p95=math.e)) == pytest.approx(
        0.447, abs=1e-3
    )
    assert squared_variation(Lengths(mean=5.0, p50=5.0, p95=5.0)) == 0.0


def test_the_variance_ratio_of_a_demand_by_hand(demand: Callable[..., Demand]) -> None:
    even = demand(
        prompt_tokens=Lengths(mean=1200.0, p50=1200.0, p95=1200.0),
        output_tokens=Lengths(mean=300.0, p50=300.0, p95=300.0),
        cached_fraction=0.5,
    )
    # Equal requests of 600 + 4 x 300 = 1,800 weighted tokens: E[S^2]/E[S] = 1,800.
    bursts = bursts_of(even, "azure", output_weight=4.0, cached_input_weight=0.0)
    assert bursts.size_variance_ratio == pytest.approx(1_800.0)
    assert bursts.variance_per_token(100) == pytest.approx(1_800 * 5)  # 60/10 - 1
    clustered = bursts_of(
        even.model_copy(update={"arrival_dispersion": 3.0}),
        "azure", output_weight=4.0, cached_input_weight=0.0,
    )  # fmt: skip
    assert clustered.size_variance_ratio == pytest.approx(5_400.0)


def test_large_google_orders_are_smoothed_over_less_time() -> None:
    google = tuple(row for row in SMOOTHING_WINDOWS if row.provider == "gcp")
    assert [smoothing_window_s(google, units) for units in (1, 3, 4, 49, 50)] == [40, 40, 5, 5, 1]
    for provider in ("azure", "aws", "gcp"):
        assert any(row.provider == provider and row.source for row in SMOOTHING_WINDOWS)


def test_a_window_of_a_minute_adds_nothing() -> None:
    windows = (SMOOTHING_WINDOWS[0].model_copy(update={"window_s": 60.0}),)
    assert Bursts(size_variance_ratio=1e4, windows=windows).variance_per_token(15) == 0.0


def test_the_covering_level_leaves_next_to_nothing() -> None:
    bursts = Bursts(size_variance_ratio=2_000.0, windows=SMOOTHING_WINDOWS[:1])
    level = bursts.covering_level(CURVE.peak, 500)
    assert level > CURVE.peak
    spilled = BURSTY.expected_above(level, bursts.variance_per_token(500))
    assert spilled / CURVE.mean < 1e-6


def test_cells_keep_the_mean_of_any_curve() -> None:
    samples = DemandCurve.from_samples(float(n * n % 7919) for n in range(2_000))
    for curve in (CURVE, samples, DemandCurve.constant(5.0)):
        cells = BurstyCurve(curve=curve).cells
        assert math.fsum(share for share, _ in cells) == pytest.approx(1.0)
        assert math.fsum(share * mean for share, mean in cells) == pytest.approx(curve.mean)


@given(LEVEL, LEVEL, VARIANCE)
def test_overflow_decreases_with_the_floor(a: float, b: float, variance: float) -> None:
    low, high = sorted((a, b))
    assert BURSTY.expected_above(low, variance) >= BURSTY.expected_above(high, variance) - 1e-6


@given(LEVEL, VARIANCE)
def test_overflow_lies_between_the_integral_without_bursts_and_all_demand(
    level: float, variance: float
) -> None:
    above = BURSTY.expected_above(level, variance)
    assert CURVE.expected_above(level) <= above <= CURVE.mean


@given(LEVEL, VARIANCE, st.floats(min_value=1, max_value=5))
def test_more_variable_traffic_overflows_no_less(
    level: float, variance: float, factor: float
) -> None:
    calm = BURSTY.expected_above(level, variance)
    assert BURSTY.expected_above(level, variance * factor) >= calm - 1e-6


@given(st.floats(min_value=0, max_value=1e6), LEVEL, VARIANCE)
def test_one_minute_overflows_between_its_excess_and_its_load(
    mean: float, level: float, variance: float
) -> None:
    overflow = expected_overflow(mean, level, variance)
    assert max(0.0, mean - level) <= overflow <= mean


@pytest.mark.skipif(not TRACE.is_file(), reason="the shared traces do not lie beside the project")
@pytest.mark.parametrize("window_s", [5, 10, 20])
def test_a_conversation_trace_overflows_as_predicted(window_s: int) -> None:
    # Azure LLM inference trace 2023, conversation (CC-BY 4.0): floors at the median and
    # the 90th percentile of minutes, held against the trace's own windows.
    with gzip.open(TRACE, "rt") as lines:
        rows = list(csv.reader(lines))[1:]
    times = [dt.datetime.fromisoformat(row[0]) for row in rows]
    start, minutes = min(times), int((max(times) - min(times)).total_seconds() // 60)
    by_minute, by_window = defaultdict[int, float](float), defaultdict[int, float](float)
    for moment, row in zip(times, rows, strict=True):
        second = (moment - start).total_seconds()
        load = int(row[1]) + 4.0 * int(row[2])
        by_minute[int(second // 60)] += load
        by_window[int(second // window_s)] += load * 60 / window_s
    curve = DemandCurve.from_samples(by_minute[minute] for minute in range(minutes))
    windows = [by_window[index] for index in range(minutes * 60 // window_s)]
    prompt = Lengths(mean=1154.7, p50=1020.0, p95=4083.0)
    output = Lengths(mean=211.1, p50=129.0, p95=451.0)
    request = prompt.mean + 4 * output.mean
    variance = squared_variation(prompt) * prompt.mean**2
    variance += squared_variation(output) * (4 * output.mean) ** 2
    ratio = (variance + request**2) / request
    row = SMOOTHING_WINDOWS[0].model_copy(update={"window_s": float(window_s)})
    bursts = Bursts(size_variance_ratio=ratio, windows=(row,))
    for share in (0.5, 0.9):
        floor = curve.quantile(share)
        measured = math.fsum(max(0.0, load - floor) for load in windows) / len(windows)
        predicted = BurstyCurve(curve=curve).expected_above(floor, bursts.variance_per_token(15))
        plain = curve.expected_above(floor)
        assert predicted / curve.mean == pytest.approx(measured / curve.mean, abs=0.01)
        assert abs(predicted - measured) < abs(plain - measured)
