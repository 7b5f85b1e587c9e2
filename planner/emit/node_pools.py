"""GPU node pools as Pulumi resources: an AKS agent pool, or a Karpenter NodePool."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from planner.emit.azure import resource_group
from planner.emit.labels import GPU_RESOURCE, GPU_TAINT_EFFECT, GPU_TAINT_VALUE, aks_pool_name
from planner.emit.manifests import karpenter_manifests, pool_labels
from planner.emit.sdks import cloud_sdk
from planner.plan import NodePool


@dataclass(frozen=True)
class GpuNodePoolArgs:
    """A pool, how long its servers take to load, and the provider of its cluster."""

    pool: NodePool
    load_seconds: int
    provider: kubernetes.Provider


class GpuNodePool(pulumi.ComponentResource):
    """The nodes of one pool, labelled and tainted for the servers that select them."""

    node_pool: pulumi.CustomResource

    def __init__(
        self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("llm-capacity:kubernetes:GpuNodePool", name, None, opts)
        if args.pool.kind == "karpenter":
            self.node_pool = self._karpenter(name, args)
        else:
            self.node_pool = self._agent_pool(name, args.pool)
        self.register_outputs({"max_gpus": args.pool.max_nodes * args.pool.gpus_per_node})

    def _karpenter(self, name: str, args: GpuNodePoolArgs) -> pulumi.CustomResource:
        (manifest,) = karpenter_manifests(args.pool, args.load_seconds)
        resource: pulumi.CustomResource = kubernetes.apiextensions.CustomResource(
            f"{name}-nodepool",
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=pulumi.ResourceOptions(parent=self, provider=args.provider),
        )
        return resource

    def _agent_pool(self, name: str, pool: NodePool) -> pulumi.CustomResource:
        scales = pool.min_nodes < pool.max_nodes
        service = cloud_sdk("azure", "containerservice")
        resource: pulumi.CustomResource = service.AgentPool(
            f"{name}-agentpool",
            resource_group_name=resource_group(pool.resource_group, f"node pool {pool.name}"),
            resource_name_=pool.cluster,
            agent_pool_name=aks_pool_name(pool.name),
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
            node_taints=[f"{GPU_RESOURCE}={GPU_TAINT_VALUE}:{GPU_TAINT_EFFECT}"],
            scale_down_mode="Delete",
            # GPU quota seldom holds a spare node: upgrade one in place of adding one.
            upgrade_settings={"max_surge": "0", "max_unavailable": "1"},
            opts=pulumi.ResourceOptions(
                parent=self,
                # The autoscaler owns the count once it runs.
                ignore_changes=["count"] if scales else None,
                delete_before_replace=True,
            ),
        )
        return resource
