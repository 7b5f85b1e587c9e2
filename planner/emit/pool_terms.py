"""What a GPU pool and its servers agree on: labels to select by, taints to tolerate.

Pools set them and servers are given their selector and tolerations from here, so that no
server waits for a node that will not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from planner.emit.labels import (
    DOMAIN,
    GPU_RESOURCE,
    GPU_TAINT_EFFECT,
    GPU_TAINT_VALUE,
    POOL_LABEL,
    TIER_LABEL,
    aks_pool_name,
    label_value,
)
from planner.plan import NodePool

SPOT_TAINT = f"{DOMAIN}/spot"
"""On nodes that the cloud may take back: only batch servers tolerate it."""

KINDS_OF_CLOUD = {
    "aws": ("eks_node_group", "karpenter"),
    "azure": ("aks_agent_pool", "karpenter"),
    "gcp": ("gke_node_pool",),
}
"""The kinds of pools that each cloud can have."""

_GKE_LONGEST_NAME = 40
_EKS_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_GKE_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


class Taint(NamedTuple):
    """A taint of nodes, as Kubernetes writes it."""

    key: str
    value: str
    effect: str


def pool_labels(pool: NodePool) -> dict[str, str]:
    """Return the labels of a pool's nodes: POOL_LABEL is what servers select by."""
    return {POOL_LABEL: label_value(pool.name, "node pool"), TIER_LABEL: pool.tier}


def pool_selector(pool: NodePool) -> dict[str, str]:
    """Return the label by which servers find the pool's nodes."""
    return {POOL_LABEL: pool_labels(pool)[POOL_LABEL]}


def pool_taints(pool: NodePool) -> tuple[Taint, ...]:
    """Return the taints that the pool is made with."""
    gpu = Taint(GPU_RESOURCE, GPU_TAINT_VALUE, GPU_TAINT_EFFECT)
    return (gpu, Taint(SPOT_TAINT, "true", "NoSchedule")) if pool.spot else (gpu,)


def pool_tolerations(pool: NodePool) -> list[dict[str, str]]:
    """Return what servers of the pool tolerate: its taints, and those that its cloud adds."""
    tolerated = [
        {"key": taint.key, "operator": "Exists", "effect": taint.effect}
        for taint in pool_taints(pool)
    ]
    if pool.cloud == "azure":
        added = [("sku", "gpu")] + [("kubernetes.azure.com/scalesetpriority", "spot")] * pool.spot
        tolerated += [
            {"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}
            for key, value in added
        ]
    return tolerated


def managed_name(pool: NodePool) -> str:
    """Return what the pool is called at its cloud: AKS has shorter names."""
    return aks_pool_name(pool.name) if pool.kind == "aks_agent_pool" else pool.name


def pool_problems(pool: NodePool) -> Iterator[str]:
    """Yield what keeps a pool from being made, each as a sentence without its end."""
    where = f"node pool {pool.cluster}/{pool.name}"
    kinds = KINDS_OF_CLOUD.get(pool.cloud, ())
    if pool.kind not in kinds:
        known = ", ".join(kinds) or "none"
        yield f"{where}: {pool.cloud} has no pools of kind {pool.kind}; it has: {known}"
        return
    if pool.spot and pool.tier != "batch":
        yield f"{where}: spot nodes may be taken back at any time: only batch runs on them"
    for zone in pool.zones:
        if not _is_zone_of(zone, pool):
            yield f"{where}: zone {zone} is not in {pool.region}"
    if pool.kind == "aks_agent_pool" and pool.resource_group is None:
        yield f"{where} needs the cluster's resource_group"
    elif pool.kind == "eks_node_group":
        yield from _eks_problems(where, pool)
    elif pool.kind == "gke_node_pool":
        yield from _gke_problems(where, pool)


def _eks_problems(where: str, pool: NodePool) -> Iterator[str]:
    if pool.site.node_role_arn is None:
        yield f"{where} needs the cluster's site.node_role_arn"
    if not pool.site.subnet_ids:
        yield f"{where} needs the cluster's site.subnet_ids: they are what settles its zones"
    if not _EKS_NAME.fullmatch(pool.name):
        yield f"{where}: EKS takes at most 63 letters, digits, hyphens and underscores"


def _gke_problems(where: str, pool: NodePool) -> Iterator[str]:
    if pool.site.project is None:
        yield f"{where} needs the cluster's site.project"
    location = pool.site.location or pool.region
    if location != pool.region and not location.startswith(f"{pool.region}-"):
        yield f"{where}: site.location {location} is not in {pool.region}"
    if len(pool.name) > _GKE_LONGEST_NAME or not _GKE_NAME.fullmatch(pool.name):
        yield f"{where}: GKE takes at most 40 lower-case letters, digits and hyphens"


def _is_zone_of(zone: str, pool: NodePool) -> bool:
    """Tell whether a zone is one of the pool's region; AKS numbers them within it."""
    if pool.kind == "aks_agent_pool":
        return zone in {"1", "2", "3"}
    parted = "" if pool.cloud == "aws" else "-"
    return re.fullmatch(rf"{re.escape(pool.region)}{parted}[a-z0-9]", zone) is not None
