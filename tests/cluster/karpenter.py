"""Real Karpenter with its KWOK provider: it buys nothing, and makes nodes like any other.

Only one thing differs from an EKS or AKS cluster: the node class, which belongs to the cloud's
own provider. An admission policy of the API server puts KWOK's class in its place, so that
NodePools are sent exactly as they are emitted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from planner.catalog.loader import load_catalog
from planner.emit.karpenter import NODE_CLASS_NAME
from planner.emit.labels import GPU_RESOURCE
from tests.cluster.api import Api, Object, Refused, remove, until
from tests.cluster.control_plane import ControlPlane, free_ports
from tests.cluster.machines import ALLOCATABLE

CAPACITY_TYPES = {"on-demand": 1.0, "spot": 0.3}
NODE_CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": NODE_CLASS_NAME}
_ADMISSION = "admissionregistration.k8s.io/v1"
_SWAP = "swap-node-class"
_PATCH = f"""[JSONPatch{{
  op: "replace",
  path: "/spec/template/spec/nodeClassRef",
  value: {json.dumps(NODE_CLASS)}
}}]"""


def instance_type(cloud: str, name: str, zones: Sequence[str], usd_per_hour: float) -> Object:
    """An instance type as Karpenter's KWOK provider reads it: every zone, spot and on-demand."""
    machine = load_catalog().instance(cloud, name)
    offerings = [
        {
            "Price": usd_per_hour * share,
            "Available": True,
            "Requirements": [
                _is("karpenter.sh/capacity-type", capacity_type),
                _is("topology.kubernetes.io/zone", zone),
                _is("topology.kubernetes.io/region", zone.rstrip("abc")),
            ],
        }
        for capacity_type, share in CAPACITY_TYPES.items()
        for zone in zones
    ]
    return {
        "name": name,
        "offerings": offerings,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {
            "cpu": f"{int(machine.vcpu * ALLOCATABLE * 1000)}m",
            "memory": f"{int(machine.memory_gib * ALLOCATABLE)}Gi",
            "ephemeral-storage": "1000Gi",
            GPU_RESOURCE: str(machine.gpus),
            "pods": "110",
        },
    }


@contextmanager
def karpenter(plane: ControlPlane, types: Sequence[Object]) -> Iterator[None]:
    """Run Karpenter on the control plane, with these instance types to choose from."""
    api = plane.api()
    node_class: Object = {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": NODE_CLASS_NAME},
        "spec": {},
    }
    own = [node_class, *_swap()]
    for item in own:
        api.apply(item)
    file = plane.folder / "instance-types.json"
    file.write_text(json.dumps(list(types)))
    metrics, health = free_ports(2)
    plane.run(
        "karpenter",
        env={
            "KUBECONFIG": str(plane.kubeconfig),
            "INSTANCE_TYPES_FILE_PATH": str(file),
            "DISABLE_LEADER_ELECTION": "true",
            "SYSTEM_NAMESPACE": "kube-system",
            "METRICS_PORT": str(metrics),
            "HEALTH_PROBE_PORT": str(health),
            "BATCH_IDLE_DURATION": "300ms",
        },
    )
    try:
        until("the node class is ready", lambda: _is_ready(api, node_class), 60)
        # A policy counts about a second after it was made; a pool before that gets no nodes.
        until("the node class is swapped", lambda: _is_swapped(api), 60)
        yield
    finally:
        pools = api.list("karpenter.sh/v1", "NodePool")
        remove(api, [*pools, *api.list("karpenter.sh/v1", "NodeClaim")], 90)
        remove(api, own)
        plane.end("karpenter")


def _is_ready(api: Api, obj: Object) -> bool:
    found = api.call("GET", api.path(obj)).get("status", {}).get("conditions") or []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in found)


def _is_swapped(api: Api) -> bool:
    template = {
        "spec": {
            "nodeClassRef": {"group": "example.dev", "kind": "Other", "name": "other"},
            "requirements": [],
        }
    }
    probe = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "probe"},
        "spec": {"template": template},
    }
    try:
        made = api.create(probe, dry_run=True)
    except Refused as refusal:
        if refusal.status != 503:  # 503: the definition is not served yet
            raise
        return False
    return bool(made["spec"]["template"]["spec"]["nodeClassRef"] == NODE_CLASS)


def _is(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def _swap() -> list[Object]:
    """An admission policy that puts KWOK's node class into every NodePool."""
    rule = {
        "apiGroups": ["karpenter.sh"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["nodepools"],
    }
    policy = {
        "apiVersion": _ADMISSION,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": _SWAP},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [rule]},
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _PATCH}}],
        },
    }
    binding = {
        "apiVersion": _ADMISSION,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": _SWAP},
        "spec": {"policyName": _SWAP},
    }
    return [policy, binding]
