"""Choosing the floor: small cases solved by hand, the rules, and monotonicity."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.demand import DemandCurve
from planner.economics.bursts import SMOOTHING_WINDOWS, Bursts
from planner.economics.cost_types import FloorStep
from planner.economics.floor import (
    NO_FLOOR,
    FloorChoice,
    FloorRules,
    SpillTerms,
    choose_floor,
    evaluate,
)

UNIFORM = DemandCurve(shares=(0.0, 1.0), levels=(0.0, 100.0))
MINUTES = 43_800.0


def ladder(usd_per_unit: float, count: int = 10, capacity: float = 10.0) -> list[FloorStep]:
    return [
        FloorStep(units=n, capacity=n * capacity, fixed_usd_per_month=n * usd_per_unit)
        for n in range(1, count + 1)
    ]


def choose(
    steps: list[FloorStep],
    curve: DemandCurve = UNIFORM,
    *,
    spill_usd: float | None = 1 / MINUTES,
    target: bool = True,
    bursts: Bursts | None = None,
    **rules: object,
) -> FloorChoice:
    """Spill at $1 a month for each token a minute, unless stated otherwise."""
    return choose_floor(
        steps,
        curve,
        spill=SpillTerms(usd_per_weighted_token=spill_usd) if target else None,
        active_minutes_per_month=MINUTES,
        rules=FloorRules.model_validate(rules),
        bursts=bursts,
    )


def test_one_step_by_hand() -> None:
    # A floor of 60 under uniform demand to 100: spill 8 of 50, use 42/60.
    step = FloorStep(units=6, capacity=60.0, fixed_usd_per_month=24.0)
    result = evaluate(
        step,
        UNIFORM,
        spill_usd_per_weighted_token=1 / MINUTES,
        active_minutes_per_month=MINUTES,
    )
    assert result.use_share == pytest.approx(0.7)
    assert result.spill_share == pytest.approx(0.16)
    assert result.spill_usd_per_month == pytest.approx(8.0)
    assert result.total_usd_per_month == pytest.approx(32.0)


def test_the_cheapest_floor_is_the_level_exceeded_in_the_break_even_share_of_minutes() -> None:
    # A unit of 10 costs $4, its spill $10 if always exceeded: it pays while demand exceeds
    # it in 40% of minutes, so the floor stands at 60, not at the median.
    choice = choose(ladder(4.0))
    assert choice.status == "chosen"
    assert choice.chosen is not None
    assert choice.chosen.step.units == 6
    assert choice.chosen.total_usd_per_month == pytest.approx(32.0)
    assert choice.p50_reference is not None
    assert choice.p50_reference.step.units == 5
    assert choice.p50_reference.total_usd_per_month == pytest.approx(20 + 12.5)


def test_at_84_percent_the_floor_is_the_16th_percentile_not_the_median() -> None:
    curve = DemandCurve(shares=(0.0, 1.0), levels=(0.0, 1000.0))
    choice = choose(ladder(8.4, 100), curve)
    assert choice.chosen is not None
    assert choice.chosen.step.capacity == pytest.approx(160.0)
    assert choice.p50_reference is not None
    premium = choice.p50_reference.total_usd_per_month - choice.chosen.total_usd_per_month
    assert premium > 0


def test_a_unit_that_never_pays_leaves_no_floor() -> None:
    choice = choose(ladder(12.0))
    assert choice.chosen is not None
    assert choice.chosen.step == NO_FLOOR
    assert choice.chosen.spill_share == pytest.approx(1.0)
    assert choice.chosen.total_usd_per_month == pytest.approx(50.0)
    assert choice.p50_reference is not None


def test_ties_take_fewer_units() -> None:
    flat = DemandCurve.constant(30.0)
    # Three units at $10 replace $30 of spill exactly: pay-as-you-go wins the tie.
    choice = choose(ladder(10.0), flat)
    assert choice.chosen is not None
    assert choice.chosen.step.units == 0


def test_dedicated_means_a_floor_of_at_least_the_median() -> None:
    choice = choose(ladder(12.0), dedicated=True)
    assert choice.chosen is not None
    assert choice.chosen.step.units == 5
    assert choice.chosen == choice.p50_reference
    cheap = choose(ladder(4.0), dedicated=True)
    assert cheap.chosen is not None
    assert cheap.chosen.step.units == 6  # above the median where that is cheaper


def test_without_a_spill_target_the_floor_covers_the_peak() -> None:
    choice = choose(ladder(12.0), target=False)
    assert choice.chosen is not None
    assert choice.chosen.step.units == 10
    assert choice.chosen.spill_share == 0.0
    short = choose(ladder(12.0, 7), target=False)
    assert short.status == "infeasible"
    assert short.reason.startswith("the largest step carries 70 tokens/min of 100, the peak")


def test_the_allowed_spill_share_raises_the_floor() -> None:
    # (100 - F)^2 / 200 <= 2% of 50 needs F >= 85.9: nine units.
    choice = choose(ladder(12.0), max_spill_share=0.02)
    assert choice.chosen is not None
    assert choice.chosen.step.units == 9
    none = choose(ladder(12.0), max_spill_share=0.0)
    assert none.chosen is not None
    assert none.chosen.step.units == 10
    short = choose(ladder(12.0, 7), max_spill_share=0.02)
    assert short.status == "infeasible"
    assert "more than the allowed 2.0%" in short.reason
    assert short.p50_reference is not None


def test_an_unknown_spill_price_is_unknown_never_zero() -> None:
    choice = choose(ladder(4.0), spill_usd=None)
    assert (choice.status, choice.chosen) == ("unknown", None)


def test_no_floor_can_be_ruled_out() -> None:
    choice = choose(ladder(12.0), allow_none=False)
    assert choice.chosen is not None
    assert choice.chosen.step.units == 1


def test_an_empty_grid_is_infeasible_where_a_floor_is_owed() -> None:
    assert choose([], dedicated=True).status == "infeasible"
    assert choose([], target=False).status == "infeasible"
    assert choose([]).chosen is not None


def test_bursts_raise_the_spill_and_the_floor() -> None:
    bursts = Bursts(size_variance_ratio=4.0, windows=SMOOTHING_WINDOWS[:1])
    calm, bursty = choose(ladder(0.5, 14)), choose(ladder(0.5, 14), bursts=bursts)
    assert calm.chosen is not None
    assert bursty.chosen is not None
    assert bursty.chosen.step.units > calm.chosen.step.units
    assert bursty.chosen.total_usd_per_month > calm.chosen.total_usd_per_month


def test_nodes_are_whole_so_the_last_replica_of_a_node_is_free() -> None:
    steps = [
        FloorStep(
            units=n, capacity=n * 10.0, fixed_usd_per_month=-(-n // 4) * 10.0, nodes=-(-n // 4)
        )
        for n in range(1, 13)
    ]
    choice = choose(steps)
    assert choice.chosen is not None
    assert choice.chosen.step.units in (4, 8)


CURVES = st.lists(st.floats(min_value=1, max_value=1e4), min_size=6, max_size=6).map(
    lambda levels: DemandCurve(shares=(0.0, 0.1, 0.5, 0.9, 0.99, 1.0), levels=tuple(sorted(levels)))
)


@given(
    CURVES,
    st.floats(min_value=1, max_value=10),
    st.floats(min_value=1, max_value=500),
    st.booleans(),
    st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    st.booleans(),
)
def test_more_demand_never_means_less_capacity_or_lower_cost(
    curve: DemandCurve,
    factor: float,
    usd: float,
    dedicated: bool,
    max_spill_share: float,
    target: bool,
) -> None:
    steps = ladder(usd, 300, capacity=400.0)

    def at(scale: float) -> FloorChoice:
        return choose(
            steps,
            curve.scaled(scale),
            target=target,
            dedicated=dedicated,
            max_spill_share=max_spill_share,
        )

    small, large = at(1.0), at(factor)
    assert small.chosen is not None
    assert large.chosen is not None
    assert large.chosen.step.units >= small.chosen.step.units
    cost = small.chosen.total_usd_per_month
    assert large.chosen.total_usd_per_month >= cost * (1 - 1e-9)


@given(CURVES, st.floats(min_value=1, max_value=800), st.booleans())
def test_the_choice_is_the_best_of_all_steps(curve: DemandCurve, usd: float, bursty: bool) -> None:
    bursts = Bursts(size_variance_ratio=5.0, windows=SMOOTHING_WINDOWS[:1]) if bursty else None
    steps = ladder(usd, 30, capacity=400.0)
    choice = choose(steps, curve, bursts=bursts)
    totals = [
        evaluate(
            step,
            curve,
            spill_usd_per_weighted_token=1 / MINUTES,
            active_minutes_per_month=MINUTES,
            bursts=bursts,
        ).total_usd_per_month
        for step in itertools.chain([NO_FLOOR], steps)
    ]
    assert choice.chosen is not None
    assert choice.chosen.total_usd_per_month == pytest.approx(min(totals), rel=1e-8)
