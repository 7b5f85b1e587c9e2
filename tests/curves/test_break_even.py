"""Break-even against the mix: the plan's own today, hand calculations elsewhere."""

from __future__ import annotations

import pytest

from planner.curves.types import Curves
from planner.decision import Decision

Decided = dict[str, tuple[Decision, Curves]]


def test_today_it_is_the_plans_own(decided: Decided) -> None:
    seen = 0
    for decision, curves in decided.values():
        stated = (
            decision.chosen.cost.break_even if decision.chosen and decision.chosen.cost else None
        )
        assert (curves.break_even is None) == (stated is None)
        if curves.break_even is None or stated is None:
            continue
        curve = curves.break_even
        for points, now in (
            (curve.by_output_fraction, stated.output_fraction),
            (curve.by_cached_fraction, stated.cached_fraction),
        ):
            (point,) = (point for point in points if point.share == now)
            assert point.tokens_per_month == stated.tokens_per_month
            assert point.utilization == stated.utilization
            assert point.blended_usd_per_mtok == stated.blended_usd_per_mtok
            seen += 1
    assert seen == 8


def test_tokens_times_the_blended_price_are_the_commitment(decided: Decided) -> None:
    within = 0
    for _, curves in decided.values():
        curve = curves.break_even
        if curve is None:
            continue
        for point in (*curve.by_output_fraction, *curve.by_cached_fraction):
            if point.tokens_per_month is None:
                assert point.utilization is None
                assert point.needed_share is None or point.needed_share > 1
                continue
            within += 1
            paid = point.tokens_per_month * point.blended_usd_per_mtok / 1e6
            assert paid == pytest.approx(curve.commitment_usd_per_month, rel=1e-9)
            assert point.utilization == point.needed_share
            assert 0 < (point.utilization or 0) <= 1
    assert within > 30


def test_provisioned_units_at_another_mix_by_hand(decided: Decided) -> None:
    # gpt-5-mini: 0.25 USD input, 0.025 cached, 2 output; a unit counts an output token as 8
    # input tokens and a cached one as none. 235 units of 23,750 input tokens a minute, 730 h.
    _, curves = decided["us-copilot"]
    assert curves.break_even is not None
    half = next(p for p in curves.break_even.by_output_fraction if p.share == 0.5)
    blended = 0.5 * (0.5 * 0.25 + 0.5 * 0.025) + 0.5 * 2
    assert half.blended_usd_per_mtok == pytest.approx(blended)
    tokens = 25_896.356164383564 / blended * 1e6
    assert half.tokens_per_month == pytest.approx(tokens)
    weight = 0.5 * 0.5 + 0.5 * 8
    assert half.utilization == pytest.approx(tokens / (235 * 23_750 / weight * 730 * 60))
    # Cached input is 0.9 of the prompt: the units carry more, and so does a dollar.
    cached = next(p for p in curves.break_even.by_cached_fraction if p.share == 0.9)
    price = (1 - 0.0618) * (0.1 * 0.25 + 0.9 * 0.025) + 0.0618 * 2
    assert cached.blended_usd_per_mtok == pytest.approx(price)


def test_output_at_four_times_the_price_and_the_weight_changes_nothing(decided: Decided) -> None:
    # gpt-4.1-mini: output costs four times the input and weighs four input tokens on a unit,
    # so without a cache the share of the capacity that pays is the same at every mix.
    _, curves = decided["adviser-assist"]
    assert curves.break_even is not None
    needed = [point.needed_share for point in curves.break_even.by_output_fraction]
    assert needed == pytest.approx([needed[0]] * len(needed))
    assert all(point.tokens_per_month is None for point in curves.break_even.by_output_fraction)


def test_a_replica_is_sized_again_at_every_mix(decided: Decided) -> None:
    # Prompts are cheaper to serve than output, so the same replicas carry more tokens of a
    # mix with less output: at 1% they need a smaller share of their capacity than at 54.6%.
    _, curves = decided["agent-runner"]
    assert curves.break_even is not None
    points = curves.break_even.by_output_fraction
    assert points[0].utilization is not None
    now = next(p for p in points if p.share == curves.break_even.output_fraction_now)
    assert now.utilization is not None
    assert points[0].utilization < now.utilization
    # One price for all input: a cached token is billed as any other.
    assert len({p.blended_usd_per_mtok for p in curves.break_even.by_cached_fraction}) == 1


def test_without_a_commitment_there_is_none(decided: Decided) -> None:
    assert decided["branch-faq"][1].break_even is None
    assert decided["doc-summaries"][1].break_even is None
