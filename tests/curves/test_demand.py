"""The demand that is drawn: few knots, the ends kept, the plan's own share above the floor."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.curves.demand import MAX_KNOTS, knots_of
from planner.curves.types import Curves, DemandKnot
from planner.decision import Decision
from planner.demand import DemandCurve

Decided = dict[str, tuple[Decision, Curves]]


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=300))
def test_a_traces_curve_is_capped_and_keeps_its_ends(samples: list[float]) -> None:
    curve = DemandCurve.from_samples(samples)
    knots = knots_of(curve)
    assert len(knots) <= MAX_KNOTS
    assert (knots[0].share, knots[0].tokens_per_minute) == (0.0, min(samples))
    assert (knots[-1].share, knots[-1].tokens_per_minute) == (1.0, max(samples))
    assert all(a.share < b.share for a, b in pairwise(knots))
    of_curve = set(zip(curve.shares, curve.levels, strict=True))
    assert {(knot.share, knot.tokens_per_minute) for knot in knots} <= of_curve
    if len(curve.shares) <= MAX_KNOTS:
        assert len(knots) == len(curve.shares)


def above(knots: tuple[DemandKnot, ...], floor: float) -> float:
    """Integrate what is drawn above the floor by 10,000 strips, over what is drawn in all."""
    total = beyond = 0.0
    for left, right in pairwise(knots):
        for strip in range(10_000):
            at = (strip + 0.5) / 10_000
            level = left.tokens_per_minute + at * (right.tokens_per_minute - left.tokens_per_minute)
            width = (right.share - left.share) / 10_000
            total += level * width
            beyond += max(0.0, level - floor) * width
    return beyond / total


def test_what_is_drawn_above_the_floor_is_the_plans_spill(decided: Decided) -> None:
    decision, curves = decided["agent-runner"]
    view = curves.demand
    assert decision.chosen is not None
    assert decision.chosen.cost is not None
    assert decision.chosen.cost.floor is not None
    assert view.above_share == decision.chosen.cost.floor.spill_share
    assert view.floor_tokens_per_minute == decision.chosen.floor_tokens_per_minute
    drawn = above(view.knots, view.floor_tokens_per_minute)
    assert drawn == pytest.approx(view.above_share, rel=1e-6)
    assert view.above == "spills to in_region in us-east-1"


@pytest.mark.parametrize("workload", ["us-copilot", "adviser-assist"])
def test_bursts_add_to_what_is_drawn_above_provisioned_units(
    decided: Decided, workload: str
) -> None:
    view = decided[workload][1].demand
    drawn = above(view.knots, view.floor_tokens_per_minute)
    assert 0 < drawn <= view.above_share < 2 * drawn


def test_without_a_floor_all_of_it_lies_above(decided: Decided) -> None:
    view = decided["branch-faq"][1].demand
    assert (view.floor_tokens_per_minute, view.above_share) == (0.0, 1.0)
    assert view.above.startswith("is served pay-as-you-go")


def test_without_a_target_nothing_spills(decided: Decided) -> None:
    view = decided["case-notes"][1].demand
    assert view.above_share == 0.0
    assert view.above.startswith("waits or is refused")
    assert view.floor_tokens_per_minute > view.knots[-1].tokens_per_minute
