"""The choice among priced outcomes, each rule on a case solved by hand."""

from __future__ import annotations

from typing import Any

import pytest

from planner.choose import choose
from planner.decision import LostBecause, Outcome
from planner.declared.terms import Deciding, LiveChoice
from planner.economics.cost_types import Cost
from planner.option import Option

HORIZON = 12


def option(kind: str, model: str, pinned: bool, region: str = "r1") -> Option:
    return Option(
        id=f"{kind}/{model}/{region}",
        workload="w",
        kind=kind,
        model=model,
        provider="azure",
        region=region,
        deployment_type="T",
        scope="region",
        jurisdictions=("AU",),
        operator_class="managed_service",
        account="a",
        hardware=None,
        term_months=0,
        spill=None,
        pinned=pinned,
    )


def outcome(
    kind: str,
    usd: float | None,
    *,
    model: str = "m",
    pinned: bool = False,
    verdict: str = "allow",
    misses: tuple[str, ...] = (),
    lost: LostBecause | None = None,
) -> Outcome:
    known: dict[str, Any] = {
        "missing": (),
        "usd_per_mtok": None,
        "floor": None,
        "p50_reference": None,
        "dedication_usd_per_month": None,
        "break_even": None,
        "exit": None,
        "price_sources": (),
    }
    cost = Cost(
        status="known" if usd is not None else "unknown",
        fixed_usd_per_month=0.0 if usd is not None else None,
        variable_usd_per_month=usd,
        total_usd_per_month=usd,
        **known,
    )
    return Outcome(
        option=option(kind, model, pinned),
        verdict=verdict,
        findings=(),
        self_hosted=None,
        cost=cost,
        compared_usd_per_month=usd,
        floor_tokens_per_minute=0.0,
        latency=None,
        availability=None,
        misses=misses,
        notes=(),
        lost=lost if usd is not None or lost else "unknown_price",
        why="",
        extra_usd_per_month=None,
    )


def pick(*outcomes: Outcome, live: LiveChoice | None = None, **deciding: float) -> Any:
    return choose(
        outcomes,
        model_order=["m", "n"],
        live=live,
        deciding=Deciding(**deciding),
        horizon_months=HORIZON,
    )


def live(kind: str) -> LiveChoice:
    return LiveChoice(workload="w", kind=kind, model="m", provider="azure", region="r1")


def lost(choice: Any, kind: str, model: str = "m") -> str | None:
    return next(o.lost for o in choice.others if (o.option.kind, o.option.model) == (kind, model))


def test_the_cheapest_that_meets_the_objectives_wins() -> None:
    choice = pick(outcome("payg", 300.0), outcome("provisioned", 200.0))
    assert choice.chosen.option.kind == "provisioned"
    assert choice.runner_up.why == "costs $100 a month more"
    assert choice.runner_up.extra_usd_per_month == 100.0


def test_missing_an_objective_loses_however_cheap() -> None:
    choice = pick(outcome("payg", 1.0, misses=("TTFT p95 too high",)), outcome("provisioned", 9.0))
    assert choice.chosen.option.kind == "provisioned"
    assert lost(choice, "payg") == "objective"


@pytest.mark.parametrize("verdict", ["deny", "unavailable"])
def test_a_denied_option_never_competes_on_price(verdict: str) -> None:
    denied = outcome("payg", 1.0, verdict=verdict)
    assert pick(denied, outcome("self_hosted", 1e6)).chosen.option.kind == "self_hosted"
    assert pick(denied).chosen is None


def test_an_unknown_price_is_never_a_win() -> None:
    choice = pick(outcome("payg", None), outcome("provisioned", 1e9))
    assert choice.chosen.option.kind == "provisioned"
    assert lost(choice, "payg") == "unknown_price"
    assert pick(outcome("payg", None)).chosen is None


def test_a_tie_goes_to_pay_as_you_go_then_to_the_preferred_model() -> None:
    tied = pick(outcome("provisioned", 100.0), outcome("payg", 100.004))
    assert tied.chosen.option.kind == "payg"
    assert lost(tied, "provisioned") == "tie"
    models = pick(outcome("payg", 100.0, model="n"), outcome("payg", 100.0))
    assert models.chosen.option.model == "m"
    # A whole cent is a difference, not a tie.
    assert pick(outcome("provisioned", 100.0), outcome("payg", 100.01)).chosen.option.kind == (
        "provisioned"
    )


def test_what_is_live_is_left_only_above_the_band() -> None:
    # Band 10% of the live 1,000 = 100: a gain of 100 stays, 101 moves.
    stays = pick(outcome("provisioned", 1000.0), outcome("payg", 900.0), live=live("provisioned"))
    assert stays.chosen.option.kind == "provisioned"
    assert lost(stays, "payg") == "gain_below_band"
    moves = pick(outcome("provisioned", 1000.0), outcome("payg", 899.0), live=live("provisioned"))
    assert moves.chosen.option.kind == "payg"


def test_switching_costs_are_spread_over_the_horizon() -> None:
    # Gain 120 a month less 600 / 12 = 50 is 70: below the band of 100.
    case = (outcome("provisioned", 1000.0), outcome("payg", 880.0))
    assert pick(*case, live=live("provisioned")).chosen.option.kind == "payg"
    dear = pick(*case, live=live("provisioned"), switching_cost_usd=600.0)
    assert dear.chosen.option.kind == "provisioned"


def test_a_live_choice_that_no_longer_passes_is_left_at_once() -> None:
    barred = outcome("provisioned", 10.0, verdict="deny")
    assert pick(barred, outcome("payg", 900.0), live=live("provisioned")).chosen.option.kind == (
        "payg"
    )


def test_only_pinned_options_compete_when_something_is_pinned() -> None:
    choice = pick(outcome("payg", 1.0), outcome("provisioned", 500.0, pinned=True))
    assert choice.chosen.option.kind == "provisioned"
    assert lost(choice, "payg") == "not_pinned"
    assert pick(outcome("payg", 1.0), outcome("provisioned", None, pinned=True)).chosen is None


def test_order_of_the_input_does_not_matter() -> None:
    outcomes = [outcome("payg", 5.0), outcome("provisioned", 5.0), outcome("self_hosted", 4.0)]
    first = pick(*outcomes)
    again = pick(*reversed(outcomes))
    assert first.chosen.option.id == again.chosen.option.id == "self_hosted/m/r1"
