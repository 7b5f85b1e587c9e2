"""The guard as data: what of the plan is in it, and what fails closed."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from planner.decision import Rung
from planner.emit import settling, stack
from planner.emit.admission import admission_manifests, guard_name, guarded_by
from planner.emit.admission_cel import variables_of
from planner.emit.admission_rules import rules_of
from planner.emit.degradation import degradation, spill_targets
from planner.errors import PlannerError
from planner.plan import Plan
from tests.emit.conftest import CHAT, H100, with_resources
from tests.emit.recorder import Recorder


def test_the_guard_fails_closed_and_looks_at_its_own_namespaces_only(plan: Plan) -> None:
    policy, binding = admission_manifests(plan, "prod-sydney")
    spec = policy["spec"]
    namespaces = {s.namespace for s in plan.resources.servers if s.cluster == "prod-sydney"}
    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConditions"][0]["expression"] == (
        f"request.namespace in {json.dumps(sorted(namespaces))}"
    )
    assert binding["spec"] == {
        "policyName": policy["metadata"]["name"],
        "validationActions": ["Deny"],
    }
    assert policy["metadata"]["name"] == binding["metadata"]["name"] == guard_name(plan.stack)
    assert admission_manifests(plan, "prod-sydney") == [policy, binding]
    assert all(rule["message"] and rule["messageExpression"] for rule in spec["validations"])


def test_a_cluster_without_servers_has_no_guard(plan: Plan) -> None:
    assert admission_manifests(plan, "nowhere") == []


def test_unknown_countries_admit_nothing(plan: Plan) -> None:
    known = guarded_by(plan, "prod-sydney").regions["chat"]
    assert known == ("ap-southeast-2", "australiaeast")
    pools = tuple(pool.model_copy(update={"country": ""}) for pool in plan.resources.node_pools)
    unknown = with_resources(plan, node_pools=pools)
    assert set(guarded_by(unknown, "prod-sydney").regions.values()) == {()}
    decisions = tuple(item.model_copy(update={"countries": ()}) for item in plan.decisions)
    without = plan.model_copy(update={"decisions": decisions})
    assert set(guarded_by(without, "prod-sydney").regions.values()) == {()}


def test_the_guard_goes_through_no_map(plan: Plan) -> None:
    """CEL goes through a map in any order: a refusal would read differently from call to call."""
    held = guarded_by(plan, "prod-sydney")
    maps = [name for name, text in variables_of(held).items() if text.startswith("{")]
    assert {"poolTiers", "regions", "priorityClasses"} <= set(maps)
    gone_through = re.compile(rf"variables\.({'|'.join(maps)})\.(map|filter|exists_one)\(")
    for rule in rules_of(held):
        assert not gone_through.search(rule.expression + rule.told)


def test_only_images_that_the_plan_has_without_a_digest_may_be_without(plan: Plan) -> None:
    assert guarded_by(plan, "prod-sydney").unpinned_images == ()
    (image,) = guarded_by(plan, "batch-aks").unpinned_images
    assert "@sha256:" not in image
    text = json.dumps(admission_manifests(plan, "batch-aks"))
    assert image in text


def test_a_stack_that_names_no_object_is_told() -> None:
    assert guard_name("Prod_EU") == "llm-prod-eu-guard"
    with pytest.raises(PlannerError, match="admission policy"):
        guard_name("x" * 60)


def test_a_gateway_is_told_where_overflow_goes_and_nothing_else(plan: Plan) -> None:
    units, payg, _ = plan.resources.deployments
    assert spill_targets(plan) == {}, "the provider itself sends on what it spills over"
    by_gateway = units.model_copy(update={"spillover_to": None, "gateway_spill_to": payg.name})
    target = spill_targets(with_resources(plan, deployments=(by_gateway, payg)))
    assert target["assist"]["deployment"] == "assist-payg"
    assert (target["assist"]["account"], target["assist"]["region"]) == (
        "oai-sydney",
        "australiaeast",
    )
    other = payg.model_copy(update={"account": "oai-other"})
    assert spill_targets(with_resources(plan, deployments=(by_gateway, other))) == {}


def test_the_ladder_says_what_holds_each_step(plan: Plan) -> None:
    assert degradation(plan) == {}
    rung = Rung(step="wait", by="platform", held_by="PriorityClass")
    first = plan.decisions[0].model_copy(update={"ladder": (rung,)})
    told = degradation(plan.model_copy(update={"decisions": (first, *plan.decisions[1:])}))
    assert told == {"chat": [{"step": "wait", "by": "platform", "held_by": "PriorityClass"}]}


@pytest.mark.parametrize("preview", [True, False])
def test_servers_wait_until_their_guard_is_in_force(
    plan: Plan, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, preview: bool
) -> None:
    """A new workload would be held against the guard of the plan before."""
    waits: list[float] = []
    early: list[str] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0.3)
        early.extend(name for name in recorder.types() if name.endswith(":Deployment"))

    monkeypatch.setattr(settling, "sleep", sleep)
    plan = with_resources(plan, deployments=(), servers=(CHAT,), node_pools=(H100,))
    kubeconfigs = {"prod-sydney": "a"}
    recorder.run(lambda: stack.emit(plan, kubeconfigs=kubeconfigs), preview=preview)
    assert recorder.types().count("kubernetes:apps/v1:Deployment") == 1
    # The policy and its binding, before the server.
    assert waits == ([] if preview else [settling.SECONDS] * 2)
    assert early == []
