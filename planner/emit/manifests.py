"""Kubernetes objects of a plan, as plain data: no pulumi, no I/O.

The same objects are registered with Pulumi and rendered to files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.emit import vllm
from planner.emit.labels import (
    CLASSIFICATION_LABEL,
    DIGEST_ANNOTATION,
    GPU_RESOURCE,
    GPU_TAINT_EFFECT,
    GPU_TAINT_VALUE,
    MODEL_ANNOTATION,
    OWNER_ANNOTATION,
    POOL_LABEL,
    RESIDENCY_ANNOTATION,
    REVISION_ANNOTATION,
    TIER_LABEL,
    WORKLOAD_LABEL,
    is_label_value,
    label_value,
    object_name,
    quantity,
    service_name,
)
from planner.emit.pods import pod_spec
from planner.errors import PlannerError
from planner.plan import NodePool, VllmServer

Manifest = dict[str, Any]

NODE_CLASS_NAME = "default"
_NODE_CLASSES = {
    "aws": ("karpenter.k8s.aws", "EC2NodeClass"),
    "azure": ("karpenter.azure.com", "AKSNodeClass"),
}
_PRIORITIES = {"interactive": (100_000, "PreemptLowerPriority"), "batch": (-100, "Never")}


@dataclass(frozen=True)
class Provenance:
    """Where a server comes from: recorded on its objects, for whoever finds them."""

    stack: str
    capacity_digest: str
    owner: str
    classification: str
    residency: tuple[str, ...]


def namespace_manifest(name: str) -> Manifest:
    """Return a Namespace that admits restricted pods only."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": object_name(name, "namespace"),
            "labels": {
                "app.kubernetes.io/part-of": "llm-capacity",
                "pod-security.kubernetes.io/enforce": "restricted",
            },
        },
    }


def priority_class_name(stack: str, tier: str) -> str:
    """Return the name of a tier's PriorityClass: these are cluster-wide, so it has the stack."""
    return object_name(f"llm-{stack}-{tier}".lower().replace("_", "-"), "priority class")


def priority_class_manifest(stack: str, tier: str) -> Manifest:
    """Return a tier's PriorityClass: interactive pods may evict batch, batch evicts nobody."""
    value, preemption = _PRIORITIES[tier]
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {
            "name": priority_class_name(stack, tier),
            "labels": {"app.kubernetes.io/part-of": "llm-capacity", TIER_LABEL: tier},
        },
        "value": value,
        "preemptionPolicy": preemption,
        "globalDefault": False,
        "description": f"LLM servers of the {tier} tier, stack {stack}.",
    }


def server_manifests(server: VllmServer, pool: NodePool, provenance: Provenance) -> list[Manifest]:
    """Return the Deployment and the Service of ``server``, whose nodes are ``pool``."""
    _check_fit(server, pool)
    return [_deployment(server, pool, provenance), _service(server, provenance)]


def karpenter_manifests(pool: NodePool, load_seconds: int = 1800) -> list[Manifest]:
    """Return the Karpenter NodePool of ``pool``.

    Its node class (image, role, network) belongs to the cluster's owner and must
    exist under NODE_CLASS_NAME. An empty node is kept for ``load_seconds``, what
    a server on it takes to load again; nodes in use are never consolidated, nor
    expired.
    """
    if pool.cloud not in _NODE_CLASSES:
        clouds = ", ".join(sorted(_NODE_CLASSES))
        raise PlannerError(
            f"node pool {pool.name}: no Karpenter node class is known for {pool.cloud}; "
            f"known: {clouds}."
        )
    group, kind = _NODE_CLASSES[pool.cloud]
    requirements = [
        _among("node.kubernetes.io/instance-type", [pool.instance]),
        _among("karpenter.sh/capacity-type", ["on-demand"]),
    ]
    if pool.zones:
        requirements.append(_among("topology.kubernetes.io/zone", list(pool.zones)))
    template = {
        "metadata": {"labels": pool_labels(pool)},
        "spec": {
            "nodeClassRef": {"group": group, "kind": kind, "name": NODE_CLASS_NAME},
            "requirements": requirements,
            "taints": [{"key": GPU_RESOURCE, "value": GPU_TAINT_VALUE, "effect": GPU_TAINT_EFFECT}],
            "expireAfter": "Never",
        },
    }
    return [
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {
                "name": object_name(pool.name, "node pool"),
                "labels": {"app.kubernetes.io/part-of": "llm-capacity", TIER_LABEL: pool.tier},
            },
            "spec": {
                "template": template,
                "limits": {GPU_RESOURCE: str(pool.max_nodes * pool.gpus_per_node)},
                "disruption": {
                    "consolidationPolicy": "WhenEmpty",
                    "consolidateAfter": f"{load_seconds}s",
                    "budgets": [{"nodes": "1"}],
                },
            },
        }
    ]


