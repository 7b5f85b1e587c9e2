"""A queue for the batch tier (Kueue): what is admitted together, and what it may take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.emit.labels import GPU_RESOURCE, PART_OF, TIER_LABEL, object_name, quantity
from planner.emit.manifests import PRIORITIES, QUEUE, priority_class_name
from planner.emit.metadata import Manifest
from planner.emit.network import NAMESPACE_LABEL
from planner.emit.pods import ephemeral_bytes
from planner.emit.pool_terms import pool_selector, pool_taints
from planner.plan import NodePool, VllmServer

API = "kueue.x-k8s.io/v1beta2"
TIER = "batch"
_COVERED = ("cpu", "memory", "ephemeral-storage", GPU_RESOURCE)
"""Everything that servers ask for: Kueue admits nothing that asks for what no queue covers."""


def queue_name(stack: str) -> str:
    """Return the name of a stack's ClusterQueue: it is cluster-wide, so it has the stack."""
    return priority_class_name(stack, TIER)


def kueue_manifests(
    stack: str,
    namespace: str,
    servers: Sequence[tuple[NodePool, Sequence[tuple[VllmServer, int]]]],
) -> list[Manifest]:
    """Return flavours, queues and the priority of batch servers, by the pool they run on.

    Each server comes with the pods of a replica.
    """
    flavours = [
        _manifest(
            "ResourceFlavor",
            {"name": _flavour(stack, pool)},
            {
                "nodeLabels": pool_selector(pool),
                "nodeTaints": [taint._asdict() for taint in pool_taints(pool)],
            },
        )
        for pool, _ in servers
    ]
    queue = {
        "namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: namespace}},
        "cohortName": object_name(f"llm-{stack}".lower().replace("_", "-"), "cohort"),
        "queueingStrategy": "BestEffortFIFO",
        "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
        "resourceGroups": [
            {
                "coveredResources": list(_COVERED),
                "flavors": [
                    {"name": _flavour(stack, pool), "resources": _quotas(placed)}
                    for pool, placed in servers
                ],
            }
        ],
    }
    value, _ = PRIORITIES[TIER]
    return [
        *flavours,
        _manifest("ClusterQueue", {"name": queue_name(stack)}, queue),
        _manifest(
            "LocalQueue",
            {"name": QUEUE, "namespace": namespace},
            {"clusterQueue": queue_name(stack)},
        ),
        {
            **_manifest("WorkloadPriorityClass", {"name": queue_name(stack)}, None),
            "value": value,
            "description": f"LLM servers of the batch tier, stack {stack}.",
        },
    ]


def _quotas(placed: Sequence[tuple[VllmServer, int]]) -> list[dict[str, str]]:
    pods = [(server, server.most_replicas * nodes) for server, nodes in placed]
    asked = {
        "cpu": str(sum(count * server.cpu for server, count in pods)),
        "memory": quantity(sum(count * server.memory_bytes for server, count in pods)),
        "ephemeral-storage": quantity(
            sum(count * ephemeral_bytes(server) for server, count in pods)
        ),
        GPU_RESOURCE: str(
            sum(server.most_replicas * server.gpus_per_replica for server, _ in placed)
        ),
    }
    return [{"name": name, "nominalQuota": asked[name]} for name in _COVERED]


def _flavour(stack: str, pool: NodePool) -> str:
    return object_name(f"llm-{stack}-{pool.name}".lower().replace("_", "-"), "flavour")


def _manifest(kind: str, metadata: dict[str, Any], spec: dict[str, Any] | None) -> Manifest:
    found: Manifest = {
        "apiVersion": API,
        "kind": kind,
        "metadata": {**metadata, "labels": {**PART_OF, TIER_LABEL: TIER}},
    }
    return found if spec is None else {**found, "spec": spec}
