"""What pools and their servers agree on, and the managed pools' own facts."""

from __future__ import annotations

from typing import Any

import pytest

from planner.declared.clusters import PoolSite
from planner.emit.machine_names import ami_type, gke_accelerator
from planner.emit.pool_terms import (
    managed_name,
    pool_labels,
    pool_problems,
    pool_selector,
    pool_taints,
    pool_tolerations,
)
from planner.errors import PlannerError
from planner.plan import NodePool
from tests.emit.conftest import A100, H100

EKS = H100.model_copy(
    update={
        "kind": "eks_node_group",
        "site": PoolSite(
            node_role_arn="arn:aws:iam::123456789012:role/gpu", subnet_ids=("subnet-01234567",)
        ),
    }
)
GKE = H100.model_copy(
    update={
        "kind": "gke_node_pool",
        "cloud": "gcp",
        "region": "us-central1",
        "zones": ("us-central1-a",),
        "instance": "a3-highgpu-8g",
        "accelerator": "H100-SXM5-80GB",
        "site": PoolSite(project="acme-gpu"),
    }
)


def like(pool: NodePool, **changes: Any) -> NodePool:
    return pool.model_copy(update=changes)


@pytest.mark.parametrize("pool", [H100, A100, EKS, GKE], ids=lambda pool: pool.kind)
@pytest.mark.parametrize("spot", [False, True])
def test_servers_select_what_the_pool_has_and_tolerate_its_taints(
    pool: NodePool, spot: bool
) -> None:
    pool = like(pool, spot=spot)
    assert pool_selector(pool).items() <= pool_labels(pool).items()
    tolerated = {item["key"] for item in pool_tolerations(pool)}
    assert {taint.key for taint in pool_taints(pool)} <= tolerated
    assert ("llm-capacity.dev/spot" in tolerated) is spot
    assert ("kubernetes.azure.com/scalesetpriority" in tolerated) is (
        spot and pool.cloud == "azure"
    )


@pytest.mark.parametrize("pool", [H100, A100, EKS, GKE], ids=lambda pool: pool.kind)
def test_a_pool_that_can_be_made_has_no_problem(pool: NodePool) -> None:
    assert list(pool_problems(pool)) == []


@pytest.mark.parametrize(
    ("pool", "told"),
    [
        (like(H100, spot=True), "only batch runs on them"),
        (like(H100, zones=("ap-southeast-2",)), "zone ap-southeast-2 is not in ap-southeast-2"),
        (like(H100, zones=("ap-southeast-1a",)), "zone ap-southeast-1a is not in"),
        (like(A100, zones=("4",)), "zone 4 is not in australiaeast"),
        (like(A100, kind="karpenter", zones=("australiaeast-x9",)), "is not in australiaeast"),
        (like(A100, resource_group=None), "needs the cluster's resource_group"),
        (like(EKS, site=PoolSite()), "needs the cluster's site.node_role_arn"),
        (like(EKS, name="a b"), "EKS takes at most 63"),
        (like(GKE, site=PoolSite()), "needs the cluster's site.project"),
        (like(GKE, name="x" * 41), "GKE takes at most 40"),
        (like(GKE, name="1st"), "GKE takes at most 40"),
        (like(GKE, kind="karpenter"), "gcp has no pools of kind karpenter; it has: gke_node_pool"),
        (like(EKS, cloud="metal"), "metal has no pools of kind eks_node_group; it has: none"),
    ],
)
def test_what_keeps_a_pool_from_being_made_is_told(pool: NodePool, told: str) -> None:
    assert any(told in problem for problem in pool_problems(pool))


def test_a_cluster_in_one_zone_has_its_location_there() -> None:
    site = PoolSite(project="acme-gpu", location="us-central1-a")
    assert list(pool_problems(like(GKE, site=site))) == []
    elsewhere = PoolSite(project="acme-gpu", location="us-central2-a")
    assert "is not in us-central1" in "".join(pool_problems(like(GKE, site=elsewhere)))


def test_names_and_images_of_the_clouds() -> None:
    assert managed_name(like(A100, name="a100-batch")) != "a100-batch"
    assert managed_name(EKS) == EKS.name
    assert ami_type("p5.48xlarge") == "AL2023_x86_64_NVIDIA"
    assert ami_type("p6e-gb200.36xlarge") == "AL2023_ARM_64_NVIDIA"
    assert gke_accelerator(GKE) == "nvidia-h100-80gb"
    assert gke_accelerator(like(GKE, instance="a3-megagpu-8g")) == "nvidia-h100-mega-80gb"
    with pytest.raises(PlannerError, match="GKE's name of MI300X is not known"):
        gke_accelerator(like(GKE, accelerator="MI300X"))
