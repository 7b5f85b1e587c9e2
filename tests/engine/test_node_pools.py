"""GPU pools of three clouds through the real program, engine and typed SDKs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.api import plan_stack
from planner.emit.grouping import clusters
from planner.errors import PlannerError
from tests.engine.test_clouds import UP, Run, run, steps
from tests.projects import CHAT, changed

__all__ = ["run"]

pytestmark = pytest.mark.engine

MODEL = "Qwen/Qwen3-8B"
ROLE = "arn:aws:iam::123456789012:role/gpu-nodes"
SUBNETS = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
SERVING = {
    "image_digest": "sha256:" + "ab" * 32,
    "model_sources": [{"model": MODEL, "persistent_volume_claim": "weights", "revision": "0" * 40}],
}


def cluster(cloud: str, region: str, kind: str, instance: str, **more: Any) -> dict[str, Any]:
    return {
        "name": f"{cloud}-gpu",
        "cloud": cloud,
        "region": region,
        "node_pools": kind,
        "nodes": [{"instance": instance, "max_nodes": 8}],
        "serving": SERVING,
        **more,
    }


PLATFORM: dict[str, Any] = {
    "as_of": "2026-11-29",
    "clusters": [
        cluster(
            "aws",
            "us-east-1",
            "eks_node_group",
            "p5.48xlarge",
            spot_batch=True,
            zones=["us-east-1a", "us-east-1b"],
            site={"node_role_arn": ROLE, "subnet_ids": SUBNETS, "disk_gib": 500},
        ),
        cluster(
            "azure",
            "eastus2",
            "aks_agent_pool",
            "Standard_NC80adis_H100_v5",
            resource_group="rg",
            spot_batch=True,
            zones=["1", "2"],
        ),
        cluster(
            "gcp",
            "us-central1",
            "gke_node_pool",
            "a3-highgpu-8g",
            spot_batch=True,
            zones=["us-central1-a", "us-central1-b"],
            site={"project": "acme-gpu-us"},
        ),
    ],
    "rates": [
        {
            "kind": "instance",
            "cloud": "gcp",
            "instance": "a3-highgpu-8g",
            "region": "us-central1",
            "usd_per_hour": 88.0,
            "date": "2026-11-01",
            "ref": "quote 9",
        }
    ],
}


def hosted(name: str, tier: str, cloud: str) -> dict[str, Any]:
    return changed(
        CHAT,
        name=name,
        tier=tier,
        classification="internal",
        residency={"jurisdictions": ["US"]},
        models=[{**CHAT["models"][0], "name": MODEL}],
        pin={"kind": "self_hosted", "provider": cloud},
    )


WORKLOADS = tuple(
    hosted(f"{name}-{cloud}", tier, cloud)
    for cloud in ("aws", "azure", "gcp")
    for name, tier in (("chat", "interactive"), ("night", "batch"))
)


def pools(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The inputs of each pool, by its type's last word and its tier."""
    kinds = ("NodeGroup", "AgentPool", "NodePool")
    named = {}
    for state in found.values():
        kind = state["type"].split(":")[-1]
        if kind in kinds:
            inputs = state["inputs"]
            labels = inputs.get("labels") or inputs.get("nodeLabels")
            labels = labels or inputs["nodeConfig"]["labels"]
            named[f"{kind} {labels['llm-capacity.dev/tier']}"] = inputs
    return named


def selected(found: dict[str, dict[str, Any]], server: str) -> tuple[dict[str, str], set[str]]:
    """What the pods of a server select, and the keys of what they tolerate."""
    (spec,) = [
        state["inputs"]["spec"]["template"]["spec"]
        for state in found.values()
        if state["type"] == "kubernetes:apps/v1:Deployment"
        and state["inputs"]["metadata"]["name"] == server
    ]
    return spec["nodeSelector"], {item["key"] for item in spec["tolerations"]}


