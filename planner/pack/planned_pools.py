"""What the plan wants of pools that a cloud manages, written out apart from what emits them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.emit.labels import GPU_RESOURCE, POOL_LABEL, TIER_LABEL, aks_pool_name
from planner.emit.machine_names import ami_type, gke_accelerator
from planner.plan import NodePool
from planner.policy.resources import PlannedRow, RawResource, planned_row

_SPOT = "llm-capacity.dev/spot"


def managed_pool(pool: NodePool) -> PlannedRow:
    """Return the row of an AKS agent pool, an EKS node group or a GKE node pool.

    Raises PlannerError where the pool cannot be made.
    """
    if pool.kind == "aks_agent_pool":
        return _agent_pool(pool)
    return _node_group(pool) if pool.kind == "eks_node_group" else _gke_pool(pool)


def _labels(pool: NodePool) -> dict[str, str]:
    return {POOL_LABEL: pool.name, TIER_LABEL: pool.tier}


def _taints(pool: NodePool) -> list[dict[str, str]]:
    """Return the taints as AWS and Google write them; interactive pools are never spot."""
    taints = [{"key": GPU_RESOURCE, "value": "present", "effect": "NO_SCHEDULE"}]
    spot = {"key": _SPOT, "value": "true", "effect": "NO_SCHEDULE"}
    return [*taints, spot] if pool.spot else taints


def _row(
    kind: str,
    pool: NodePool,
    properties: Mapping[str, Any],
    free: tuple[str, ...],
    provider: Mapping[str, Any] | None = None,
) -> PlannedRow:
    raw = RawResource(urn="", type=kind, name=pool.name, properties=properties, provider=provider)
    return planned_row(raw, free=free)


def _agent_pool(pool: NodePool) -> PlannedRow:
    scales = pool.min_nodes < pool.max_nodes
    taints = [f"{GPU_RESOURCE}=present:NoSchedule"]
    properties: dict[str, Any] = {
        "resourceGroupName": pool.resource_group,
        "resourceName": pool.cluster,
        "agentPoolName": aks_pool_name(pool.name),
        "mode": "User",
        "osType": "Linux",
        "type": "VirtualMachineScaleSets",
        "vmSize": pool.instance,
        "count": pool.max_nodes,
        "enableAutoScaling": scales,
        "minCount": pool.min_nodes if scales else None,
        "maxCount": pool.max_nodes if scales else None,
        "availabilityZones": list(pool.zones) or None,
        "nodeLabels": _labels(pool),
        "nodeTaints": [*taints, f"{_SPOT}=true:NoSchedule"] if pool.spot else taints,
        "scaleDownMode": "Delete",
    }
    if pool.spot:
        properties |= {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete"}
    else:
        properties |= {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}
    # The autoscaler owns the count once it runs.
    free = ("count",) if scales else ()
    return _row("azure-native:containerservice:AgentPool", pool, properties, free)


def _node_group(pool: NodePool) -> PlannedRow:
    properties = {
        "clusterName": pool.cluster,
        "nodeGroupName": pool.name,
        "nodeRoleArn": pool.site.node_role_arn,
        "subnetIds": list(pool.site.subnet_ids),
        "instanceTypes": [pool.instance],
        "amiType": ami_type(pool.instance),
        "capacityType": "SPOT" if pool.spot else "ON_DEMAND",
        "diskSize": pool.site.disk_gib,
        "scalingConfig": {
            "minSize": pool.min_nodes,
            "maxSize": pool.max_nodes,
            "desiredSize": pool.min_nodes,
        },
        "updateConfig": {"maxUnavailable": 1, "updateStrategy": "MINIMAL"},
        "labels": _labels(pool),
        "taints": _taints(pool),
    }
    free = ("scalingConfig.desiredSize",) if pool.min_nodes < pool.max_nodes else ()
    return _row("aws:eks/nodeGroup:NodeGroup", pool, properties, free, {"region": pool.region})


def _gke_pool(pool: NodePool) -> PlannedRow:
    properties = {
        "project": pool.site.project,
        "location": pool.site.location or pool.region,
        "cluster": pool.cluster,
        "name": pool.name,
        "nodeLocations": list(pool.zones) or None,
        "autoscaling": {
            "totalMinNodeCount": pool.min_nodes,
            "totalMaxNodeCount": pool.max_nodes,
            "locationPolicy": "ANY",
        },
        "management": {"autoRepair": True, "autoUpgrade": True},
        "upgradeSettings": {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1},
        "nodeConfig": {
            "machineType": pool.instance,
            "guestAccelerators": [
                {
                    "type": gke_accelerator(pool),
                    "count": pool.gpus_per_node,
                    "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"},
                }
            ],
            "spot": pool.spot,
            "diskSizeGb": pool.site.disk_gib,
            "labels": _labels(pool),
            "taints": _taints(pool),
            "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
        },
    }
    # Of the first day only; the autoscaler owns the count.
    return _row("gcp:container/nodePool:NodePool", pool, properties, ("initialNodeCount",))
