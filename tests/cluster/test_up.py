"""`pulumi up` of every example stack, whole, under the policy pack, on a real control plane.

Each stack is a copy with image digest and model revisions, and with its batch workload on the
stack's own cluster where that is possible; the bank's cluster declares all but KEDA. The cloud side
is answered by a stand-in that says yes (tests/cluster/clouds.py): its agent pools bring nodes.
Karpenter pools get theirs from real Karpenter. The tests of a stack run in order: up, look, up
again, destroy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.loader import load_catalog
from planner.emit.labels import POOL_LABEL, TIER_LABEL
from planner.plan import NodePool, Plan
from tests.cluster.api import Api, Object, Refused, ready, remove, until
from tests.cluster.clouds import Clouds, clouds
from tests.cluster.control_plane import ControlPlane, kubeconfig
from tests.cluster.karpenter import instance_type, karpenter
from tests.cluster.machines import ClaimKeeper, claims, create_nodes, system_node
from tests.cluster.stacks import (
    FEATURES,
    ON_OWN_METAL,
    PACK,
    Engine,
    copy_of,
    declare,
    engine_on,
    told,
)

pytestmark = pytest.mark.engine

TYPES = {"g6.xlarge": 0.8, "g6e.xlarge": 1.9, "p5.48xlarge": 55.0, "p5en.48xlarge": 63.3}
"""What Karpenter may choose from, USD an hour: what the stacks plan, and cheaper ones."""
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
DECLARING = "bank-au"
"""The stack whose cluster has everything that can be declared; it has both tiers."""
AWAY = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {
                                "key": "topology.kubernetes.io/region",
                                "operator": "In",
                                "values": ["brazilsouth"],
                            }
                        ]
                    }
                ]
            }
        }
    }
}
"""A region that no stack's residency has."""
SWAPPED = "spec.template.spec.nodeClassRef"
# Made by the control plane itself, while it runs.
PASSING = {"Event", "Lease", "EndpointSlice", "Endpoints", "ReplicaSet", "ControllerRevision"}


@dataclass
class Live:
    """A stack that is up, and what was there before."""

    plan: Plan
    api: Api
    engine: Engine
    clouds: Clouds
    before: set[str]

    def pods(self) -> list[Object]:
        """Pods of the plan's servers."""
        return self.api.list("v1", "Pod", labelSelector="app.kubernetes.io/name=vllm")

    def nodes(self) -> dict[str, Object]:
        return {item["metadata"]["name"]: item for item in self.api.list("v1", "Node")}


@pytest.fixture(scope="module")
def machines(plane: ControlPlane) -> Iterator[None]:
    """A node without GPU, and Karpenter: as on any cluster before a plan comes."""
    system = system_node()
    types = [instance_type("aws", name, ZONES, usd) for name, usd in TYPES.items()]
    create_nodes(plane.api(), [system])
    try:
        with karpenter(plane, types):
            yield
    finally:
        remove(plane.api(), [system])