def test_pools_of_three_clouds_have_the_plans_bounds_labels_and_taints(run: Run) -> None:
    found = steps(run(WORKLOADS, PLATFORM, "preview", "--json"))
    made = pools(found)
    assert len(made) == 6
    gpu = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    spot = {"key": "llm-capacity.dev/spot", "value": "true", "effect": "NO_SCHEDULE"}

    group = made["NodeGroup interactive"]
    assert group["clusterName"] == "aws-gpu"
    assert group["nodeRoleArn"] == ROLE
    assert group["subnetIds"] == SUBNETS
    assert group["instanceTypes"] == ["p5.48xlarge"]
    assert group["amiType"] == "AL2023_x86_64_NVIDIA"
    assert group["capacityType"] == "ON_DEMAND"
    assert group["diskSize"] == 500
    sizes = group["scalingConfig"]
    assert sizes["minSize"] == sizes["maxSize"] == sizes["desiredSize"] >= 1
    assert group["taints"] == [gpu]
    night = made["NodeGroup batch"]
    assert night["capacityType"] == "SPOT"
    assert night["scalingConfig"]["minSize"] == 0
    assert night["taints"] == [gpu, spot]

    agents = made["AgentPool interactive"]
    assert agents["availabilityZones"] == ["1", "2"]
    assert "scaleSetPriority" not in agents
    night = made["AgentPool batch"]
    assert night["scaleSetPriority"] == "Spot"
    assert night["nodeTaints"] == [
        "nvidia.com/gpu=present:NoSchedule",
        "llm-capacity.dev/spot=true:NoSchedule",
    ]
    assert "upgradeSettings" not in night

    fixed = made["NodePool interactive"]
    assert (fixed["project"], fixed["location"]) == ("acme-gpu-us", "us-central1")
    assert fixed["nodeLocations"] == ["us-central1-a", "us-central1-b"]
    bounds = fixed["autoscaling"]
    assert bounds["totalMinNodeCount"] == bounds["totalMaxNodeCount"] >= 1
    assert fixed["nodeConfig"]["guestAccelerators"][0]["type"] == "nvidia-h100-80gb"
    assert fixed["nodeConfig"]["spot"] is False
    night = made["NodePool batch"]
    assert night["autoscaling"]["totalMinNodeCount"] == 0
    assert night["nodeConfig"]["spot"] is True
    assert night["nodeConfig"]["taints"] == [gpu, spot]

    pool, tolerated = selected(found, "chat-aws")
    assert pool.items() <= group["labels"].items()
    assert tolerated == {"nvidia.com/gpu"}
    pool, tolerated = selected(found, "night-gcp")
    assert pool.items() <= night["nodeConfig"]["labels"].items()
    assert tolerated == {"nvidia.com/gpu", "llm-capacity.dev/spot"}
    _, tolerated = selected(found, "night-azure")
    assert "kubernetes.azure.com/scalesetpriority" in tolerated


@pytest.mark.parametrize("first", [0, 2, 4], ids=["eks", "aks", "gke"])
def test_the_policy_pack_takes_the_pools_as_the_plans_own(run: Run, first: int) -> None:
    """The preview of `up` passes the gate; the change itself wants the cluster's kubeconfig."""
    here = {**PLATFORM, "clusters": [PLATFORM["clusters"][first // 2]]}
    answer = run(WORKLOADS[first : first + 2], here, *UP)
    told = answer.stdout + answer.stderr
    assert "RSC-001" not in told, told
    assert "no kubeconfig for" in told, told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("index", "change", "told"),
    [
        (0, {"site": {"subnet_ids": SUBNETS}}, "needs the cluster's site.node_role_arn"),
        (0, {"site": {"node_role_arn": ROLE}}, "needs the cluster's site.subnet_ids"),
        (0, {"zones": ["us-west-2a"]}, "zone us-west-2a is not in us-east-1"),
        (0, {"node_pools": "gke_node_pool"}, "aws has no pools of kind gke_node_pool"),
        (1, {"resource_group": None}, "needs the cluster's resource_group"),
        (2, {"site": {}}, "needs the cluster's site.project"),
        (
            2,
            {"site": {"project": "acme-gpu-us", "location": "us-east1"}},
            "site.location us-east1 is not in us-central1",
        ),
    ],
)
def test_a_pool_that_cannot_be_made_is_told_before_anything_is_registered(
    project: Callable[..., Path], index: int, change: dict[str, Any], told: str
) -> None:
    wrong = {**PLATFORM, "clusters": [{**PLATFORM["clusters"][index], **change}]}
    folder = project(WORKLOADS[2 * index], platform=wrong)
    with pytest.raises(PlannerError, match=told):
        clusters(plan_stack(folder, "s", at="2026-11-29", write=False))


WRONG = """
import pulumi
import pulumi_aws
import pulumi_gcp

if pulumi.Config("w").require("cloud") == "aws":
    pulumi_aws.eks.NodeGroup(
        "w", cluster_name="c", node_role_arn="r", subnet_ids=["s"],
        scaling_config={"min_size": 1, "max_size": "many", "desired_size": 1},
    )
else:
    pulumi_gcp.container.NodePool("w", cluster="c", node_config={"spot": "perhaps"})
"""


@pytest.mark.parametrize(("cloud", "path"), [("aws", "maxSize"), ("gcp", "spot")])
def test_a_wrong_property_of_a_pool_fails_the_preview(
    throw_away: Callable[[str], Path],
    run_pulumi: Any,
    engine_env: dict[str, str],
    cloud: str,
    path: str,
) -> None:
    folder = throw_away(WRONG)
    setting = ["config", "set", "w:cloud", cloud, "--stack", "dev"]
    assert run_pulumi(setting, folder, engine_env).returncode == 0
    answer = run_pulumi(["preview", "--stack", "dev", "--non-interactive"], folder, engine_env)
    assert answer.returncode != 0
    assert path in answer.stdout + answer.stderr