def pool_labels(pool: NodePool) -> dict[str, str]:
    """Return the labels of a pool's nodes: POOL_LABEL is what servers select by."""
    return {POOL_LABEL: label_value(pool.name, "node pool"), TIER_LABEL: pool.tier}


def _deployment(server: VllmServer, pool: NodePool, provenance: Provenance) -> Manifest:
    annotations = _annotations(server, provenance)
    pod_annotations: dict[str, str] = {}
    if pool.kind == "karpenter" and server.tier == "interactive":
        pod_annotations = {"karpenter.sh/do-not-disrupt": "true"}
    selector = _selector(server)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(server, server.name, provenance) | {"annotations": annotations},
        "spec": {
            "replicas": server.replicas,
            "selector": {"matchLabels": selector},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
            },
            "minReadySeconds": 10,
            "progressDeadlineSeconds": vllm.progress_deadline_seconds(server),
            "revisionHistoryLimit": 5,
            "template": {
                "metadata": {
                    "labels": _pod_labels(server, provenance),
                    **({"annotations": pod_annotations} if pod_annotations else {}),
                },
                "spec": pod_spec(
                    server, pool, selector, priority_class_name(provenance.stack, server.tier)
                ),
            },
        },
    }


def _service(server: VllmServer, provenance: Provenance) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(server, service_name(server.name), provenance),
        "spec": {
            "type": "ClusterIP",
            "selector": _selector(server),
            "ports": [{"name": "http", "port": vllm.PORT, "targetPort": "http", "protocol": "TCP"}],
        },
    }


def _metadata(server: VllmServer, name: str, provenance: Provenance) -> dict[str, Any]:
    return {
        "name": object_name(name, "server"),
        "namespace": server.namespace,
        "labels": _labels(server, provenance),
    }


def _selector(server: VllmServer) -> dict[str, str]:
    """Return the labels that find a server's pods; Kubernetes never lets them change."""
    return {"app.kubernetes.io/name": "vllm", "app.kubernetes.io/instance": server.name}


def _pod_labels(server: VllmServer, provenance: Provenance) -> dict[str, str]:
    """Return the labels of pods: few, because changing one restarts every server."""
    return {
        **_selector(server),
        "app.kubernetes.io/component": "model-server",
        "app.kubernetes.io/part-of": "llm-capacity",
        WORKLOAD_LABEL: label_value(server.workload, "workload"),
        TIER_LABEL: server.tier,
        CLASSIFICATION_LABEL: provenance.classification,
    }


def _labels(server: VllmServer, provenance: Provenance) -> dict[str, str]:
    """Return the labels of objects: the pods', and the plan's own where they are legal."""
    own = {key: text for key, text in sorted(server.labels.items()) if is_label_value(text)}
    return own | _pod_labels(server, provenance)


def _annotations(server: VllmServer, provenance: Provenance) -> dict[str, str]:
    """Return what is recorded on a Deployment; of the plan's labels, what no label can hold."""
    own = {key: text for key, text in sorted(server.labels.items()) if not is_label_value(text)}
    found: Mapping[str, str | None] = {
        **own,
        DIGEST_ANNOTATION: provenance.capacity_digest,
        MODEL_ANNOTATION: server.model,
        REVISION_ANNOTATION: server.model_revision,
        OWNER_ANNOTATION: provenance.owner,
        RESIDENCY_ANNOTATION: ",".join(provenance.residency),
    }
    return {key: value for key, value in found.items() if value}


def _among(key: str, values: list[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": values}


def _check_fit(server: VllmServer, pool: NodePool) -> None:
    """Refuse what could be created but would never run."""
    where = f"server {server.name}"
    if (server.cluster, server.node_pool) != (pool.cluster, pool.name):
        raise PlannerError(
            f"{where} runs on pool {server.node_pool} of cluster {server.cluster}, "
            f"not on {pool.name} of {pool.cluster}."
        )
    if server.gpus_per_replica != server.tensor_parallel * server.pipeline_parallel:
        raise PlannerError(
            f"{where}: {server.gpus_per_replica} GPUs per replica, but tensor x pipeline parallel "
            f"is {server.tensor_parallel} x {server.pipeline_parallel}."
        )
    if server.gpus_per_replica > pool.gpus_per_node:
        raise PlannerError(
            f"{where}: a replica needs {server.gpus_per_replica} GPUs and a node of {pool.name} "
            f"has {pool.gpus_per_node}; replicas over several nodes are not emitted."
        )
    if server.memory_bytes <= server.shm_bytes:
        raise PlannerError(
            f"{where}: {quantity(server.shm_bytes)} of shared memory count against the memory "
            f"limit of {quantity(server.memory_bytes)}; raise the limit above it."
        )