@pytest.fixture(scope="module", params=sorted(ON_OWN_METAL))
def live(
    request: pytest.FixtureRequest,
    plane: ControlPlane,
    machines: None,
    tmp_path_factory: pytest.TempPathFactory,
    engine_env: dict[str, str],
    run_pulumi: Any,
) -> Iterator[Live]:
    """The stack, up; taken down at the end whatever the tests did."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    api = plane.api()
    copy = copy_of(request.param, folder)
    if request.param == DECLARING:
        declare(copy, FEATURES)
    plan = copy.plan()
    names = {pool.cluster: pool.region for pool in plan.resources.node_pools}
    before = inventory(api)
    with ExitStack() as stack:
        answering = stack.enter_context(clouds(api, names))
        for name in names:
            stack.enter_context(ClaimKeeper(api, claims(plan, name)))
        engine = engine_on(copy, folder, engine_env, run_pulumi, answering.attachment)
        for name in names:
            engine.connect(name, kubeconfig(plane))
        try:
            answer = engine.up("--skip-preview")
            assert answer.returncode == 0, told(answer)
            yield Live(plan, api, engine, answering, before)
        finally:
            engine.destroy()


def inventory(api: Api) -> set[str]:
    """Everything that is on the cluster and stays."""
    return {
        f"{item['kind']} {item['metadata'].get('namespace', '')}/{item['metadata']['name']}"
        for item in api.everything()
        if item["kind"] not in PASSING
    }


def test_every_planned_server_is_ready_on_its_own_pool(live: Live) -> None:
    """`up` waited for the Deployments; what the pods say is looked at here."""
    servers = {item.name: item for item in live.plan.resources.servers}
    assert servers
    pods, nodes = live.pods(), live.nodes()
    found = dict.fromkeys(servers, 0)
    for pod in pods:
        server = servers[pod["metadata"]["labels"]["app.kubernetes.io/instance"]]
        assert ready(pod), pod["status"]
        node = nodes[pod["spec"]["nodeName"]]["metadata"]["labels"]
        pool = pool_of(live.plan, server.cluster, server.node_pool)
        assert node[POOL_LABEL] == pool.name
        assert node["node.kubernetes.io/instance-type"] == pool.instance
        assert node["topology.kubernetes.io/region"] == pool.region
        found[server.name] += 1
    assert found == {name: item.replicas for name, item in servers.items()}


def test_tiers_do_not_meet(live: Live) -> None:
    nodes = live.nodes()
    for pod in live.pods():
        tier = pod["metadata"]["labels"][TIER_LABEL]
        assert nodes[pod["spec"]["nodeName"]]["metadata"]["labels"][TIER_LABEL] == tier
        assert pod["spec"]["priorityClassName"].endswith(f"-{tier}")
        assert (pod["spec"]["priority"] > 0) == (tier == "interactive")


def test_nodes_are_those_of_the_plan(live: Live) -> None:
    """Type, zones and taint of each GPU node; no more of them than the plan has."""
    gpu_nodes = [item for item in live.nodes().values() if POOL_LABEL in item["metadata"]["labels"]]
    pools = {pool.name: pool for pool in live.plan.resources.node_pools}
    count: dict[str, int] = {}
    for item in gpu_nodes:
        labels = item["metadata"]["labels"]
        pool = pools[labels[POOL_LABEL]]
        count[pool.name] = count.get(pool.name, 0) + 1
        zones = {zone if pool.cloud == "aws" else f"{pool.region}-{zone}" for zone in pool.zones}
        assert labels["topology.kubernetes.io/zone"] in zones
        assert labels.get("karpenter.sh/capacity-type", "on-demand") == "on-demand"
        taints = {(taint["key"], taint["effect"]) for taint in item["spec"]["taints"]}
        assert taints == {("nvidia.com/gpu", "NoSchedule")}
        gpus = load_catalog().instance(pool.cloud, pool.instance).gpus
        assert item["status"]["allocatable"]["nvidia.com/gpu"] == str(gpus)
    assert all(number <= pools[name].max_nodes for name, number in count.items())
    assert count.keys() == pools.keys()


def test_by_hand_nobody_does_what_the_plan_may_not(live: Live) -> None:
    """The guard that came with the stack refuses another region, and another tier's pool."""
    before = editions(live)
    pools = {pool.tier: pool for pool in live.plan.resources.node_pools}
    for deployment in live.api.list("apps/v1", "Deployment"):
        tier = deployment["metadata"]["labels"][TIER_LABEL]
        for change, why in (
            (AWAY, "must require topology.kubernetes.io/region"),
            ({"affinity": None}, "must require topology.kubernetes.io/region"),
            ({"nodeSelector": {POOL_LABEL: "mine"}}, "must name a pool of the plan"),
        ):
            with pytest.raises(Refused, match=why) as refused:
                live.api.patch(deployment, {"spec": {"template": {"spec": change}}})
            assert refused.value.status == 403
        for other in pools.keys() - {tier}:
            change = {"nodeSelector": {POOL_LABEL: pools[other].name}}
            with pytest.raises(Refused, match=f"tier {tier} may not run on pool"):
                live.api.patch(deployment, {"spec": {"template": {"spec": change}}})
    assert editions(live) == before


def test_a_second_up_changes_nothing(live: Live) -> None:
    """Where Karpenter serves, the test's own node class is all that differs from the program."""
    calls, before = len(live.clouds.calls), editions(live)
    if any(pool.kind == "karpenter" for pool in live.plan.resources.node_pools):
        answer = live.engine("preview", "--json", *PACK)
        assert answer.returncode == 0, told(answer)
        assert {path.rpartition(".")[0] for path in differences(answer.stdout)} == {SWAPPED}
    else:
        answer = live.engine.up("--skip-preview", "--expect-no-changes")
        assert answer.returncode == 0, told(answer)
    assert live.clouds.calls[calls:] == []
    assert editions(live) == before


def differences(preview: str) -> set[str]:
    """Paths that a preview would change; a resource to be made or deleted has a path, too."""
    found: set[str] = set()
    for step in json.loads(preview[preview.index("{") :])["steps"]:
        if step["op"] != "same":
            found |= set(step.get("detailedDiff") or {f"{step['op']} {step['urn']}"})
    return found


def test_destroy_leaves_nothing(live: Live) -> None:
    """The claims are the owner's: they go with their namespace, as the owner was told."""
    answer = live.engine.destroy()
    assert answer.returncode == 0, told(answer)
    assert live.clouds.held == {}
    until("Karpenter's nodes are gone", lambda: len(live.nodes()) == 1, 60)
    volumes = {name for name in inventory(live.api) if name.startswith("PersistentVolume ")}
    assert inventory(live.api) - volumes == live.before


def pool_of(plan: Plan, cluster: str, name: str) -> NodePool:
    return next(
        item for item in plan.resources.node_pools if (item.cluster, item.name) == (cluster, name)
    )


def editions(live: Live) -> Mapping[str, str]:
    """Which pods there are, and from which edition of a Deployment."""
    return {
        item["metadata"]["name"]: item["metadata"]["uid"]
        + str(item["metadata"].get("generation", ""))
        for item in (*live.pods(), *live.api.list("apps/v1", "Deployment"))
    }
