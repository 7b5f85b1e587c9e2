"""Break-even of provisioned units: what moves it is caching, not the mix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.rows import PaygPrice
from planner.economics.blend import blended_usd_per_mtok
from planner.economics.breakeven import (
    CommittedStep,
    break_even,
    break_even_tokens,
    unit_value_usd_per_hour,
)

# model: TPM per PTU, output ratio, then input, cached input and output prices (global).
MODELS = {
    "gpt-4.1": (3_000, 4, 2.0, 0.5, 8.0),
    "gpt-4.1-mini": (14_900, 4, 0.4, 0.1, 1.6),
    "gpt-4.1-nano": (59_400, 4, 0.1, 0.025, 0.4),
    "gpt-5.5": (1_200, 6, 5.0, 0.5, 30.0),
    "gpt-5.4": (2_400, 6, 2.5, 0.25, 15.0),
    "gpt-5.2": (3_400, 8, 1.75, 0.175, 14.0),
    "gpt-5.1": (4_750, 8, 1.25, 0.125, 10.0),
    "gpt-5-mini": (23_750, 8, 0.25, 0.025, 2.0),
    "gpt-4o": (2_500, 4, 2.5, 1.25, 10.0),
    "gpt-4o-mini": (37_000, 4, 0.15, 0.075, 0.6),
    "o1": (230, 4, 15.0, 7.5, 60.0),
    "o3-mini": (2_500, 4, 1.1, 0.55, 4.4),
}
NEWER = ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-5.5", "gpt-5.4", "gpt-5.2", "gpt-5.1"]
USD_PER_HOUR = {"hourly": 1.0, "1 month": 260 / 730, "1 year": 221 / 730}


def price_of(name: str, payg: Callable[..., PaygPrice]) -> PaygPrice:
    _, _, prompt, cached, output = MODELS[name]
    return payg(
        model=name,
        input_usd_per_mtok=prompt,
        cached_input_usd_per_mtok=cached,
        output_usd_per_mtok=output,
    )


def value(name: str, payg: Callable[..., PaygPrice], ratio: float, cached: float) -> float:
    """USD that an hour of a fully used unit replaces; ``ratio`` = output/input tokens."""
    tpm, weight, *_ = MODELS[name]
    f = ratio / (1 + ratio)
    blended = blended_usd_per_mtok(price_of(name, payg), f, cached)
    per_token = (1 - f) * (1 - cached) + f * weight
    return unit_value_usd_per_hour(tpm, blended, per_token)


@pytest.mark.parametrize("name", NEWER)
@pytest.mark.parametrize("ratio", [0.0, 0.05, 0.25, 1.0])
def test_a_unit_hour_of_newer_models_is_worth_36_cents_at_any_mix(
    payg: Callable[..., PaygPrice], name: str, ratio: float
) -> None:
    assert 0.355 <= value(name, payg, ratio, 0.0) <= 0.3605


@pytest.mark.parametrize(
    ("name", "hourly", "month", "year"),
    [
        ("gpt-4.1", 278, 99, 84),  # printed as 280 for the family; 1 / 0.36 is 277.8
        ("gpt-5.2", 280, 100, 85),
        ("gpt-4o", 267, 95, 81),
        ("gpt-4o-mini", 300, 107, 91),
        ("o1", 483, 172, 146),
        ("o3-mini", 606, 216, 183),
    ],
)
def test_break_even_of_each_price_of_a_unit(
    payg: Callable[..., PaygPrice], name: str, hourly: int, month: int, year: int
) -> None:
    worth = value(name, payg, 0.05, 0.0)
    shares = [100 * usd / worth for usd in USD_PER_HOUR.values()]
    assert shares == pytest.approx([hourly, month, year], abs=1)


@pytest.mark.parametrize(
    ("name", "ratio", "shares"),
    [
        ("gpt-4.1", 0.05, (84, 78, 71, 56)),
        ("gpt-4.1", 0.25, (84, 81, 78, 72)),
        ("gpt-5.2", 0.05, (85, 83, 80, 75)),
        ("gpt-5.2", 0.25, (85, 84, 83, 82)),
        ("gpt-4o", 0.05, (81, 69, 59, 40)),
        ("gpt-4o", 0.25, (81, 74, 69, 61)),
    ],
)
def test_break_even_of_a_year_by_cached_share(
    payg: Callable[..., PaygPrice], name: str, ratio: float, shares: tuple[int, ...]
) -> None:
    found = [
        100 * USD_PER_HOUR["1 year"] / value(name, payg, ratio, cached)
        for cached in (0.0, 0.3, 0.5, 0.8)
    ]
    assert found == pytest.approx(list(shares), abs=1)


@pytest.mark.parametrize(
    ("tokens_per_s", "burndown", "prompt", "output", "shares"),
    [
        (650, 8, 1.25, 10.0, (245, 126, 113, 94)),  # gemini-2.5-pro
        (500, 6, 2.0, 12.0, (198, 102, 91, 76)),  # gemini-3.1-pro-preview
    ],
)
def test_break_even_of_google_units(
    tokens_per_s: float, burndown: float, prompt: float, output: float, shares: tuple[int, ...]
) -> None:
    # Per unit: a week $1,200, a month $2,700, a quarter $2,400 and a year $2,000 a month.
    monthly = (1_200 * 730 / 168, 2_700, 2_400, 2_000)
    f = 0.2
    blended = prompt * (1 - f) + output * f
    worth = unit_value_usd_per_hour(tokens_per_s * 60, blended, 1 - f + burndown * f) * 730
    assert [100 * usd / worth for usd in monthly] == pytest.approx(list(shares), abs=1.1)


def step(label: str, usd: float, capacity: float) -> CommittedStep:
    return CommittedStep(
        label=label, commitment_usd_per_month=usd, capacity_tokens_per_month=capacity
    )


def solve(*steps: CommittedStep, blended: float) -> Any:
    return break_even(steps, output_fraction=0.1, cached_fraction=0.2, blended_usd_per_mtok=blended)


def test_exactly_at_capacity_is_still_within_it() -> None:
    result = solve(step("15 PTU", 4_000.0, 1e9), blended=4.0)
    assert (result.tokens_per_month, result.utilization, result.note) == (1e9, 1.0, "")


def test_beyond_capacity_is_none_and_says_by_how_much() -> None:
    result = solve(step("15 PTU", 4_400.0, 1e9), blended=4.0)
    assert (result.tokens_per_month, result.utilization) == (None, None)
    assert result.note == "none within capacity: 15 PTU would need 110.0% of its capacity"


def test_a_free_comparator_and_an_idle_step_have_no_break_even() -> None:
    assert solve(step("15 PTU", 10.0, 1e9), blended=0.0).tokens_per_month is None
    assert "free" in solve(step("15 PTU", 10.0, 1e9), blended=0.0).note
    assert "serves nothing" in solve(step("0 replicas", 10.0, 0.0), blended=4.0).note
    assert break_even_tokens(0.0, 0.0) == 0.0


@given(
    st.floats(min_value=1, max_value=1e7),
    st.floats(min_value=0.01, max_value=100),
    st.floats(min_value=1e6, max_value=1e12),
)
def test_at_the_break_even_both_cost_the_same(usd: float, blended: float, capacity: float) -> None:
    result = solve(step("it", usd, capacity), blended=blended)
    if result.tokens_per_month is None:
        assert usd / blended * 1e6 > capacity
    else:
        assert result.tokens_per_month / 1e6 * blended == pytest.approx(usd)
        assert result.utilization is not None
        assert result.utilization <= 1
