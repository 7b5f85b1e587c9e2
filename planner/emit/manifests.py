"""Kubernetes objects of a plan, as plain data: no pulumi, no I/O.

The same objects are registered with Pulumi and rendered to files.
"""

from __future__ import annotations

from typing import Any

from planner.emit import vllm
from planner.emit.fit import check_fit
from planner.emit.karpenter import NODE_CLASS_NAME, karpenter_manifests
from planner.emit.labels import (
    PART_OF,
    ROLLOUT_ANNOTATION,
    TIER_LABEL,
    object_name,
    service_name,
)
from planner.emit.metadata import (
    Manifest,
    Provenance,
    metadata,
    object_annotations,
    pod_labels,
    selector,
)
from planner.emit.pods import nodes_of, pod_spec
from planner.emit.pool_terms import pool_labels
from planner.features import ClusterSite
from planner.plan import NodePool, VllmServer

__all__ = [
    "NODE_CLASS_NAME",
    "Manifest",
    "Provenance",
    "karpenter_manifests",
    "pool_labels",
    "priority_class_manifest",
    "priority_class_name",
    "server_manifests",
]

PRIORITIES = {"interactive": (100_000, "PreemptLowerPriority"), "batch": (-100, "Never")}
QUEUE = "batch"
"""The LocalQueue (Kueue) of batch servers."""


def priority_class_name(stack: str, tier: str) -> str:
    """Return the name of a tier's PriorityClass: these are cluster-wide, so it has the stack."""
    return object_name(f"llm-{stack}-{tier}".lower().replace("_", "-"), "priority class")


def priority_class_manifest(stack: str, tier: str) -> Manifest:
    """Return a tier's PriorityClass: interactive pods may evict batch, batch evicts nobody."""
    value, preemption = PRIORITIES[tier]
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {
            "name": priority_class_name(stack, tier),
            "labels": {**PART_OF, TIER_LABEL: tier},
        },
        "value": value,
        "preemptionPolicy": preemption,
        "globalDefault": False,
        "description": f"LLM servers of the {tier} tier, stack {stack}.",
    }


def server_manifests(
    server: VllmServer,
    pool: NodePool,
    provenance: Provenance,
    *,
    spare: bool = False,
    site: ClusterSite | None = None,
) -> list[Manifest]:
    """Return what runs ``server`` on ``pool``, and its Service.

    It is a Deployment, or a LeaderWorkerSet where a replica needs more GPUs than a node has.
    ``spare`` says that the pool has room for one replica more than may run at once.
    """
    check_fit(server, pool, site)
    kueue = site is not None and site.features.kueue and server.tier == "batch"
    found = _deployment if nodes_of(server, pool) == 1 else _leader_worker_set
    workload, service = found(server, pool, provenance, spare, kueue), _service(server, provenance)
    if kueue or (server.scaling and server.scaling.min_replicas == 0):
        # There may be no pods for hours, and rightly so: nobody waits for them.
        for manifest in (workload, service):
            noted = manifest["metadata"].get("annotations", {})
            manifest["metadata"]["annotations"] = {**noted, "pulumi.com/skipAwait": "true"}
    return [workload, service]


def rolls_with_downtime(server: VllmServer, spare: bool) -> bool:
    """Tell whether a new version of ``server`` stops the old one first and leaves nobody."""
    return server.most_replicas == 1 and not spare


def _deployment(
    server: VllmServer, pool: NodePool, provenance: Provenance, spare: bool, kueue: bool
) -> Manifest:
    rolling = (
        {"maxSurge": 1, "maxUnavailable": 0} if spare else {"maxSurge": 0, "maxUnavailable": 1}
    )
    strategy: dict[str, Any] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    if rolls_with_downtime(server, spare):
        strategy = {"type": "Recreate"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _workload_metadata(server, provenance, spare, kueue),
        "spec": {
            **_replicas(server),
            "selector": {"matchLabels": selector(server)},
            "strategy": strategy,
            "minReadySeconds": 10,
            "progressDeadlineSeconds": vllm.progress_deadline_seconds(server),
            "revisionHistoryLimit": 5,
            "template": _pod_template(server, pool, provenance),
        },
    }


def _leader_worker_set(
    server: VllmServer, pool: NodePool, provenance: Provenance, spare: bool, kueue: bool
) -> Manifest:
    """Return one group of pods for each replica: a leader that answers, and its workers.

    Workers carry no server labels of the selector, so that the Service finds leaders only.
    """
    rolling = (
        {"maxSurge": 1, "maxUnavailable": 0} if spare else {"maxSurge": 0, "maxUnavailable": 1}
    )
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": _workload_metadata(server, provenance, spare, kueue),
        "spec": {
            **_replicas(server),
            "startupPolicy": "LeaderCreated",
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rolling},
            "leaderWorkerTemplate": {
                "size": nodes_of(server, pool),
                "restartPolicy": "RecreateGroupOnPodRestart",
                "leaderTemplate": _pod_template(server, pool, provenance),
                "workerTemplate": _pod_template(server, pool, provenance, "worker"),
            },
        },
    }


def _replicas(server: VllmServer) -> dict[str, int]:
    """Return the replicas, nothing where an autoscaler owns them: both would fight."""
    return {} if server.scaling else {"replicas": server.replicas}


def _workload_metadata(
    server: VllmServer, provenance: Provenance, spare: bool, kueue: bool
) -> dict[str, Any]:
    found = metadata(server, server.name, provenance)
    noted = object_annotations(server, provenance)
    if rolls_with_downtime(server, spare):
        noted[ROLLOUT_ANNOTATION] = "downtime: one replica, and the pool has no spare"
    if kueue:
        queued = {
            "kueue.x-k8s.io/queue-name": QUEUE,
            "kueue.x-k8s.io/priority-class": priority_class_name(provenance.stack, server.tier),
        }
        found["labels"] = found["labels"] | queued
    return found | {"annotations": noted}


def _pod_template(
    server: VllmServer, pool: NodePool, provenance: Provenance, role: vllm.Role = "leader"
) -> dict[str, Any]:
    noted: dict[str, str] = {}
    if pool.kind == "karpenter" and server.tier == "interactive":
        noted = {"karpenter.sh/do-not-disrupt": "true"}
    labels = pod_labels(server, provenance)
    if role == "worker":
        labels = {**labels, "app.kubernetes.io/name": "vllm-worker"}
    priority = priority_class_name(provenance.stack, server.tier)
    arguments = (server, pool, selector(server), priority)
    return {
        "metadata": {"labels": labels, **({"annotations": noted} if noted else {})},
        "spec": pod_spec(*arguments) if role == "leader" else pod_spec(*arguments, role),
    }


def _service(server: VllmServer, provenance: Provenance) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(server, service_name(server.name), provenance),
        "spec": {
            "type": "ClusterIP",
            "selector": selector(server),
            "ports": [{"name": "http", "port": vllm.PORT, "targetPort": "http", "protocol": "TCP"}],
        },
    }
