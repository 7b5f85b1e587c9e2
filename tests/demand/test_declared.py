"""From a declared workload to its demand."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.demand import (
    TraceSeries,
    demand_of,
    mean_growth_factor,
    mix_problems,
)
from planner.errors import InputError
from planner.workload import BatchWindow, Lengths, Workload

Make = Callable[..., Workload]


def no_trace(name: str) -> TraceSeries:
    raise AssertionError(f"reads {name}")


def test_percentiles_mix_and_requests(workload: Make) -> None:
    demand = demand_of(workload(traffic={"cached_fraction": 0.25}), read_trace=no_trace)
    assert demand.tokens.quantile(0.5) == 200.0
    # A request has 800 + 200 tokens.
    assert demand.requests_per_minute.quantile(0.5) == pytest.approx(0.2)
    assert demand.active_hours_per_month == pytest.approx(730.0)
    split = demand.split_per_month()
    total = demand.tokens.mean * 43_800
    assert demand.tokens_per_month() == pytest.approx(total)
    assert split.total == pytest.approx(total)
    assert split.output == pytest.approx(0.2 * total)
    assert split.cached_input == pytest.approx(0.8 * 0.25 * total)


def test_weighting_counts_output_more_and_cached_input_less(workload: Make) -> None:
    demand = demand_of(workload(traffic={"cached_fraction": 0.5}), read_trace=no_trace)
    # 0.8 x (1 - 0.5 x (1 - 0.1)) + 0.2 x 4 = 0.44 + 0.8
    assert demand.weight(4.0, 0.1) == pytest.approx(1.24)
    assert demand.weighted_curve(4.0, 0.1).quantile(0.5) == pytest.approx(248.0)
    assert demand.weight(1.0, 1.0) == pytest.approx(1.0)


def test_output_burns_quota_five_times(workload: Make) -> None:
    # 10,000 output tokens a minute take 50,000 of a quota with burndown 5 (an AWS
    # Japan article on Bedrock quotas); the input tokens count once.
    everything_out = workload(
        traffic={
            "tokens_per_minute": workload().traffic.tokens_per_minute,
            "output_fraction": 1.0,
        }
    )
    demand = demand_of(everything_out, read_trace=no_trace)
    assert demand.weighted_curve(5.0, 1.0).mean == pytest.approx(5 * demand.tokens.mean)


def test_office_hours_bound_the_month(workload: Make) -> None:
    demand = demand_of(workload(traffic={"active_hours_per_week": 45.0}), read_trace=no_trace)
    assert demand.active_hours_per_month == pytest.approx(45 / 168 * 730)
    assert demand.tokens_per_month() == pytest.approx(demand.tokens.mean * 60 * 45 / 168 * 730)


def test_batch_in_a_window_is_a_constant_load_of_the_same_tokens(workload: Make) -> None:
    window = BatchWindow(hours="22:00-06:00", days=("mon", "tue", "wed", "thu", "fri"))
    traffic = {"active_hours_per_week": 80.0}
    spread = demand_of(workload(tier="batch", traffic=traffic), read_trace=no_trace)
    packed = demand_of(
        workload(tier="batch", traffic=traffic | {"window": window}), read_trace=no_trace
    )
    # 80 active hours in a window of 5 x 8 = 40: twice the mean, all the time.
    assert packed.tokens.mean == pytest.approx(2 * spread.tokens.mean)
    assert packed.tokens.peak == pytest.approx(packed.tokens.mean)
    assert packed.active_hours_per_month == pytest.approx(40 / 168 * 730)
    assert packed.tokens_per_month() == pytest.approx(spread.tokens_per_month())
    assert packed.requests_per_minute.mean == pytest.approx(2 * spread.requests_per_minute.mean)


def test_growth_is_its_mean_over_the_horizon(workload: Make) -> None:
    # g = 1 over 24 months: (2^2 - 1) / (2 ln 2) = 2.164
    assert mean_growth_factor(1.0, 24) == pytest.approx(3 / (2 * math.log(2)))
    assert mean_growth_factor(0.0, 24) == 1.0
    demand = demand_of(workload(growth_per_year=1.0, horizon_months=24), read_trace=no_trace)
    flat = demand_of(workload(), read_trace=no_trace)
    assert demand.tokens.mean == pytest.approx(flat.tokens.mean * 3 / (2 * math.log(2)))
    assert demand.end_growth_factor == pytest.approx(4.0)


@given(st.floats(min_value=0, max_value=10), st.integers(min_value=1, max_value=60))
def test_mean_growth_lies_between_start_and_end(growth: float, months: int) -> None:
    factor = mean_growth_factor(growth, months)
    assert 1.0 - 1e-12 <= factor <= (1 + growth) ** (months / 12) + 1e-9


def test_a_trace_is_weighted_minute_by_minute(workload: Make) -> None:
    series = TraceSeries(requests=(1.0, 2.0), input_tokens=(80.0, 80.0), output_tokens=(0.0, 40.0))
    declared = workload(traffic={"tokens_per_minute": None, "trace": "t.csv", "trace_scale": 2.0})
    demand = demand_of(declared, read_trace=lambda name: series)
    assert demand.output_fraction == pytest.approx(0.2)
    assert demand.tokens.peak == pytest.approx(240.0)
    assert demand.requests_per_minute.peak == pytest.approx(4.0)
    weighted = demand.weighted_curve(4.0, 1.0)
    # Scaled by 2: 160 + 4 x 0 and 160 + 4 x 80; the mean equals that of the mean mix.
    assert (weighted.quantile(0.0), weighted.peak) == (pytest.approx(160.0), pytest.approx(480.0))
    assert weighted.mean == pytest.approx(demand.tokens.mean * demand.weight(4.0, 1.0))


def test_a_trace_that_contradicts_the_stated_mix_is_refused(workload: Make) -> None:
    series = TraceSeries(requests=(1.0,), input_tokens=(60.0,), output_tokens=(40.0,))
    declared = workload(traffic={"tokens_per_minute": None, "trace": "t.csv"})
    with pytest.raises(InputError, match=r"says 0\.200 .* the trace has 0\.400"):
        demand_of(declared, read_trace=lambda name: series)


def test_a_token_multiplier_changes_tokens_not_requests(workload: Make) -> None:
    demand = demand_of(workload(), read_trace=no_trace)
    reasoning = demand.with_token_multiplier(1.5)
    assert reasoning.tokens.mean == pytest.approx(1.5 * demand.tokens.mean)
    assert reasoning.prompt_tokens.mean == pytest.approx(1200.0)
    assert reasoning.requests_per_minute == demand.requests_per_minute
    assert demand.with_token_multiplier(1.0) is demand


def test_the_stated_mix_must_follow_from_the_lengths(workload: Make) -> None:
    assert mix_problems(workload()) == []
    assert mix_problems(workload(traffic={"output_fraction": 0.229})) == []
    (problem,) = mix_problems(workload(traffic={"output_fraction": 0.5}))
    assert problem.where == "traffic.output_fraction"
    assert "imply 0.200" in problem.what
    longer = Lengths(mean=800.0, p50=700.0, p95=900.0)
    assert mix_problems(workload(traffic={"output_fraction": 0.5, "output_tokens": longer})) == []
