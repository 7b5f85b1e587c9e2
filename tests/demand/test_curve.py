"""The demand curve: hand-solved integrals, and the laws every curve obeys."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from planner.demand import DemandCurve
from planner.workload import TokensPerMinute

LEVEL = st.floats(min_value=0, max_value=1e7, allow_subnormal=False)
CURVES = st.one_of(
    st.lists(LEVEL, min_size=1, max_size=40).map(DemandCurve.from_samples),
    st.lists(LEVEL, min_size=6, max_size=6).map(
        lambda levels: DemandCurve(
            shares=(0.0, 0.1, 0.5, 0.9, 0.99, 1.0), levels=tuple(sorted(levels))
        )
    ),
    LEVEL.map(DemandCurve.constant),
)


def close(a: float, b: float, scale: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * max(1.0, scale))


def test_a_declared_curve_passes_through_its_percentiles() -> None:
    curve = DemandCurve.from_percentiles(
        TokensPerMinute(minimum=5.0, p10=10.0, p50=30.0, p90=70.0, p99=90.0, peak=100.0)
    )
    shares = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
    assert [curve.quantile(q) for q in shares] == [5.0, 10.0, 30.0, 70.0, 90.0, 100.0]
    assert curve.quantile(0.3) == 20.0  # halfway between p10 and p50
    # Trapezoids: .1 x 7.5 + .4 x 20 + .4 x 50 + .09 x 80 + .01 x 95 = 36.9
    assert curve.mean == pytest.approx(36.9)
    assert curve.peak == 100.0


def test_a_uniform_curve_by_hand() -> None:
    # W uniform on [0, 100]: E[(W - 60)+] = 40^2 / 200 = 8; mean 50.
    curve = DemandCurve(shares=(0.0, 1.0), levels=(0.0, 100.0))
    assert curve.expected_above(60.0) == pytest.approx(8.0)
    assert curve.spill_share(60.0) == pytest.approx(0.16)
    assert curve.use_share(60.0) == pytest.approx(42.0 / 60.0)
    assert curve.exceedance(60.0) == pytest.approx(0.4)
    assert curve.mean_between(0.2, 0.6) == pytest.approx(40.0)


def test_a_constant_curve() -> None:
    curve = DemandCurve.constant(70.0)
    assert (curve.mean, curve.peak, curve.quantile(0.5)) == (70.0, 70.0, 70.0)
    assert curve.expected_above(50.0) == pytest.approx(20.0)
    assert curve.expected_above(70.0) == 0.0
    assert (curve.exceedance(69.9), curve.exceedance(70.0)) == (1.0, 0.0)


def test_samples_keep_their_mean_and_their_median() -> None:
    curve = DemandCurve.from_samples([3.0, 1.0, 2.0, 10.0])
    assert curve.mean == pytest.approx(4.0)
    assert curve.quantile(0.5) == pytest.approx(2.5)
    assert (curve.quantile(0.0), curve.peak) == (1.0, 10.0)


def test_without_demand_nothing_spills_and_without_a_floor_nothing_is_used() -> None:
    assert DemandCurve.constant(0.0).spill_share(0.0) == 0.0
    assert DemandCurve.constant(5.0).use_share(0.0) == 0.0


@pytest.mark.parametrize(
    ("shares", "levels"),
    [
        ((0.0,), (1.0,)),
        ((0.0, 0.9), (1.0, 2.0)),
        ((0.0, 0.5, 0.5, 1.0), (1.0, 2.0, 3.0, 4.0)),
        ((0.0, 1.0), (2.0, 1.0)),
        ((0.0, 1.0), (-1.0, 1.0)),
        ((0.0, 1.0), (1.0,)),
        ((0.0, 1.0), (1.0, math.inf)),
    ],
)
def test_what_is_no_quantile_function_is_refused(
    shares: tuple[float, ...], levels: tuple[float, ...]
) -> None:
    with pytest.raises(ValidationError):
        DemandCurve(shares=shares, levels=levels)


def test_no_samples_and_shares_outside_0_to_1_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        DemandCurve.from_samples([])
    with pytest.raises(ValueError, match="between 0 and 1"):
        DemandCurve.constant(1.0).quantile(1.5)
    with pytest.raises(ValueError, match="lower one first"):
        DemandCurve.constant(1.0).mean_between(0.5, 0.5)


@given(CURVES, LEVEL, LEVEL)
def test_expected_above_decreases_by_at_most_the_step(
    curve: DemandCurve, a: float, b: float
) -> None:
    low, high = sorted((a, b))
    drop = curve.expected_above(low) - curve.expected_above(high)
    tolerance = 1e-9 * max(1.0, curve.peak)
    assert -tolerance <= drop <= high - low + tolerance


@given(CURVES, LEVEL, LEVEL)
def test_expected_above_is_convex(curve: DemandCurve, a: float, b: float) -> None:
    middle = curve.expected_above((a + b) / 2)
    chord = (curve.expected_above(a) + curve.expected_above(b)) / 2
    assert middle <= chord + 1e-9 * max(1.0, curve.peak, a, b)


@given(CURVES, LEVEL)
def test_what_is_used_and_what_spills_add_up_to_demand(curve: DemandCurve, level: float) -> None:
    used = curve.use_share(level) * level
    assert close(used + curve.expected_above(level), curve.mean, curve.peak)
    assert 0.0 <= curve.spill_share(level) <= 1.0 + 1e-9
    assert -1e-9 <= curve.use_share(level) <= 1.0 + 1e-9


@given(CURVES, st.floats(min_value=0, max_value=1))
def test_exceedance_inverts_the_quantile_function(curve: DemandCurve, share: float) -> None:
    level = curve.quantile(share)
    if curve.levels[0] < curve.peak:
        assert curve.exceedance(level) <= 1 - share + 1e-6
        assert curve.exceedance(level - 1e-6 * curve.peak) >= 1 - share - 1e-6


@given(CURVES, LEVEL)
def test_the_slope_of_expected_above_is_the_exceedance(curve: DemandCurve, level: float) -> None:
    step = max(1.0, level) * 1e-3
    slope = (curve.expected_above(level) - curve.expected_above(level + step)) / step
    tolerance = 1e-6 * max(1.0, curve.peak / step)
    assert curve.exceedance(level + step) - tolerance <= slope
    assert slope <= curve.exceedance(level) + tolerance


@given(CURVES, LEVEL, st.floats(min_value=0.01, max_value=100))
def test_scaling_demand_and_floor_scales_the_spill(
    curve: DemandCurve, level: float, factor: float
) -> None:
    scaled = curve.scaled(factor)
    scale = factor * max(curve.peak, level)
    assert close(scaled.mean, factor * curve.mean, scale)
    assert close(scaled.expected_above(factor * level), factor * curve.expected_above(level), scale)


@given(CURVES)
def test_the_mean_is_the_integral_of_the_quantile_function(curve: DemandCurve) -> None:
    parts = [curve.mean_between(i / 8, (i + 1) / 8) / 8 for i in range(8)]
    assert close(math.fsum(parts), curve.mean, curve.peak)
    assert curve.expected_above(0.0) == pytest.approx(curve.mean, abs=1e-6)


@given(st.lists(LEVEL, min_size=1, max_size=60))
def test_the_mean_of_samples_is_kept(samples: list[float]) -> None:
    curve = DemandCurve.from_samples(samples)
    assert close(curve.mean, math.fsum(samples) / len(samples), max(samples))


@given(CURVES, LEVEL)
def test_more_demand_never_spills_a_smaller_share(curve: DemandCurve, level: float) -> None:
    assert curve.scaled(1.5).spill_share(level) >= curve.spill_share(level) - 1e-9
