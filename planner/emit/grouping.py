"""A plan's Kubernetes side, cluster by cluster, checked before anything exists."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from planner.emit import vllm
from planner.emit.labels import aks_pool_name, service_name
from planner.emit.manifests import (
    Manifest,
    Provenance,
    karpenter_manifests,
    namespace_manifest,
    priority_class_manifest,
    server_manifests,
)
from planner.errors import PlannerError
from planner.plan import NodePool, Plan, VllmServer

_EMPTY_POOL_SECONDS = 1800


@dataclass(frozen=True)
class ServerOnPool:
    """A server, the pool it runs on and where it comes from."""

    server: VllmServer
    pool: NodePool
    provenance: Provenance

    def manifests(self) -> list[Manifest]:
        """Return the server's Deployment and Service."""
        return server_manifests(self.server, self.pool, self.provenance)


@dataclass(frozen=True)
class ClusterResources:
    """What a plan puts on one cluster, each list in the order of its names."""

    stack: str
    cluster: str
    pools: tuple[NodePool, ...]
    servers: tuple[ServerOnPool, ...]

    def namespaces(self) -> list[Manifest]:
        """Return the Namespaces that the servers live in."""
        names = sorted({placed.server.namespace for placed in self.servers})
        return [namespace_manifest(name) for name in names]

    def priority_classes(self) -> list[Manifest]:
        """Return a PriorityClass for each tier in use."""
        tiers = sorted({placed.server.tier for placed in self.servers})
        return [priority_class_manifest(self.stack, tier) for tier in tiers]

    def load_seconds(self, pool: NodePool) -> int:
        """Return how long to keep an empty node: what its slowest server needs to load."""
        budgets = [
            vllm.startup_budget_seconds(placed.server)
            for placed in self.servers
            if placed.pool == pool
        ]
        return max(budgets, default=_EMPTY_POOL_SECONDS)

    def node_pools(self) -> list[Manifest]:
        """Return the pools that are Kubernetes objects; AKS agent pools are not."""
        return [
            manifest
            for pool in self.pools
            if pool.kind == "karpenter"
            for manifest in karpenter_manifests(pool, self.load_seconds(pool))
        ]

    def agent_pools(self) -> list[NodePool]:
        """Return the pools that are AKS agent pools."""
        return [pool for pool in self.pools if pool.kind == "aks_agent_pool"]


def clusters(plan: Plan) -> tuple[ClusterResources, ...]:
    """Return the plan's clusters by name, or say everything that cannot be emitted."""
    resources = plan.resources
    pools = {(pool.cluster, pool.name): pool for pool in resources.node_pools}
    decided = {decision.workload: decision for decision in plan.decisions}
    problems = _repeated("node pool", [f"{p.cluster}/{p.name}" for p in resources.node_pools])
    problems += _repeated(
        "AKS agent pool",
        [
            f"{p.cluster}/{aks_pool_name(p.name)}"
            for p in resources.node_pools
            if p.kind == "aks_agent_pool"
        ],
    )
    problems += _repeated(
        "server", [f"{s.cluster}/{service_name(s.name)}" for s in resources.servers]
    )
    problems += [
        f"node pool {p.cluster}/{p.name} needs the cluster's resource_group"
        for p in resources.node_pools
        if p.kind == "aks_agent_pool" and p.resource_group is None
    ]
    placed: list[ServerOnPool] = []
    for server in resources.servers:
        pool = pools.get((server.cluster, server.node_pool))
        decision = decided.get(server.workload)
        if pool is None:
            problems.append(
                f"server {server.name}: cluster {server.cluster} has no pool {server.node_pool}"
            )
        elif decision is None:
            problems.append(f"server {server.name}: workload {server.workload} has no decision")
        else:
            provenance = Provenance(
                stack=plan.stack,
                capacity_digest=plan.capacity_digest,
                owner=decision.owner,
                classification=decision.classification,
                residency=decision.residency,
            )
            placed.append(ServerOnPool(server, pool, provenance))
    problems += _overfull(placed)
    if problems:
        raise PlannerError("the plan cannot be emitted:\n  " + "\n  ".join(problems))
    names = sorted(
        {p.cluster for p in resources.node_pools} | {s.cluster for s in resources.servers}
    )
    return tuple(
        ClusterResources(
            stack=plan.stack,
            cluster=name,
            pools=tuple(
                sorted(
                    (pool for pool in resources.node_pools if pool.cluster == name),
                    key=lambda pool: pool.name,
                )
            ),
            servers=tuple(
                sorted(
                    (item for item in placed if item.server.cluster == name),
                    key=lambda item: (item.server.namespace, item.server.name),
                )
            ),
        )
        for name in names
    )


def _repeated(what: str, names: list[str]) -> list[str]:
    return [
        f"{what} {name} occurs twice" for name, count in sorted(Counter(names).items()) if count > 1
    ]


def _overfull(placed: list[ServerOnPool]) -> list[str]:
    """Return a problem for each pool whose servers ask for more GPUs than it may have."""
    asked: Counter[NodePool] = Counter()
    for item in placed:
        asked[item.pool] += item.server.replicas * item.server.gpus_per_replica
    return [
        f"pool {pool.cluster}/{pool.name}: servers ask for {gpus} GPUs, "
        f"{pool.max_nodes} nodes of {pool.gpus_per_node} have {pool.max_nodes * pool.gpus_per_node}"
        for pool, gpus in asked.items()
        if gpus > pool.max_nodes * pool.gpus_per_node
    ]
