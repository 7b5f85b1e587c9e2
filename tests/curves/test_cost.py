"""Cost against volume: the plan's own numbers today, its own flips, and laws of each line."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from planner.curves.cost import Drawn as Line
from planner.curves.cost import _crossovers, crossovers_of
from planner.curves.types import Curves
from planner.decision import Decision
from planner.flip import DEMAND_FACTORS
from tests.curves.conftest import Drawn, outcomes

Decided = dict[str, tuple[Decision, Curves]]


def test_today_every_line_costs_what_the_plan_says(decided: Decided) -> None:
    assert len(decided) == 10
    for decision, curves in decided.values():
        assert curves.cost is not None
        planned = {o.option.id: o for o in outcomes(decision)}
        at = curves.cost.tokens_per_month.index(curves.cost.tokens_per_month_now)
        assert curves.cost.tokens_per_month_now == decision.mix.tokens_per_month
        for line in curves.cost.lines:
            if line.admissible:
                outcome = planned[line.option]
                assert line.usd_per_month[at] == outcome.compared_usd_per_month
                assert outcome.verdict in ("allow", "warn")
                assert not outcome.misses
        assert decision.chosen is not None
        assert [line.option for line in curves.cost.lines if line.chosen] == [
            decision.chosen.option.id
        ]


def test_four_lines_at_most_and_one_of_each_servable_kind(decided: Decided) -> None:
    for decision, curves in decided.values():
        assert curves.cost is not None
        drawn = {line.option for line in curves.cost.lines}
        assert len(drawn) == len(curves.cost.lines) <= 4
        assert decision.runner_up in drawn
        servable = {
            o.option.kind
            for o in outcomes(decision)
            if o.compared_usd_per_month is not None and not o.misses
        }
        kinds = {o.option.kind for o in outcomes(decision) if o.option.id in drawn}
        assert kinds == servable


def test_the_runner_ups_first_crossover_is_the_plans_flip(decided: Decided) -> None:
    flipped = 0
    for decision, curves in decided.values():
        assert curves.cost is not None
        assert decision.flip is not None
        pair = [
            found.tokens_per_month / curves.cost.tokens_per_month_now
            for found in curves.cost.crossovers
            if decision.flip.runner_up in (found.from_option, found.to_option)
        ]
        if decision.flip.demand_factor is None:
            assert pair == []
        else:
            flipped += 1
            nearest = min(pair, key=lambda factor: abs(factor - 1))
            assert nearest == pytest.approx(decision.flip.demand_factor, rel=1e-12)
    assert flipped == 3


def test_pay_as_you_go_is_proportional_to_the_volume(decided: Decided) -> None:
    seen = 0
    for decision, curves in decided.values():
        assert curves.cost is not None
        kinds = {o.option.id: o.option.kind for o in outcomes(decision)}
        for line in curves.cost.lines:
            if kinds.get(line.option, "payg") != "payg":
                continue
            seen += 1
            rates = [
                usd / volume
                for usd, volume in zip(
                    line.usd_per_month, curves.cost.tokens_per_month, strict=True
                )
                if usd is not None
            ]
            assert len(rates) == len(DEMAND_FACTORS)
            assert rates == pytest.approx([rates[0]] * len(rates), rel=1e-9)
    assert seen >= 10


def test_no_line_falls_with_volume_or_comes_back_beyond_its_capacity(decided: Decided) -> None:
    beyond = 0
    for _, curves in decided.values():
        assert curves.cost is not None
        for line in curves.cost.lines:
            for before, after in pairwise(line.usd_per_month):
                if before is None:
                    assert after is None
                elif after is None:
                    beyond += 1
                else:
                    assert after >= before * (1 - 1e-9)
                    assert after > 0
    assert beyond >= 6


def test_the_price_of_the_same_model_by_hand(decided: Decided) -> None:
    # 0.4 USD input and 1.6 USD output a million tokens, 10% dearer in the region, 15.46% output.
    blended = 1.1 * (0.4 * (1 - 0.1546) + 1.6 * 0.1546)
    _, curves = decided["adviser-assist"]
    assert curves.cost is not None
    (line,) = (line for line in curves.cost.lines if not line.admissible)
    at = curves.cost.tokens_per_month.index(10_444_853_943.0)
    assert line.usd_per_month[at] == pytest.approx(10_444.853943 * blended, rel=1e-9)


def test_a_price_that_is_no_option_crosses_nothing(stacks: dict[str, Drawn]) -> None:
    dev = stacks["dev"]
    case = dev.case(dev.plan.decisions[0])
    chosen, price = line("a", 0.0, 100.0), line("b", 350.0)
    assert len(list(_crossovers(case, [chosen, price]))) == 1
    assert list(_crossovers(case, [chosen, replace(price, admissible=False)])) == []


def line(name: str, usd: dict[float, float | None] | float, slope: float = 0.0) -> Line:
    def at(factor: float) -> float | None:
        return usd + slope * factor if isinstance(usd, float) else usd.get(factor)

    return Line(name, name, True, at)


def test_two_straight_lines_cross_where_they_meet() -> None:
    # 100 a unit of today's demand against 350 whatever the volume: they meet at 3.5.
    (found,) = crossovers_of(line("a", 0.0, 100.0), line("b", 350.0), 2.0, DEMAND_FACTORS)
    assert (found.from_option, found.to_option) == ("a", "b")
    assert found.tokens_per_month == pytest.approx(7.0, rel=1e-3)
    assert found.usd_per_month == 350.0


def test_below_today_the_chosen_one_is_what_a_crossover_leads_to() -> None:
    (found,) = crossovers_of(line("a", 50.0), line("b", 0.0, 100.0), 2.0, DEMAND_FACTORS)
    assert (found.from_option, found.to_option) == ("b", "a")
    assert found.tokens_per_month == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("other", [350.0, 1e6, 100.0])
def test_nothing_crosses_where_one_of_them_cannot_serve(other: float) -> None:
    chosen = line("a", {factor: 100.0 for factor in DEMAND_FACTORS if factor <= 1})
    assert list(crossovers_of(chosen, line("b", other), 1.0, DEMAND_FACTORS)) == []


def test_a_choice_kept_although_it_is_dearer_crosses_nothing_today() -> None:
    (found,) = crossovers_of(line("a", 200.0), line("b", 0.0, 100.0), 1.0, DEMAND_FACTORS)
    # It wins back at twice the demand; today and below, it is the dearer one.
    assert (found.from_option, found.to_option) == ("b", "a")
    assert found.tokens_per_month == pytest.approx(2.0, rel=1e-3)


def test_every_crossover_is_told_by_the_lines_beside_it(stacks: dict[str, Drawn]) -> None:
    for drawn in stacks.values():
        for curves in drawn.curves.values():
            assert curves.cost is not None
            lines = {item.option: item.usd_per_month for item in curves.cost.lines}
            for found in curves.cost.crossovers:
                at = found.tokens_per_month
                above = next(n for n, v in enumerate(curves.cost.tokens_per_month) if v > at)
                below = above - 1
                first, then = lines[found.from_option], lines[found.to_option]
                low, high = (first[below], then[below]), (first[above], then[above])
                assert low[0] is not None
                assert low[1] is not None
                assert high[0] is not None
                assert high[1] is not None
                # A step inside the cell may turn them back; at one end at least it shows.
                assert low[0] <= low[1] or high[1] <= high[0]
