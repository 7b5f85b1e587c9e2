"""The project's reference figures of money, to the digits given, and a known slip."""

from __future__ import annotations

import pytest

from planner.economics.blend import blended_usd_per_1k
from planner.economics.breakeven import CommittedStep, break_even, break_even_tokens
from planner.economics.cost_types import BreakEven
from planner.economics.selfhost import (
    crossover,
    machines_usd_per_month,
    unit_cost_usd_per_mtok,
)

COMMITMENT = 12_000.0
GPUS = machines_usd_per_month(3.0, 8)


def even(output_fraction: float, capacity: float) -> BreakEven:
    blended = blended_usd_per_1k(0.003, 0.012, output_fraction) * 1000
    step = CommittedStep(
        label="the commitment",
        commitment_usd_per_month=COMMITMENT,
        capacity_tokens_per_month=capacity,
    )
    return break_even(
        [step], output_fraction=output_fraction, cached_fraction=0.0, blended_usd_per_mtok=blended
    )


@pytest.mark.parametrize(
    ("fraction", "blended", "tokens", "share"),
    [(0.1, 3.90, 3.077e9, 0.77), (0.5, 7.50, 1.6e9, 0.40)],
)
def test_break_even_of_a_fixed_capacity_swings_with_the_mix(
    fraction: float, blended: float, tokens: float, share: float
) -> None:
    result = even(fraction, 4e9)
    assert result.blended_usd_per_mtok == pytest.approx(blended)
    assert result.tokens_per_month == pytest.approx(tokens, rel=2e-4)
    assert result.utilization == pytest.approx(share, abs=0.005)
    assert result.output_fraction == fraction  # never shown without its mix


def test_units_that_weight_output_like_its_price_break_even_at_one_share() -> None:
    # 4B tokens at f = 10% weigh 0.9 + 4 x 0.1 = 1.3 each; at f = 50% a token weighs 2.5.
    weighted_capacity = 4e9 * (0.9 + 4 * 0.1)
    half = weighted_capacity / (0.5 + 4 * 0.5)
    assert half == pytest.approx(2.08e9)
    assert even(0.1, 4e9).utilization == pytest.approx(0.769, abs=5e-4)
    assert even(0.5, half).utilization == pytest.approx(0.769, abs=5e-4)


def test_break_even_from_a_price_per_thousand_tokens() -> None:
    # Monthly commitment / blended price x 1,000.
    per_1k = blended_usd_per_1k(0.003, 0.012, 0.1)
    assert break_even_tokens(COMMITMENT, per_1k * 1000) == pytest.approx(COMMITMENT / per_1k * 1000)


def test_eight_gpus_and_the_engineering_line() -> None:
    assert pytest.approx(17_520.0) == GPUS
    fixed = GPUS + 25_000
    assert fixed == pytest.approx(42_520.0)
    assert unit_cost_usd_per_mtok(fixed, 1e9) == pytest.approx(42.52, abs=0.005)
    assert unit_cost_usd_per_mtok(fixed, 20e9) == pytest.approx(2.13, abs=0.005)
    assert break_even_tokens(fixed, 3.90) == pytest.approx(10.9e9, abs=0.05e9)


def test_the_published_slip_is_engineering_of_25_dollars() -> None:
    # A published example adds $25,000 and prints $17,545: that is $17,520 + $25.
    slip = GPUS + 25
    assert slip == pytest.approx(17_545.0)
    assert unit_cost_usd_per_mtok(slip, 1e9) == pytest.approx(17.55, abs=0.006)
    assert unit_cost_usd_per_mtok(slip, 20e9) == pytest.approx(0.88, abs=0.005)
    assert break_even_tokens(slip, 3.90) == pytest.approx(4.5e9, abs=0.05e9)


def test_a_crossover_beyond_the_hardware_is_none_then_the_next_node() -> None:
    # One node serves 8B a month and would need 10.9B; two cost 60,040 and need 15.4B of 16B.
    result = crossover(
        usd_per_node_month=GPUS,
        engineering_usd_per_month=25_000.0,
        capacity_tokens_per_node_month=8e9,
        max_nodes=4,
        output_fraction=0.1,
        cached_fraction=0.0,
        blended_usd_per_mtok=3.90,
    )
    assert result.tokens_per_month == pytest.approx(60_040 / 3.9 * 1e6)
    assert result.note.startswith("none within capacity: 1 node would need 136.3%")
    assert result.note.endswith("next: 2 nodes")


def test_a_node_that_never_pays_has_no_crossover_at_any_size() -> None:
    # A node that serves 1B for 17,520 costs 17.52 a million at best, against 3.90.
    result = crossover(
        usd_per_node_month=GPUS,
        engineering_usd_per_month=25_000.0,
        capacity_tokens_per_node_month=1e9,
        max_nodes=8,
        output_fraction=0.1,
        cached_fraction=0.0,
        blended_usd_per_mtok=3.90,
    )
    assert result.tokens_per_month is None
    assert result.utilization is None
    assert "none within capacity" in result.note
    assert "none up to 8 nodes either" in result.note


def test_unit_cost_without_tokens_is_unknown() -> None:
    assert unit_cost_usd_per_mtok(42_520.0, 0.0) is None
