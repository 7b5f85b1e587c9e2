"""What a tier has to itself on a cluster: a namespace, a quota, and no way in or out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.emit.labels import GPU_RESOURCE, PART_OF, TIER_LABEL, object_name, quantity
from planner.emit.metadata import Manifest, Provenance, metadata
from planner.plan import VllmServer

GPU_QUOTA = "llm-gpus"
SERVER_QUOTA = "llm-servers"
DEFAULT_DENY = "default-deny"


def namespace_manifest(name: str, tier: str) -> Manifest:
    """Return the Namespace of a tier, which admits restricted pods only."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": object_name(name, "namespace"),
            "labels": {
                **PART_OF,
                TIER_LABEL: tier,
                "pod-security.kubernetes.io/enforce": "restricted",
                "pod-security.kubernetes.io/warn": "restricted",
            },
        },
    }


def quota_manifests(
    namespace: str, tier: str, servers: Sequence[tuple[VllmServer, int, bool]], priority_class: str
) -> list[Manifest]:
    """Return the quotas of a namespace: what its ``servers`` may ask for, and no more.

    Each server comes with the pods of a replica and whether a rollout adds one. GPUs are
    counted whoever asks; pods, cpu and memory for the tier's servers alone, so that a job
    that fills a volume, or an endpoint picker, has room beside them.
    """
    gpus = pods = cpu = memory = 0
    for server, nodes, surges in servers:
        replicas = server.most_replicas + surges
        gpus += replicas * server.gpus_per_replica
        pods += replicas * nodes
        cpu += replicas * nodes * server.cpu
        memory += replicas * nodes * server.memory_bytes
    scope = {
        "scopeSelector": {
            "matchExpressions": [
                {"scopeName": "PriorityClass", "operator": "In", "values": [priority_class]}
            ]
        }
    }
    hard = {
        "pods": str(pods),
        "requests.cpu": str(cpu),
        "requests.memory": quantity(memory),
    }
    return [
        _quota(GPU_QUOTA, namespace, tier, {"hard": {f"requests.{GPU_RESOURCE}": str(gpus)}}),
        _quota(SERVER_QUOTA, namespace, tier, {"hard": hard, **scope}),
    ]


def default_deny_manifest(namespace: str, tier: str) -> Manifest:
    """Return the NetworkPolicy that closes a namespace both ways; servers open their own."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": DEFAULT_DENY,
            "namespace": namespace,
            "labels": {**PART_OF, TIER_LABEL: tier},
        },
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }


def service_account_manifest(server: VllmServer, provenance: Provenance) -> Manifest:
    """Return a server's own identity, without a token for the cluster's API."""
    found = metadata(server, server.name, provenance)
    if server.service_account_annotations:
        found["annotations"] = dict(sorted(server.service_account_annotations.items()))
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": found,
        "automountServiceAccountToken": False,
    }


def _quota(name: str, namespace: str, tier: str, spec: dict[str, Any]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace, "labels": {**PART_OF, TIER_LABEL: tier}},
        "spec": spec,
    }
