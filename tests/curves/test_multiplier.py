"""A model that takes more tokens for the same work: every curve counts them as the plan does."""

from __future__ import annotations

import pytest

from planner.curves.break_even import break_even_curve
from planner.curves.case import Case
from planner.curves.cost import cost_curve
from planner.curves.demand import demand_view
from planner.curves.latency import latency_curve
from planner.evaluate import evaluate
from planner.policy.verdicts import OptionVerdict
from tests.curves.conftest import Drawn

MULTIPLIER = 1.25


def again(drawn: Drawn, name: str) -> Case:
    """Return a workload's case with its chosen option priced for a hungrier model."""
    decision = next(d for d in drawn.plan.decisions if d.workload == name)
    case = drawn.case(decision)
    models = tuple(
        model.model_copy(update={"token_multiplier": MULTIPLIER}) for model in case.workload.models
    )
    workload = case.workload.model_copy(update={"models": models})
    assert decision.chosen is not None
    option = decision.chosen.option
    verdict = OptionVerdict(option_id=option.id, verdict="allow", findings=())
    chosen = evaluate(option, verdict, workload, case.demand, case.setting)
    assert chosen.lost is None
    changed = {"chosen": chosen, "others": (), "runner_up": None, "flip": None}
    return Case(workload, decision.model_copy(update=changed), case.demand, case.setting)


@pytest.mark.parametrize(
    ("stack", "name"),
    [("bank-au", "case-notes"), ("saas-global", "agent-runner"), ("saas-global", "us-copilot")],
)
def test_todays_numbers_are_the_plans(stacks: dict[str, Drawn], stack: str, name: str) -> None:
    case = again(stacks[stack], name)
    chosen = case.decision.chosen
    assert chosen is not None
    assert chosen.cost is not None
    stated, floor = chosen.cost.break_even, chosen.cost.floor
    assert stated is not None
    assert floor is not None
    cost, curve, view = cost_curve(case), break_even_curve(case), demand_view(case)
    assert cost is not None
    at = cost.tokens_per_month.index(cost.tokens_per_month_now)
    assert cost.lines[0].usd_per_month[at] == chosen.compared_usd_per_month
    assert curve is not None
    (now,) = (p for p in curve.by_output_fraction if p.share == stated.output_fraction)
    assert now.tokens_per_month == stated.tokens_per_month
    # What is billed is the model's tokens; what is drawn of the demand is the workload's.
    assert curve.tokens_per_month_now == pytest.approx(cost.tokens_per_month_now * MULTIPLIER)
    assert view.floor_tokens_per_minute == chosen.floor_tokens_per_minute
    assert view.above_share == floor.spill_share
    if chosen.self_hosted is not None:
        latency, replica = latency_curve(case), chosen.self_hosted.replica
        assert latency is not None
        assert latency.points[-1].ttft_p95_ms == pytest.approx(replica.ttft_p95_ms, rel=1e-9)
        assert latency.points[-1].itl_p95_ms == pytest.approx(replica.itl_p95_ms, rel=1e-9)


def test_a_request_stays_a_request(stacks: dict[str, Drawn]) -> None:
    latency = latency_curve(again(stacks["bank-au"], "case-notes"))
    assert latency is not None
    # The same 200,209 tokens a minute of the workload's own, in requests of 1,154.7 + 211.1.
    assert latency.requests_per_minute_at_peak == pytest.approx(200_209 / (1_154.7 + 211.1))
