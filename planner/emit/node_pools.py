"""GPU node pools as Pulumi resources: a managed pool of the cloud, or a Karpenter NodePool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from planner.emit.managed_pools import agent_pool, gke_pool, node_group
from planner.emit.manifests import karpenter_manifests
from planner.plan import NodePool

_MANAGED: dict[str, Callable[[str, NodePool, pulumi.Resource], pulumi.CustomResource]] = {
    "aks_agent_pool": agent_pool,
    "eks_node_group": node_group,
    "gke_node_pool": gke_pool,
}


@dataclass(frozen=True)
class GpuNodePoolArgs:
    """A pool, how long its servers take to load, and the provider of its cluster.

    Attributes:
        pool: the plan's node pool, of any kind.
        load_seconds: how long Karpenter keeps an empty node; managed pools have no use for it.
        provider: the cluster's provider, through which a Karpenter NodePool is registered.
    """

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
        managed = _MANAGED.get(args.pool.kind)
        self.node_pool = managed(name, args.pool, self) if managed else self._karpenter(name, args)
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
