"""A server on its pool: every object that it takes, and the room that rollouts have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.emit.manifests import rolls_with_downtime, server_manifests
from planner.emit.metadata import Manifest, Provenance
from planner.emit.network import callers, network_policy_manifests
from planner.emit.pods import nodes_of
from planner.emit.routing import inference_pool_manifest, route_manifest
from planner.emit.scaling import (
    disruption_budget_manifest,
    pod_monitor_manifest,
    scaled_object_manifest,
)
from planner.emit.tenancy import service_account_manifest
from planner.features import ClusterSite
from planner.plan import NodePool, VllmServer

NO_SITE = ClusterSite(name="")


@dataclass(frozen=True)
class ServerOnPool:
    """A server, the pool it runs on, where it comes from, and what its cluster has.

    ``spare`` says that the pool has room for one replica more than may run at once.
    """

    server: VllmServer
    pool: NodePool
    provenance: Provenance
    site: ClusterSite = NO_SITE
    spare: bool = False

    @property
    def nodes(self) -> int:
        """Return over how many nodes one replica is spread, a pod on each."""
        return nodes_of(self.server, self.pool)

    def manifests(self) -> list[Manifest]:
        """Return the server's objects: what runs it and its Service first.

        What the cluster does not declare to have is left out.
        """
        server, source, features = self.server, self.provenance, self.site.features
        workload, service = server_manifests(
            server, self.pool, source, spare=self.spare, site=self.site
        )
        found = [workload, service, service_account_manifest(server, source)]
        found += network_policy_manifests(server, self.site, source, grouped=self.nodes > 1)
        interactive = server.tier == "interactive"
        if interactive:
            found.append(disruption_budget_manifest(server, source))
        if features.keda and server.scaling:
            found.append(
                scaled_object_manifest(server, server.scaling, features.keda, workload, source)
            )
        if features.pod_monitor:
            found.append(pod_monitor_manifest(server, source))
        pooled = features.inference_pool and interactive
        if pooled:
            found.append(inference_pool_manifest(server, source))
        if features.gateway and interactive:
            found.append(route_manifest(server, features.gateway, source, pooled=pooled))
        return found

    def notes(self) -> list[str]:
        """Return what somebody should know before the server exists, each a sentence."""
        server, found = self.server, []
        where = f"{server.name} on {server.cluster}"
        if server.tier == "interactive" and rolls_with_downtime(server, self.spare):
            found.append(
                f"{where}: a new version stops the only replica first, because pool "
                f"{self.pool.name} has no spare: plan a time without service."
            )
        if server.tier == "interactive" and not self.spare:
            found.append(
                f"{where}: pool {self.pool.name} has no spare replica: a drain of more than one "
                "pod evicts one and then waits until its replacement finds a node."
            )
        if server.kv_heads is not None and server.kv_heads < server.tensor_parallel:
            found.append(
                f"{where}: {server.kv_heads} KV heads are copied to {server.tensor_parallel} GPUs: "
                "more of these would not make a GPU's KV cache smaller."
            )
        if not callers(server, self.site):
            key = "batch_client_namespaces" if server.tier == "batch" else "gateway_namespace"
            found.append(
                f"{where}: nobody may call it: declare the cluster's {key} to let callers in."
            )
        return found


def spared(servers: Sequence[VllmServer], pool: NodePool) -> frozenset[str]:
    """Return the servers of ``pool`` that may have one replica more during a rollout.

    All of them may roll out at once: room that one has taken is gone for the next.
    """
    nodes_free = pool.max_nodes
    for server in servers:
        nodes_free -= math.ceil(server.most_replicas / per_node(server, pool))
    found = set()
    for server in sorted(servers, key=lambda item: item.name):
        if server.most_replicas % max(1, math.floor(per_node(server, pool))):
            found.add(server.name)
        elif nodes_free >= nodes_of(server, pool):
            found.add(server.name)
            nodes_free -= nodes_of(server, pool)
    return frozenset(found)


def per_node(server: VllmServer, pool: NodePool) -> float:
    """Return the replicas on a node: whole ones, or a part of one that takes several nodes."""
    nodes = nodes_of(server, pool)
    return float(pool.gpus_per_node // server.gpus_per_replica) if nodes == 1 else 1 / nodes
