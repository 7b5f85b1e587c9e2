"""In which order objects are applied: sync waves of Argo CD, two steps of Flux.

A wave is applied when all objects of the wave before it are healthy. What the cluster must
have before anything runs lies below zero; Flux takes that as its first Kustomization.
"""

from __future__ import annotations

from typing import Literal

from planner.emit.manifests import Manifest

ANNOTATION = "argocd.argoproj.io/sync-wave"

Step = Literal["infra", "workloads"]
STEPS: tuple[Step, ...] = ("infra", "workloads")
"""The folders of a cluster, in the order in which they are applied."""

WORKLOADS = 0

WAVES: dict[str, int] = {
    "CustomResourceDefinition": -3,
    "Namespace": -3,
    "ValidatingAdmissionPolicy": -3,
    "ValidatingAdmissionPolicyBinding": -3,
    "ClusterQueue": -2,
    "ClusterRole": -2,
    "ClusterRoleBinding": -2,
    "LimitRange": -2,
    "LocalQueue": -2,
    "NetworkPolicy": -2,
    "NodePool": -2,
    "PriorityClass": -2,
    "ResourceFlavor": -2,
    "ResourceQuota": -2,
    "Role": -2,
    "RoleBinding": -2,
    "ServiceAccount": -2,
    "WorkloadPriorityClass": -2,
    "ConfigMap": -1,
    "ExternalSecret": -1,
    "Job": -1,
    "PersistentVolume": -1,
    "PersistentVolumeClaim": -1,
    "Deployment": WORKLOADS,
    "LeaderWorkerSet": WORKLOADS,
    "Service": WORKLOADS,
    "StatefulSet": WORKLOADS,
    "HorizontalPodAutoscaler": 1,
    "PodDisruptionBudget": 1,
    "PodMonitor": 1,
    "PrometheusRule": 1,
    "ScaledObject": 1,
    "ServiceMonitor": 1,
    "TriggerAuthentication": 1,
    "HTTPRoute": 2,
    "InferencePool": 2,
}
"""The wave of each kind: definitions and guards, what workloads are counted and named by, what
pods mount, the workloads, what watches them, and what sends them traffic."""


def wave_of(manifest: Manifest) -> int:
    """Return the wave of an object; a kind without one goes with the workloads."""
    return WAVES.get(manifest["kind"], WORKLOADS)


def step_of(manifest: Manifest) -> Step:
    """Return the folder that an object is applied with."""
    return "infra" if wave_of(manifest) < WORKLOADS else "workloads"


def in_wave(manifest: Manifest) -> Manifest:
    """Return a copy that carries its wave; nothing else is changed."""
    metadata = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), ANNOTATION: str(wave_of(manifest))}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}
