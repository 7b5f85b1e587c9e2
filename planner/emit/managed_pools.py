"""GPU pools that a cloud manages, as Pulumi resources: AKS, EKS and GKE.

Each has the plan's bounds, the labels and taints of ``pool_terms``, and an order of
upgrades that takes a node away before it adds one: GPU quota seldom holds a spare.
"""

from __future__ import annotations

import pulumi

from planner import faults
from planner.emit.azure import resource_group
from planner.emit.machine_names import ami_type, gke_accelerator
from planner.emit.pool_terms import managed_name, pool_labels, pool_taints
from planner.emit.sdks import cloud_sdk
from planner.errors import PlannerError
from planner.plan import NodePool


def agent_pool(name: str, pool: NodePool, parent: pulumi.Resource) -> pulumi.CustomResource:
    """Register an AKS agent pool."""
    scales = pool.min_nodes < pool.max_nodes
    spot = {"scale_set_priority": "Spot", "scale_set_eviction_policy": "Delete"}
    resource: pulumi.CustomResource = cloud_sdk("azure", "containerservice").AgentPool(
        f"{name}-agentpool",
        resource_group_name=resource_group(pool.resource_group, f"node pool {pool.name}"),
        resource_name_=pool.cluster,
        agent_pool_name=managed_name(pool),
        mode="User",
        os_type="Linux",
        type="VirtualMachineScaleSets",
        vm_size=pool.instance,
        count=pool.min_nodes if scales else pool.max_nodes,
        enable_auto_scaling=scales,
        min_count=pool.min_nodes if scales else None,
        max_count=pool.max_nodes if scales else None,
        availability_zones=list(pool.zones) or None,
        node_labels=pool_labels(pool),
        node_taints=[f"{key}={value}:{effect}" for key, value, effect in pool_taints(pool)],
        scale_down_mode="Delete",
        upgrade_settings=None if pool.spot else {"max_surge": "0", "max_unavailable": "1"},
        **(spot if pool.spot else {}),
        opts=pulumi.ResourceOptions(
            parent=parent,
            # The autoscaler owns the count once it runs.
            ignore_changes=["count"] if scales else None,
            delete_before_replace=True,
        ),
    )
    return resource


def node_group(name: str, pool: NodePool, parent: pulumi.Resource) -> pulumi.CustomResource:
    """Register an EKS managed node group, in the region and the account of its node role."""
    role = pool.site.node_role_arn
    if role is None:
        what = "it needs the cluster's site.node_role_arn"
        raise PlannerError(faults.SITE_INCOMPLETE.at(f"node pool {pool.name}", what))
    provider = cloud_sdk("aws").Provider(
        f"{name}-aws",
        region=pool.region,
        allowed_account_ids=[role.split(":")[4]],
        opts=pulumi.ResourceOptions(parent=parent),
    )
    scales = pool.min_nodes < pool.max_nodes
    resource: pulumi.CustomResource = cloud_sdk("aws", "eks").NodeGroup(
        f"{name}-nodegroup",
        cluster_name=pool.cluster,
        node_group_name=managed_name(pool),
        node_role_arn=role,
        subnet_ids=list(pool.site.subnet_ids),
        instance_types=[pool.instance],
        ami_type=ami_type(pool.instance),
        capacity_type="SPOT" if pool.spot else "ON_DEMAND",
        disk_size=pool.site.disk_gib,
        scaling_config={
            "min_size": pool.min_nodes,
            "max_size": pool.max_nodes,
            "desired_size": pool.min_nodes,
        },
        update_config={"max_unavailable": 1, "update_strategy": "MINIMAL"},
        labels=pool_labels(pool),
        taints=[
            {"key": key, "value": value, "effect": _UPPER[effect]}
            for key, value, effect in pool_taints(pool)
        ],
        opts=pulumi.ResourceOptions(
            parent=parent,
            provider=provider,
            ignore_changes=["scalingConfig.desiredSize"] if scales else None,
            delete_before_replace=True,
        ),
    )
    return resource


def gke_pool(name: str, pool: NodePool, parent: pulumi.Resource) -> pulumi.CustomResource:
    """Register a GKE node pool; its bounds are totals over the zones, not a number for each."""
    resource: pulumi.CustomResource = cloud_sdk("gcp", "container").NodePool(
        f"{name}-nodepool",
        project=pool.site.project,
        location=pool.site.location or pool.region,
        cluster=pool.cluster,
        name=managed_name(pool),
        node_locations=list(pool.zones) or None,
        # The first size of each zone; the autoscaler makes up what is short of the total.
        initial_node_count=pool.min_nodes // len(pool.zones) if pool.zones else 0,
        autoscaling={
            "total_min_node_count": pool.min_nodes,
            "total_max_node_count": pool.max_nodes,
            "location_policy": "ANY",
        },
        management={"auto_repair": True, "auto_upgrade": True},
        upgrade_settings={"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1},
        node_config={
            "machine_type": pool.instance,
            "guest_accelerators": [
                {
                    "type": gke_accelerator(pool),
                    "count": pool.gpus_per_node,
                    "gpu_driver_installation_config": {"gpu_driver_version": "DEFAULT"},
                }
            ],
            "spot": pool.spot,
            "disk_size_gb": pool.site.disk_gib,
            "labels": pool_labels(pool),
            "taints": [
                {"key": key, "value": value, "effect": _UPPER[effect]}
                for key, value, effect in pool_taints(pool)
            ],
            "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        },
        opts=pulumi.ResourceOptions(
            parent=parent,
            # It cannot change without a new pool, and means nothing after the first day.
            ignore_changes=["initialNodeCount"],
            delete_before_replace=True,
        ),
    )
    return resource


_UPPER = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
"""Effects of taints, as the APIs of AWS and Google write them."""
