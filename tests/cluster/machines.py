"""Nodes and claims of a cluster: what its owner and its cloud bring, the plan does not."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from planner.catalog.loader import load_catalog
from planner.emit.labels import GPU_RESOURCE
from planner.emit.pool_terms import pool_labels, pool_taints
from planner.plan import NodePool, Plan
from tests.cluster.api import Api, Object, Refused

ALLOCATABLE = 0.94
"""Share of a machine's CPU and memory that pods may ask for; kubelet and system keep the rest."""
LABELS_OF_ALL = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
SCRATCH = "1000Gi"


def node(
    name: str,
    cloud: str,
    instance: str,
    region: str,
    zone: str,
    labels: Mapping[str, str],
    taints: Sequence[Mapping[str, str]],
) -> Object:
    """A node of an instance type of the catalog, labelled as clouds label theirs."""
    machine = load_catalog().instance(cloud, instance)
    resources = {
        "cpu": f"{int(machine.vcpu * ALLOCATABLE * 1000)}m",
        "memory": f"{int(machine.memory_gib * ALLOCATABLE)}Gi",
        "pods": "110",
        "ephemeral-storage": SCRATCH,
        GPU_RESOURCE: str(machine.gpus),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                **LABELS_OF_ALL,
                "kubernetes.io/hostname": name,
                "node.kubernetes.io/instance-type": instance,
                "topology.kubernetes.io/region": region,
                "topology.kubernetes.io/zone": zone_label(cloud, region, zone),
                **labels,
            },
        },
        "spec": {"taints": [dict(taint) for taint in taints]},
        "status": {"allocatable": resources, "capacity": resources},
    }


def zone_label(cloud: str, region: str, zone: str) -> str:
    """A zone as its nodes are labelled: Azure's are numbers, and its nodes say REGION-NUMBER."""
    return f"{region}-{zone or '0'}" if cloud == "azure" else zone or f"{region}a"


def nodes_of(pool: NodePool, count: int | None = None) -> list[Object]:
    """All nodes that a pool may have, or that many, spread over its zones."""
    zones = pool.zones or ("",)
    taints = [taint._asdict() for taint in pool_taints(pool)]
    return [
        node(
            f"{pool.name}-{number}",
            pool.cloud,
            pool.instance,
            pool.region,
            zones[number % len(zones)],
            pool_labels(pool),
            taints,
        )
        for number in range(pool.max_nodes if count is None else count)
    ]


def system_node(name: str = "system-0") -> Object:
    """A node without GPU: nothing of a plan may run there."""
    resources = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": SCRATCH}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**LABELS_OF_ALL, "kubernetes.io/hostname": name}},
        "status": {"allocatable": resources, "capacity": resources},
    }


def create_nodes(api: Api, nodes: Sequence[Object]) -> None:
    """Make nodes with what they have; KWOK then reports them as Ready."""
    for item in nodes:
        api.create(item)


def claims(plan: Plan, cluster: str) -> dict[str, set[str]]:
    """Claims that servers of a cluster mount, by namespace: the owner's to make."""
    found: dict[str, set[str]] = {}
    for server in plan.resources.servers:
        if server.cluster == cluster and server.model_claim is not None:
            found.setdefault(server.namespace, set()).add(server.model_claim)
    return found


class ClaimKeeper:
    """Makes the claims as soon as their namespace exists, as the cluster's owner would."""

    def __init__(self, api: Api, wanted: Mapping[str, set[str]]) -> None:
        self._api, self._wanted = api, wanted
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._volumes: list[Object] = []

    def __enter__(self) -> ClaimKeeper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        for volume in self._volumes:
            self._api.delete(volume)

    def _keep(self) -> None:
        left = {(space, name) for space, names in self._wanted.items() for name in names}
        while left and not self._stop.wait(0.3):
            there = {item["metadata"]["name"] for item in self._api.list("v1", "Namespace")}
            for space, name in sorted(left):
                if space in there and self._made(space, name):
                    left.discard((space, name))

    def _made(self, namespace: str, name: str) -> bool:
        """Make a claim and its volume; False where the namespace is just going."""
        volume_name = f"{namespace}-{name}"
        claim_ref = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        size = {"storage": "500Gi"}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": volume_name},
            "spec": {
                "accessModes": ["ReadOnlyMany"],
                "capacity": size,
                "claimRef": {**claim_ref, "name": name, "namespace": namespace},
                "nfs": {"server": "store.example.com", "path": f"/{name}"},
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": "",
            },
        }
        claim = {
            **claim_ref,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "accessModes": ["ReadOnlyMany"],
                "resources": {"requests": size},
                "storageClassName": "",
                "volumeName": volume_name,
            },
        }
        for item in (volume, claim):
            try:
                self._api.create(item)
            except Refused as refused:
                if refused.status == 403:
                    return False
                if refused.status != 409:
                    raise
        self._volumes.append(volume)
        return True
