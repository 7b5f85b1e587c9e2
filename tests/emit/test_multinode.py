"""A replica that needs more GPUs than a node has: a group of pods, one of which answers."""

from __future__ import annotations

from typing import Any

import pytest

from planner.emit.grouping import clusters
from planner.errors import PlannerError
from planner.features import Features
from planner.plan import Plan
from tests.emit.conftest import CHAT
from tests.emit.objects import objects, one, site, with_servers

WIDE = CHAT.model_copy(
    update={
        "tensor_parallel": 8,
        "pipeline_parallel": 2,
        "gpus_per_replica": 16,
        "replicas": 1,
    }
)


@pytest.fixture
def group(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = one(with_servers(plan, WIDE), "LeaderWorkerSet", "chat")["spec"]
    return found


def pods(group: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    template = group["leaderWorkerTemplate"]
    return template["leaderTemplate"], template["workerTemplate"]


def container(template: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = template["spec"]["containers"][0]
    return found


def test_a_group_is_a_pod_on_each_node(group: dict[str, Any]) -> None:
    assert group["replicas"] == 1
    assert group["leaderWorkerTemplate"]["size"] == 2
    assert group["leaderWorkerTemplate"]["restartPolicy"] == "RecreateGroupOnPodRestart"
    assert group["rolloutStrategy"]["rollingUpdateConfiguration"] == {
        "maxSurge": 0,
        "maxUnavailable": 1,
    }
    for template in pods(group):
        assert container(template)["resources"]["limits"]["nvidia.com/gpu"] == "8"


def test_each_pod_knows_its_place(group: dict[str, Any]) -> None:
    leader, worker = (container(template)["args"] for template in pods(group))

    def value(args: list[str], flag: str) -> str:
        return args[args.index(flag) + 1]

    assert value(leader, "--nnodes") == value(worker, "--nnodes") == "2"
    assert (value(leader, "--node-rank"), value(worker, "--node-rank")) == (
        "0",
        "$(LWS_WORKER_INDEX)",
    )
    assert value(leader, "--master-addr") == value(worker, "--master-addr")
    assert value(leader, "--pipeline-parallel-size") == "2"
    assert "--headless" in worker
    assert "--headless" not in leader


def test_the_leader_alone_is_asked_and_found(plan: Plan, group: dict[str, Any]) -> None:
    leader, worker = pods(group)
    service = one(with_servers(plan, WIDE), "Service", "chat")["spec"]["selector"]
    assert service.items() <= leader["metadata"]["labels"].items()
    assert not service.items() <= worker["metadata"]["labels"].items()
    assert "readinessProbe" in container(leader)
    assert "readinessProbe" not in container(worker)


def test_workers_outlast_their_leaders_drain(group: dict[str, Any]) -> None:
    leader, worker = pods(group)
    sleeps = [container(t)["lifecycle"]["preStop"]["sleep"]["seconds"] for t in (leader, worker)]
    assert sleeps == [15, 15 + 120]
    for template, sleep in zip((leader, worker), sleeps, strict=True):
        assert sleep < template["spec"]["terminationGracePeriodSeconds"]


def test_pods_of_a_group_talk_on_any_port_and_to_nobody_else(plan: Plan) -> None:
    policy = one(with_servers(plan, WIDE), "NetworkPolicy", "chat")["spec"]
    chosen = {"matchLabels": {"leaderworkerset.sigs.k8s.io/name": "chat"}}
    assert policy["podSelector"] == chosen
    assert {"from": [{"podSelector": chosen}]} in policy["ingress"]
    assert {"to": [{"podSelector": chosen}]} in policy["egress"]


def test_without_the_feature_it_is_refused(plan: Plan) -> None:
    whole = with_servers(plan, WIDE)
    bare = (site("prod-sydney", Features()), site("batch-aks"))
    without = whole.model_copy(
        update={"resources": whole.resources.model_copy(update={"sites": bare})}
    )
    with pytest.raises(PlannerError, match=r"takes LeaderWorkerSet on the cluster.*features\.lws"):
        clusters(without)


def test_gpus_must_be_shared_evenly(plan: Plan) -> None:
    odd = WIDE.model_copy(
        update={"tensor_parallel": 3, "pipeline_parallel": 3, "gpus_per_replica": 9}
    )
    with pytest.raises(PlannerError, match="9 GPUs cannot be shared evenly by 2 nodes"):
        clusters(with_servers(plan, odd))


def test_a_quota_counts_every_pod_of_a_group(plan: Plan) -> None:
    whole = with_servers(plan, WIDE)
    gpus, servers = (item["spec"]["hard"] for item in objects(whole) if "Quota" in item["kind"])
    assert gpus == {"requests.nvidia.com/gpu": "16"}
    assert servers["pods"] == "2"
