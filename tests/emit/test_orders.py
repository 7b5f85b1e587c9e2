"""Orders over a whole stack: what is owned, refunds, batch types, quota, and what comes first."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner import bedrock
from planner.api import plan_stack
from planner.capacity import CapacityConfirmation, Resources
from planner.catalog.loader import load_catalog
from planner.diff import scale_down_warnings
from planner.plan import Plan
from planner.report.explain import explain
from planner.report.text import purchase_line, summary
from planner.units import usd_a_month
from tests.clouds import PLATFORM, WORKLOADS
from tests.projects import changed
from tools.shell_env import PROJECT

Project = Callable[..., Path]
AT = "2026-11-29"
COPILOT = WORKLOADS[0]
TWO = (changed(COPILOT, name="first"), changed(COPILOT, name="second"))


def planned(root: Path, stack: str = "s") -> Plan:
    return plan_stack(root, stack, at=AT, write=False)


def owning(units: int) -> dict[str, Any]:
    return {
        "id": "r-1",
        "provider": "azure",
        "deployment_type": "DataZoneProvisionedManaged",
        "region": "eastus2",
        "units": units,
        "term_end": "2027-11-29",
        "usd_per_month": 1_000,
    }


def test_owned_units_serve_one_deployment_only(project: Project) -> None:
    """15 owned PTU under two deployments of 15 leave 15 to buy, not none."""
    owned = owning(15)
    plan = planned(project(*TWO, platform=changed(PLATFORM, commitments=[owned])))
    deployed = sum(d.capacity for d in plan.resources.deployments if d.kind == "provisioned")
    bought = sum(item.units for item in plan.resources.purchases)
    assert deployed >= 30
    assert bought == deployed - 15


def test_the_cap_on_refunds_is_one_for_the_stack(project: Project) -> None:
    """Azure refunds USD 50,000 in twelve months, over all reservations (reservations page)."""
    plan = planned(project(*TWO, platform=PLATFORM))
    bought = plan.resources.purchases
    assert [item.workload for item in bought] == ["first", "second"]
    # gpt-4.1-mini retires on 2027-04-14: 136 days of 730 hours a month are 4.471 months.
    months_left = 12 - (dt.date(2027, 4, 14) - dt.date(2026, 11, 29)).days / (730 / 24)
    at_stake = [item.usd_per_month * months_left for item in bought]
    assert sum(at_stake) > 50_000
    exits = [item.exit_usd or 0.0 for item in bought]
    assert sum(exits) == pytest.approx(sum(at_stake) - 50_000, abs=1)
    assert exits[0] == pytest.approx(max(0.0, at_stake[0] - 50_000), abs=1)
    assert "one yearly cap of $50,000 for the stack" in bought[1].exit_note

    # What a signature names stands wherever somebody is asked for it.
    signing = [step.text for step in plan.resources.steps if step.text.startswith("Sign for")]
    for item, step, decision in zip(bought, signing, plan.decisions, strict=True):
        named = f"order digest {item.order_digest}"
        assert named in step
        line = next(line for line in summary(plan).splitlines() if named in line)
        assert line.startswith(f"  not signable: capacity is not confirmed: {item.workload}, ")
        assert f"{usd_a_month(item.usd_per_month)}; order digest" in line
        assert f"    {line.strip()}" in explain(plan, decision).splitlines()
    confirmed = bought[0].model_copy(
        update={"capacity_confirmed": CapacityConfirmation(units=10**6, date="2026-11-20", ref="T")}
    )
    assert purchase_line(confirmed).startswith("to sign: first, ")


def test_batch_work_is_deployed_as_the_type_whose_price_it_is_planned_at() -> None:
    """Azure's batch price holds for batch types only, with a quota of enqueued tokens."""
    plan = planned(PROJECT, "dev")
    (batch,) = [item for item in plan.resources.deployments if item.tier == "batch"]
    assert (batch.deployment_type, batch.scope) == ("DataZoneBatch", "zone")
    decision = next(item for item in plan.decisions if item.workload == batch.workload)
    mix = decision.mix
    day = mix.tokens_per_month / mix.active_hours_per_month * 24
    assert batch.capacity == math.ceil(day * 1.2 / 1000)
    (quota,) = [q for q in plan.resources.quotas if q.deployment_type == "DataZoneBatch"]
    assert quota.unit == "1,000 enqueued tokens"
    assert any("enqueued tokens needed" in step.text for step in plan.resources.steps)


def test_batch_work_without_a_batch_price_keeps_its_type() -> None:
    plan = planned(PROJECT, "bank-au")
    (batch,) = [item for item in plan.resources.deployments if item.tier == "batch"]
    assert batch.deployment_type == "Standard"


def test_output_of_claude_takes_five_times_its_tokens_of_a_bedrock_quota() -> None:
    """10,000 output tokens use 50,000 of quota (Bedrock, how tokens are counted; case PT-15)."""
    catalog = load_catalog()
    claude, nova = catalog.model("claude-sonnet-5"), catalog.model("nova-pro")
    assert bedrock.quota_weight(claude, 1.0) * 10_000 == 50_000
    assert bedrock.quota_weight(claude, 0.2) == pytest.approx(0.8 + 5 * 0.2)
    assert bedrock.quota_weight(nova, 0.2) == pytest.approx(1.0)


def test_quota_counts_the_models_tokens(project: Project) -> None:
    """A model that uses twice the tokens for the same work needs twice the quota."""
    found = []
    for multiplier in (1.0, 2.0):
        model = {"name": "nova-pro", "token_multiplier": multiplier}
        plan = planned(project(changed(WORKLOADS[2], models=[model]), platform=PLATFORM))
        found.append(plan.resources.deployments[0].capacity)
    assert found[1] == pytest.approx(2 * found[0], abs=1)


@pytest.mark.parametrize(
    ("workload", "after"), [(1, "Create notes:"), (3, "Callers of vision send the header")]
)
def test_what_is_bought_as_capacity_is_signed_for_before_it_is_used(
    project: Project, workload: int, after: str
) -> None:
    plan = planned(project(WORKLOADS[workload], platform=PLATFORM))
    steps = plan.resources.steps
    signed = next(s.number for s in steps if s.text.startswith("Sign for"))
    used = next(s.number for s in steps if s.text.startswith(after))
    assert signed < used


@pytest.mark.parametrize(
    ("provider", "told"),
    [
        ("azure", "the reservation for its 12-month term bills on"),
        ("gcp", "an order shrinks at its renewal only: its 12-month term is paid"),
        ("aws", "what is bought for its 12-month term is paid to the end"),
    ],
)
def test_going_smaller_inside_a_term_saves_nothing_and_says_so(
    project: Project, provider: str, told: str
) -> None:
    plan = planned(project(COPILOT, platform=PLATFORM))
    (floor,) = [d for d in plan.resources.deployments if d.kind == "provisioned"]
    old = floor.model_copy(update={"provider": provider, "term_months": 12, "capacity": 20})
    kept = {"node_pools": (), "servers": (), "purchases": ()}

    def holding(capacity: int) -> Resources:
        item = old.model_copy(update={"capacity": capacity})
        return Resources(deployments=(item,), **kept)

    warned = scale_down_warnings(holding(20), holding(15))
    assert any(told in line for line in warned), warned
    assert not any("term" in line and "paid" in line for line in scale_down_warnings(
        holding(20), holding(20)
    ))  # fmt: skip
