"""The Karpenter NodePool of a pool of GPU nodes."""

from __future__ import annotations

from typing import Any

from planner import faults
from planner.emit.labels import GPU_RESOURCE, PART_OF, TIER_LABEL, ZONE_LABEL, object_name
from planner.emit.metadata import Manifest
from planner.emit.pods import zone_values
from planner.emit.pool_terms import pool_labels, pool_taints
from planner.errors import PlannerError
from planner.plan import NodePool

NODE_CLASS_NAME = "default"
_NODE_CLASSES = {
    "aws": ("karpenter.k8s.aws", "EC2NodeClass"),
    "azure": ("karpenter.azure.com", "AKSNodeClass"),
}


def karpenter_manifests(pool: NodePool, load_seconds: int = 1800) -> list[Manifest]:
    """Return the Karpenter NodePool of ``pool``.

    Its node class (image, role, network) belongs to the cluster's owner and must
    exist under NODE_CLASS_NAME. An empty node is kept for ``load_seconds``, what
    a server on it takes to load again; nodes in use are never consolidated, nor
    expired.
    """
    if pool.cloud not in _NODE_CLASSES:
        clouds = ", ".join(sorted(_NODE_CLASSES))
        what = f"no Karpenter node class is known for {pool.cloud}"
        where, fix = f"node pool {pool.name}", f"Use a cluster of one of: {clouds}."
        raise PlannerError(faults.UNSUPPORTED_RELEASE.at(where, what, fix))
    group, kind = _NODE_CLASSES[pool.cloud]
    requirements = [
        _among("node.kubernetes.io/instance-type", [pool.instance]),
        _among("karpenter.sh/capacity-type", ["spot" if pool.spot else "on-demand"]),
    ]
    if pool.zones:
        requirements.append(_among(ZONE_LABEL, zone_values(pool)))
    template = {
        "metadata": {"labels": pool_labels(pool)},
        "spec": {
            "nodeClassRef": {"group": group, "kind": kind, "name": NODE_CLASS_NAME},
            "requirements": requirements,
            "taints": [taint._asdict() for taint in pool_taints(pool)],
            "expireAfter": "Never",
        },
    }
    return [
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {
                "name": object_name(pool.name, "node pool"),
                "labels": {**PART_OF, TIER_LABEL: pool.tier},
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


def _among(key: str, values: list[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": values}
