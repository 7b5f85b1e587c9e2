"""What gives way under pressure, and what holds each step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.api import plan_stack
from planner.decision import Rung
from planner.emit.degradation import spill_targets
from planner.plan import Plan
from planner.report.explain import explain
from tests.clouds import PLATFORM, WORKLOADS
from tests.projects import CHAT, CLUSTER, changed
from tests.projects import PLATFORM as HOSTED_PLATFORM

AT = "2026-11-29"


@pytest.fixture
def rungs(project: Callable[..., Path]) -> Callable[..., dict[str, tuple[Rung, ...]]]:
    """`rungs(*workloads, platform=...)`: each workload's ladder."""

    def of(*workloads: Any, platform: Any) -> dict[str, tuple[Rung, ...]]:
        plan = plan_stack(project(*workloads, platform=platform), "s", at=AT, write=False)
        return {decision.workload: decision.ladder for decision in plan.decisions}

    return of


def by(ladder: tuple[Rung, ...], words: str) -> str:
    (found,) = [rung.by for rung in ladder if words in rung.step]
    return found


def test_a_managed_service_is_held_by_its_provider_and_callers(rungs: Any) -> None:
    found = rungs(*WORKLOADS, platform=PLATFORM)
    assert by(found["copilot"], "spill to DataZoneStandard") == "provider"
    assert by(found["notes"], "no spill target is used") == "gateway"
    assert by(found["copilot"], "batch on the same platform is shed first") == "caller"
    assert all(by(ladder, "answer 429") == "provider" for ladder in found.values())
    assert not [rung for rung in found["tags"] if "spill" in rung.step], "pay-as-you-go is a spill"


def test_own_servers_are_held_by_the_platform(rungs: Any) -> None:
    model = [{**CHAT["models"][0], "name": "Qwen/Qwen3-32B"}]
    alone = changed(CHAT, name="alone", models=model, pin={"kind": "self_hosted"})
    night = changed(alone, name="night", tier="batch")
    secret = changed(alone, name="secret", classification="restricted")
    platform = {"as_of": "2026-11-29", "clusters": [CLUSTER]}
    found = rungs(alone, night, secret, platform=platform)
    assert {rung.by for ladder in found.values() for rung in ladder} == {"platform"}
    assert "PriorityClass of the batch tier" in found["night"][0].held_by
    assert "PriorityClass of the interactive tier" in found["alone"][0].held_by
    assert by(found["secret"], "no spill: restricted data") == "platform"
    held = [rung.held_by for rung in found["alone"]]
    assert any("--max-num-queued-reqs" in text for text in held)
    assert any("--max-model-len" in text for text in held)


def test_overflow_of_own_servers_is_for_a_gateway_which_is_told_where(
    project: Callable[..., Path],
) -> None:
    model = [{**CHAT["models"][0], "name": "Qwen/Qwen3-32B"}]
    pin = {"kind": "self_hosted", "spill_to": "Standard"}
    workload = changed(CHAT, models=model, pin=pin, classification="internal")
    sold = {
        "kind": "payg",
        "provider": "azure",
        "model": "Qwen/Qwen3-32B",
        "deployment_type": "Standard",
        "region": "australiaeast",
        "input_usd_per_mtok": 0.5,
        "output_usd_per_mtok": 2.0,
        "date": "2026-11-01",
        "ref": "quote 3",
    }
    own = {**HOSTED_PLATFORM, "clusters": [CLUSTER], "rates": [sold]}
    plan = plan_stack(project(workload, platform=own), "s", at=AT, write=False)
    (decision,) = plan.decisions
    (rung,) = [rung for rung in decision.ladder if "spill to Standard" in rung.step]
    assert rung.by == "gateway"
    assert "spill_targets.chat" in rung.held_by
    target = spill_targets(plan)["chat"]
    assert (target["account"], target["deployment_type"]) == ("aue", "Standard")


def test_explain_shows_what_holds_each_step(project: Callable[..., Path]) -> None:
    plan: Plan = plan_stack(project(*WORKLOADS, platform=PLATFORM), "s", at=AT, write=False)
    decision = next(item for item in plan.decisions if item.workload == "copilot")
    lines = [line.strip() for line in explain(plan, decision).splitlines()]
    for rung in decision.ladder:
        assert f"{rung.step} [{rung.by}: {rung.held_by}]" in lines
