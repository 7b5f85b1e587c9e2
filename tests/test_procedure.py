"""The procedure of choosing, sentence by sentence, through the real gate and catalog.

Expected figures are worked out in the comments from the catalog's rows:
gpt-4.1-mini Standard in australiaeast costs 0.44 / 1.76 USD per million, a regional
PTU of it 2.00 USD an hour, carries 14,900 input-equivalent tokens a minute, weighs
output 4 to 1 and comes in steps of 25.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.api import plan_stack, verdict_error
from planner.decision import Decision, Outcome
from planner.errors import Infeasible, PolicyDenied
from planner.plan import Plan
from tests.projects import CHAT, CLUSTER, PLATFORM, changed

AT = "2026-11-29T00:00:00+00:00"

HOSTED = changed(
    CHAT,
    name="hosted",
    classification="restricted",
    models=[{"name": "meta-llama/Llama-3.3-70B-Instruct"}],
)
"""Restricted data: no third party may process it, so only the cluster is admissible."""


def planned(root: Path) -> Plan:
    return plan_stack(root, "s", at=AT)


def only(plan: Plan) -> Decision:
    assert len(plan.decisions) == 1
    return plan.decisions[0]


def losing(decision: Decision, text: str) -> Outcome:
    return next(o for o in decision.others if text in o.option.id)


def test_1_denied_options_are_shown_but_never_sized_or_priced(project: Any) -> None:
    decision = only(planned(project(CHAT)))
    denied = [o for o in decision.others if o.verdict == "deny"]
    assert any("GlobalStandard" in o.option.id for o in denied)
    for outcome in denied:
        assert outcome.cost is None
        assert outcome.lost == "denied"
        assert "RES-001" in outcome.why
    # Standard costs a tenth more than GlobalStandard here: price did not overrule the gate.
    assert decision.chosen is not None
    assert decision.chosen.option.deployment_type == "Standard"


def test_2_the_smallest_tensor_parallel_degree_is_not_always_cheapest(project: Any) -> None:
    peak = 2_000_000
    loud = {"p10": peak, "p50": peak, "p90": peak, "p99": peak, "peak": peak}
    workload = changed(HOSTED, traffic__tokens_per_minute=loud)
    platform = changed(PLATFORM, clusters=[CLUSTER])
    chosen = only(planned(project(workload, platform=platform))).chosen
    assert chosen is not None
    size = chosen.self_hosted
    assert size is not None
    by_degree = {degree: (nodes, usd) for degree, _, nodes, usd in size.per_layout_usd}
    smallest = min(by_degree)
    picked = size.replica.layout.tensor_parallel
    assert smallest == 2
    assert picked > smallest
    assert by_degree[picked][1] < by_degree[smallest][1]
    # Whole nodes at 142.60 USD an hour (australiaeast, 2026-06-18), 730 hours.
    for nodes, usd in by_degree.values():
        assert usd == pytest.approx(nodes * 142.6 * 730)


def test_2_the_smallest_degree_breaks_ties(project: Any) -> None:
    platform = changed(PLATFORM, clusters=[CLUSTER])
    size = only(planned(project(HOSTED, platform=platform))).chosen.self_hosted
    costs = {degree: usd for degree, _, _, usd in size.per_layout_usd}
    cheapest = min(costs.values())
    assert size.replica.layout.tensor_parallel == min(d for d, u in costs.items() if u == cheapest)


def test_2_spares_follow_the_availability_asked_and_batch_has_none(project: Any) -> None:
    platform = changed(PLATFORM, clusters=[CLUSTER])
    # One node promises 0.999: enough for 0.999, one spare gives 1 - 0.001^2 for 0.9999.
    for asked, spares in ((0.999, 0), (0.9999, 1)):
        root = project(changed(HOSTED, objectives={"availability": asked}), platform=platform)
        size = only(planned(root)).chosen.self_hosted
        assert (size.nodes, size.spare_nodes) == (1, spares)
    batch = changed(HOSTED, tier="batch", objectives={"availability": 0.9999})
    assert only(planned(project(batch, platform=platform))).chosen.self_hosted.spare_nodes == 0


def test_3_hours_outside_the_duty_cycle_cost_what_they_really_cost(project: Any) -> None:
    pinned = {"kind": "provisioned", "deployment_type": "ProvisionedManaged"}
    costs = {}
    for hours in (168, 42):
        root = project(changed(CHAT, pin=pinned, traffic__active_hours_per_week=hours))
        chosen = only(planned(root)).chosen
        costs[hours] = chosen.cost
        # 25 PTU at 2.00 USD an hour are billed 730 hours a month, in use or not.
        assert chosen.cost.floor.step.units == 25
        assert chosen.cost.fixed_usd_per_month == pytest.approx(25 * 2.0 * 730)
    # Spill is paid for tokens: a quarter of the hours, a quarter of the spill.
    assert costs[42].variable_usd_per_month == pytest.approx(costs[168].variable_usd_per_month / 4)


def test_4_office_hours_traffic_has_no_zero_floor(project: Any) -> None:
    # 45 of 168 hours are active: over all hours the median would be 0. Over the active
    # minutes it is 220,000 tokens = 220,000 x (0.85 + 4 x 0.15) = 319,000 weighted, 21.4 PTU.
    office = changed(CHAT, objectives={"dedicated": True}, traffic__active_hours_per_week=45)
    chosen = only(planned(project(office))).chosen
    assert chosen.option.kind == "provisioned"
    assert chosen.cost.floor.step.units == 25
    assert chosen.floor_tokens_per_minute >= 220_000
    assert chosen.cost.dedication_usd_per_month > 0


def test_4_the_allowed_spill_share_bounds_the_floor(project: Any) -> None:
    pin = {"kind": "provisioned", "deployment_type": "ProvisionedManaged", "spill_to": "Standard"}
    floors = []
    for allowed in (1.0, 0.05):
        root = project(changed(CHAT, pin=pin, objectives={"max_spill_share": allowed}))
        floor = only(planned(root)).chosen.cost.floor
        assert floor.spill_share <= allowed
        floors.append(floor.step.units)
    assert floors == [25, 50]


def test_4_quota_that_is_too_small_is_explained(project: Any) -> None:
    account = {
        **PLATFORM["accounts"][0],
        "quotas": [{"deployment_type": "ProvisionedManaged", "units": 20}],
    }
    workload = changed(CHAT, objectives={"dedicated": True})
    plan = planned(project(workload, platform=changed(PLATFORM, accounts=[account])))
    assert only(plan).status == "infeasible"
    assert isinstance(verdict_error(plan), Infeasible)
    assert losing(only(plan), "/ProvisionedManaged").lost == "quota"


@pytest.mark.parametrize("critical", [True, False])
def test_5_unverified_latency_never_passes_a_critical_workload(
    project: Any, critical: bool
) -> None:
    workload = changed(CHAT, critical=critical, objectives={"ttft_p95_ms": 2_000})
    decision = only(planned(project(workload)))
    if critical:
        assert decision.status == "infeasible"
        assert "unverified" in losing(decision, "/Standard").why
    else:
        assert decision.chosen.option.deployment_type == "Standard"
        assert decision.tightest_objective == "TTFT p95 2,000 ms unverified"


@pytest.mark.parametrize(("measured", "status"), [(1_500, "decided"), (2_500, "infeasible")])
def test_5_a_measured_latency_is_held_against_the_objective(
    project: Any, measured: float, status: str
) -> None:
    row = {
        "provider": "azure",
        "model": "gpt-4.1-mini",
        "deployment_type": "Standard",
        "region": "australiaeast",
        "ttft_p95_ms": measured,
        "itl_p95_ms": 30,
        "date": "2026-11-01",
        "ref": "load test",
    }
    workload = changed(CHAT, critical=True, objectives={"ttft_p95_ms": 2_000})
    plan = planned(project(workload, platform=changed(PLATFORM, latencies=[row])))
    assert only(plan).status == status


def test_6_an_owned_reservation_is_not_abandoned(project: Any) -> None:
    # 25 regional PTU already paid for until after the horizon: using them costs nothing more,
    # pay-as-you-go would cost its full bill.
    owned = {
        "id": "r1",
        "provider": "azure",
        "deployment_type": "ProvisionedManaged",
        "region": "australiaeast",
        "units": 25,
        "term_end": "2028-01-31",
        "usd_per_month": 18_000,
    }
    plan = planned(project(CHAT, platform=changed(PLATFORM, commitments=[owned])))
    chosen = only(plan).chosen
    assert chosen.option.kind == "provisioned"
    assert chosen.cost.floor.step.units == 25
    assert chosen.cost.fixed_usd_per_month == 0.0
    assert plan.totals.sunk_usd_per_month == 18_000
    # It lapses a day before the plan's date: nothing is owned, pay-as-you-go wins again.
    lapsed = changed(PLATFORM, commitments=[{**owned, "term_end": "2026-11-28"}])
    assert only(planned(project(CHAT, platform=lapsed))).chosen.option.kind == "payg"


@pytest.mark.parametrize(
    ("horizon", "exit_plan", "why"),
    [
        (1, True, "a 12-month term outlives the 1-month horizon"),
        (13, True, "not comparable"),
        (12, False, "missing: exit plan"),
    ],
)
def test_6_a_term_outlives_neither_horizon_nor_model(
    project: Any, horizon: int, exit_plan: bool, why: str
) -> None:
    rate = {
        "kind": "provisioned",
        "provider": "azure",
        "deployment_type": "ProvisionedManaged",
        "region": "australiaeast",
        "term_months": 12,
        "usd_per_unit_month": 700,
        "date": "2026-11-01",
        "ref": "quote",
    }
    workload = changed(CHAT, horizon_months=horizon)
    if not exit_plan:
        del workload["exit_plan"]
    decision = only(planned(project(workload, platform=changed(PLATFORM, rates=[rate]))))
    outcome = losing(decision, "/ProvisionedManaged/12-month")
    assert outcome.lost == "term"
    assert why in outcome.why


def test_7_a_crossover_beyond_the_capacity_is_none(project: Any) -> None:
    quiet = {"p10": 50, "p50": 100, "p90": 150, "p99": 190, "peak": 200}
    one_node = changed(CLUSTER, nodes=[{"instance": "Standard_ND96isr_H100_v5", "max_nodes": 1}])
    workload = changed(HOSTED, traffic__tokens_per_minute=quiet)
    chosen = only(
        planned(project(workload, platform=changed(PLATFORM, clusters=[one_node])))
    ).chosen
    even = chosen.cost.break_even
    # 104,098 USD a month over 0.71 USD per million is 146.6 B tokens: more than the node serves.
    assert even.commitment_usd_per_month == pytest.approx(142.6 * 730)
    assert even.tokens_per_month is None
    assert "none within capacity" in even.note
    assert even.output_fraction == 0.15


def test_7_engineering_is_sunk_only_where_a_gate_forces_self_hosting(project: Any) -> None:
    platform = changed(
        PLATFORM, clusters=[CLUSTER], engineering={"usd_per_month": 25_000, "note": "team"}
    )
    free = changed(
        CHAT,
        name="free",
        models=[{"name": "meta-llama/Llama-3.3-70B-Instruct"}],
        classification="internal",
        residency={
            "jurisdictions": [
                "AU",
                "US",
                "EU",
                "EEA",
                "CH",
                "GB",
                "CA",
                "JP",
                "KR",
                "IN",
                "BR",
                "SG",
                "HK",
                "ID",
                "MY",
                "NZ",
                "MX",
                "CL",
                "ZA",
                "AE",
                "QA",
                "IL",
            ]
        },
    )
    alone = planned(project(free, platform=platform))
    hosted = losing(only(alone), "self_hosted")
    assert hosted.compared_usd_per_month == pytest.approx(hosted.cost.total_usd_per_month + 25_000)
    both = planned(project(free, HOSTED, platform=platform))
    by_name = {decision.workload: decision for decision in both.decisions}
    hosted = losing(by_name["free"], "self_hosted")
    assert hosted.compared_usd_per_month == pytest.approx(hosted.cost.total_usd_per_month)
    assert both.totals.engineering_usd_per_month == 25_000


def test_an_unknown_price_is_never_zero(project: Any) -> None:
    # gpt-5-mini has no regional meter in australiaeast: pinned, it is named and has no price.
    pin = {"model": "gpt-5-mini", "deployment_type": "Standard"}
    plan = planned(project(changed(CHAT, models=[{"name": "gpt-5-mini"}], pin=pin)))
    decision = only(plan)
    assert decision.status == "infeasible"
    outcome = losing(decision, "/Standard")
    assert outcome.lost == "unknown_price"
    assert outcome.cost.total_usd_per_month is None
    assert plan.totals.undecided_workloads == 1
    assert isinstance(verdict_error(plan), Infeasible)


def test_9_every_decision_has_its_ladder(project: Any) -> None:
    platform = changed(PLATFORM, clusters=[CLUSTER])
    plan = planned(project(CHAT, HOSTED, platform=platform))
    ladders = {
        decision.workload: " | ".join(rung.step for rung in decision.ladder)
        for decision in plan.decisions
    }
    assert "429" in ladders["chat"]
    assert "no spill: restricted data" in ladders["hosted"]
    assert "is rejected at once" in ladders["hosted"]


@pytest.mark.parametrize(
    ("pin", "rule"),
    [
        ({"deployment_type": "GlobalStandard"}, "RES-001"),
        (
            {"deployment_type": "ProvisionedManaged", "spill_to": "GlobalStandard"},
            "RES-003",
        ),
    ],
)
def test_a_pin_outside_the_residency_is_denied(project: Any, pin: Any, rule: str) -> None:
    plan = planned(project(changed(CHAT, pin=pin)))
    assert plan.verdict == "deny"
    error = verdict_error(plan)
    assert isinstance(error, PolicyDenied)
    assert error.exit_code == 5
    for part in (rule, "subject:", "observed:", "expected:", "remedy:", "citation:"):
        assert part in str(error)


def test_equal_input_gives_equal_bytes_in_any_process_place_and_time_zone(
    project: Any, tmp_path: Path
) -> None:
    root = project(CHAT, HOSTED, platform=changed(PLATFORM, clusters=[CLUSTER]))
    first = planned(root).to_json()
    assert (root / "out/s/plan.json").read_text() == first
    moved = tmp_path / "elsewhere" / "clone"
    shutil.copytree(root / "stacks", moved / "stacks")
    environ = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    environ["PYTHONPATH"] = str(Path(planner.__file__).parents[1])
    command = [sys.executable, "-m", "planner", "plan", "--stack", "s", "--format", "json"]
    again = subprocess.run(command, cwd=moved, env=environ, capture_output=True, check=True)
    assert again.stdout.decode() == first
