"""What happens to a plan's servers when machines go, when work bursts and when somebody drains.

The bank's stack, with batch on its own metal, has a spare. KWOK plays the kubelets: pods start at
once, so that these tests are about scheduling, priorities, quotas and budgets, not load times.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from planner.emit.labels import POOL_LABEL, TIER_LABEL
from planner.emit.tenancy import GPU_QUOTA
from tests.cluster.api import Api, Object, ready, remove, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.deployed import Deployed, deployed
from tests.cluster.machines import create_nodes, system_node
from tests.cluster.stacks import planned

CHAT, BATCH = "case-notes", "statement-digest"
GPU = "nvidia.com/gpu"
SETTLED_SECONDS = 2.0
"""Long enough for the scheduler to have moved what it would move."""


@pytest.fixture(scope="module")
def bank(plane: ControlPlane) -> Iterator[Deployed]:
    with deployed(plane.api(), planned("bank-au")) as found:
        yield found


def floor(found: Deployed, name: str) -> int:
    """Replicas that the demand needs, without the spare."""
    decision = next(item for item in found.plan.decisions if item.workload == name)
    assert decision.chosen is not None
    assert decision.chosen.self_hosted is not None
    return decision.chosen.self_hosted.replicas


def test_the_demand_is_served_while_a_node_is_gone(bank: Deployed) -> None:
    """The spare replica runs already: one machine less is still the floor."""
    (lost, *_) = bank.pods(CHAT)
    node, planned = bank.node(lost), len(bank.pods(CHAT))
    bank.lose(node)
    try:
        until("a pod is made in its place", lambda: len(bank.pods(CHAT)) == planned)
        assert bank.ready(CHAT) >= floor(bank, CHAT) == planned - 1
        # Its pool is full, and it does not go elsewhere: the batch node has to stay free of it.
        assert_only_on_own_pools(bank)
    finally:
        bank.replace(node)
    until("all replicas are Ready again", lambda: bank.runs(CHAT, planned))


def test_a_lost_pod_comes_back_on_the_spare(bank: Deployed) -> None:
    planned = len(bank.pods(CHAT))
    bank.scale(CHAT, floor(bank, CHAT))
    (pod,) = bank.pods(CHAT)
    node = bank.node(pod)
    bank.lose(node)
    try:
        until("it runs again", lambda: bank.runs(CHAT, 1))
        (moved,) = bank.pods(CHAT)
        assert moved["metadata"]["uid"] != pod["metadata"]["uid"]
        assert moved["spec"]["nodeName"] != pod["spec"]["nodeName"]
        assert_only_on_own_pools(bank)
    finally:
        bank.replace(node)
        bank.scale(CHAT, planned)


def test_a_drain_with_a_spare_completes(bank: Deployed) -> None:
    planned = len(bank.pods(CHAT))
    bank.scale(CHAT, floor(bank, CHAT))
    (pod,) = bank.pods(CHAT)
    node = bank.node(pod)
    bank.cordon(node)
    try:
        bank.evict(CHAT, pod)
        until("it runs elsewhere", lambda: bank.runs(CHAT, 1))
        assert bank.pods(CHAT)[0]["spec"]["nodeName"] != node["metadata"]["name"]
    finally:
        bank.cordon(node, closed=False)
        bank.scale(CHAT, planned)


def test_batch_waits_sooner_than_run_on_an_interactive_node(bank: Deployed) -> None:
    planned = len(bank.pods(CHAT))
    bank.scale(CHAT, floor(bank, CHAT))
    (pod,) = bank.pods(BATCH)
    node = bank.node(pod)
    bank.lose(node)
    try:
        until("a pod is made in its place", lambda: bank.pods(BATCH))
        time.sleep(SETTLED_SECONDS)
        (waiting,) = bank.pods(BATCH)
        assert "nodeName" not in waiting["spec"]
        assert bank.ready(CHAT) == 1
    finally:
        bank.replace(node)
        bank.scale(CHAT, planned)
    until("batch runs again", lambda: bank.runs(BATCH, 1))


def test_a_new_version_never_takes_more_than_one_replica(bank: Deployed) -> None:
    deployment, _ = bank.server(CHAT)
    planned = deployment["spec"]["replicas"]
    before = {pod["metadata"]["uid"] for pod in bank.pods(CHAT)}
    fewest = planned
    change = {"template": {"metadata": {"annotations": {"example.com/version": "2"}}}}
    bank.api.patch(deployment, {"spec": {**change, "minReadySeconds": 1}})

    def done() -> bool:
        nonlocal fewest
        fewest = min(fewest, bank.ready(CHAT))
        now = {pod["metadata"]["uid"] for pod in bank.pods(CHAT)}
        return bank.runs(CHAT, planned) and not now & before

    until("all pods are new", done, 60)
    assert fewest >= planned - 1


def test_the_quota_stops_what_the_plan_does_not_have(bank: Deployed) -> None:
    """Somebody scales by hand: pods beyond the plan are refused, those of the plan stay."""
    deployment, _ = bank.server(CHAT)
    planned, space = deployment["spec"]["replicas"], deployment["metadata"]["namespace"]
    quota = bank.api.get("v1", "ResourceQuota", GPU_QUOTA, space)
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    gpus = int(container["resources"]["requests"][GPU])
    most = int(quota["spec"]["hard"][f"requests.{GPU}"]) // gpus
    assert planned <= most <= planned + 1
    bank.api.patch(deployment, {"spec": {"replicas": most + 3}})
    try:
        until("the quota has refused", lambda: refusals(bank.api, space))
        time.sleep(SETTLED_SECONDS)
        assert len(bank.pods(CHAT)) == most
        assert bank.ready(CHAT) == planned
    finally:
        bank.scale(CHAT, planned)


def refusals(api: Api, space: str) -> list[str]:
    events = [item for item in api.list("v1", "Event", space) if item["reason"] == "FailedCreate"]
    return [item["message"] for item in events if f"exceeded quota: {GPU_QUOTA}" in item["message"]]


def assert_only_on_own_pools(found: Deployed) -> None:
    nodes = {item["metadata"]["name"]: item for item in found.api.list("v1", "Node")}
    for placed in found.resources.servers:
        for pod in found.pods(placed.server.name):
            name = pod["spec"].get("nodeName")
            if name is not None:
                assert nodes[name]["metadata"]["labels"][POOL_LABEL] == placed.pool.name


@pytest.fixture
def shared(bank: Deployed) -> Iterator[str]:
    """A namespace and a node of eight GPUs that both tiers may use: no plan makes such a one."""
    pool = {POOL_LABEL: "shared"}
    node = system_node("shared-0")
    node["metadata"]["labels"] |= pool
    for part in node["status"].values():
        part |= {GPU: "8"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shared"}}
    create_nodes(bank.api, [node])
    bank.api.apply(space)
    until("it has a service account", lambda: bank.api.list("v1", "ServiceAccount", "shared"))
    yield "shared"
    remove(bank.api, [space])
    remove(bank.api, [node])


def crowd(found: Deployed, space: str, name: str, like: str, replicas: int, gpus: int) -> None:
    """Pods of a server's tier, small ones, on the shared node."""
    template = found.server(like)[0]["spec"]["template"]
    asked = {"cpu": "10m", "memory": "16Mi", GPU: str(gpus)}
    labels: dict[str, Any] = {"app.kubernetes.io/instance": name}
    labels |= {TIER_LABEL: template["metadata"]["labels"][TIER_LABEL]}
    spec: Object = {
        "priorityClassName": template["spec"]["priorityClassName"],
        "tolerations": template["spec"]["tolerations"],
        "nodeSelector": {POOL_LABEL: "shared"},
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "i", "resources": {"limits": asked}}],
    }
    found.api.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": space},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
    )


def test_a_burst_of_batch_gives_way_first(bank: Deployed, shared: str) -> None:
    """Two GPUs interactive and six batch on eight; then four more interactive: batch goes."""
    crowd(bank, shared, "old", CHAT, 1, 2)
    until("the interactive pod runs", lambda: bank.runs("old", 1))
    crowd(bank, shared, "burst", BATCH, 10, 1)
    until("the burst fills the node", lambda: bank.ready("burst") == 6)
    (kept,) = bank.pods("old")
    crowd(bank, shared, "new", CHAT, 1, 4)
    until("interactive has its place", lambda: bank.runs("new", 1))
    time.sleep(SETTLED_SECONDS)
    assert bank.ready("burst") == 2
    assert len(bank.pods("burst")) == 10
    (still,) = bank.pods("old")
    assert ready(still)
    assert still["metadata"]["uid"] == kept["metadata"]["uid"]
