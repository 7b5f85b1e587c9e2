from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.serving.queueing import (
    Z_95,
    mean_occupancy,
    sequences_held,
    slots_needed,
    squared_variation,
    wait_p95_seconds,
)


def test_variation_of_a_lognormal_by_its_95th_percentile() -> None:
    sigma = 0.5
    p95 = math.exp(Z_95 * sigma - sigma**2 / 2)
    assert squared_variation(1.0, p95) == pytest.approx(math.exp(sigma**2) - 1)
    assert squared_variation(100, 100) == 0
    assert squared_variation(100, 90) == 0
    assert math.isfinite(squared_variation(1, 1e9))


def test_mean_wait_is_pollaczek_khinchine_when_everyone_waits() -> None:
    """At 0.8 use and exponential service the M/M/1 wait's 95th percentile is known."""
    wait = wait_p95_seconds(0.8, 1.0, 1.0)
    assert wait == pytest.approx(math.log(0.8 / 0.05) / (1 - 0.8))


@given(st.floats(0.01, 0.9), st.floats(0.01, 1), st.floats(0, 5))
def test_waits_grow_with_load_service_and_variation(
    rate: float, service: float, variation: float
) -> None:
    wait = wait_p95_seconds(rate, service, variation)
    assert wait >= 0
    assert wait <= wait_p95_seconds(rate * 1.05, service, variation)
    assert wait <= wait_p95_seconds(rate, service * 1.05, variation)
    assert wait <= wait_p95_seconds(rate, service, variation + 0.5)


def test_no_wait_without_load_and_no_end_to_it_at_full_use() -> None:
    assert wait_p95_seconds(0.001, 1, 1) == 0
    assert wait_p95_seconds(1.0, 1, 1) == math.inf


@given(st.integers(1, 4096))
def test_slots_and_occupancy_are_inverses(slots: int) -> None:
    occupancy = mean_occupancy(slots)
    assert 0 < occupancy < slots
    assert slots_needed(occupancy) == slots


@given(st.floats(1, 1e6), st.floats(0.5, 1e4), st.floats(0, 1e4))
def test_sequences_held_fill_a_capacity_exactly(capacity: float, mean: float, more: float) -> None:
    held = sequences_held(capacity, mean, mean + more)
    assert held >= 0
    if held:
        assert held * mean + more * math.sqrt(held) <= capacity
    assert (held + 1) * mean + more * math.sqrt(held + 1) > capacity
    assert held <= sequences_held(capacity * 1.1, mean, mean + more)


def test_equal_sequences_divide_and_a_single_one_counts_at_its_95th_percentile() -> None:
    assert sequences_held(100, 9, 9) == 11
    assert sequences_held(100, 10, 101) == 0
    assert sequences_held(101, 10, 101) == 1
