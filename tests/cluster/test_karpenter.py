"""Emitted NodePools, provisioned by real Karpenter: type, zones, taints, and the limit.

Only the node class differs from what is sent to EKS (tests/cluster/karpenter.py). Karpenter may
choose among cheaper types, a zone more and spot offers, so that it is the NodePool that decides.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from planner.emit.karpenter import karpenter_manifests
from planner.emit.pool_terms import pool_selector, pool_taints, pool_tolerations
from planner.plan import NodePool
from tests.cluster.api import Api, Object, remove, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.karpenter import instance_type, karpenter
from tests.cluster.stacks import planned

TYPES = {"g6.xlarge": 0.8, "g6e.xlarge": 1.9, "p5.48xlarge": 55.0, "p5en.48xlarge": 63.3}
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
SPACE: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "crowd"}}
SETTLED_SECONDS = 5.0
"""More than Karpenter's batching window: what it wants to add, it has added."""


@pytest.fixture(scope="module")
def provisioning(plane: ControlPlane) -> Iterator[Api]:
    api = plane.api()
    with karpenter(plane, [instance_type("aws", name, ZONES, usd) for name, usd in TYPES.items()]):
        api.apply(SPACE)
        until("it has a service account", lambda: api.list("v1", "ServiceAccount", "crowd"))
        yield api
        remove(api, [SPACE])


@pytest.fixture(scope="module")
def pools() -> dict[str, NodePool]:
    """The pools of the software company and of the developers' stack, by tier."""
    plans = (planned("saas-global"), planned("dev"))
    return {pool.tier: pool for plan in plans for pool in plan.resources.node_pools}


def provision(api: Api, pool: NodePool, pods: int, seconds: float = 60) -> tuple[list[Object], int]:
    """Ask for that many whole nodes of a pool; return the nodes that came and the pods placed."""
    (manifest,) = karpenter_manifests(pool)
    labels = {"app": pool.name}
    gpus = {"nvidia.com/gpu": str(pool.gpus_per_node)}
    spec = {
        "nodeSelector": pool_selector(pool),
        "tolerations": pool_tolerations(pool),
        "containers": [{"name": "c", "image": "i", "resources": {"limits": gpus}}],
    }
    crowd = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": pool.name, "namespace": "crowd"},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    for item in (manifest, crowd):
        api.apply(item)

    def placed() -> int:
        found = api.list("v1", "Pod", "crowd", labelSelector=f"app={pool.name}")
        return sum(pod["status"]["phase"] == "Running" for pod in found)

    try:
        until("its first nodes came", lambda: placed() >= min(pods, pool.max_nodes), seconds)
        time.sleep(SETTLED_SECONDS)
        selector = ",".join(f"{key}={value}" for key, value in pool_selector(pool).items())
        return api.list("v1", "Node", labelSelector=selector), placed()
    finally:
        remove(api, [crowd, manifest], 60)
        until("its nodes went", lambda: not api.list("karpenter.sh/v1", "NodeClaim"), 60)


@pytest.mark.parametrize(("tier", "spot"), [("interactive", False), ("batch", True)])
def test_nodes_are_those_of_the_pool_and_no_more(
    provisioning: Api, pools: dict[str, NodePool], tier: str, spot: bool
) -> None:
    pool = pools[tier].model_copy(update={"spot": spot})
    nodes, placed = provision(provisioning, pool, pool.max_nodes + 2)
    assert len(nodes) == placed == pool.max_nodes
    for node in nodes:
        labels = node["metadata"]["labels"]
        assert labels["node.kubernetes.io/instance-type"] == pool.instance
        assert labels["topology.kubernetes.io/zone"] in pool.zones
        assert labels["karpenter.sh/capacity-type"] == ("spot" if spot else "on-demand")
        taints = {(item["key"], item["effect"]) for item in node["spec"]["taints"]}
        assert taints == {(taint.key, taint.effect) for taint in pool_taints(pool)}


def test_what_a_zone_does_not_offer_is_not_taken_elsewhere(
    provisioning: Api, pools: dict[str, NodePool]
) -> None:
    """A zone that no offer is in: nothing comes, though the others would have room."""
    pool = pools["batch"].model_copy(update={"zones": ("us-east-1f",)})
    with pytest.raises(AssertionError, match="not within 10 s: its first nodes came"):
        provision(provisioning, pool, 1, seconds=10)
