"""The pod of a vLLM server: where it runs, what it may do, what it mounts."""

from __future__ import annotations

import math
from typing import Any

from planner.emit import vllm
from planner.emit.labels import GPU_RESOURCE, REGION_LABEL, ZONE_LABEL, quantity
from planner.emit.pool_terms import pool_selector, pool_tolerations
from planner.plan import NodePool, VllmServer
from planner.units import GIB

USER_ID = 2000
_HOME_BYTES = 20 * GIB
_TMP_BYTES = 8 * GIB
_LOG_BYTES = 2 * GIB
_FETCH_FACTOR = 1.2
"""Disk for weights that are fetched at the start: files are whole before they are moved."""


def nodes_of(server: VllmServer, pool: NodePool) -> int:
    """Return over how many nodes of ``pool`` one replica is spread."""
    return math.ceil(server.gpus_per_replica / pool.gpus_per_node)


def home_bytes(server: VllmServer) -> int:
    """Return the size of a server's home: caches, and the weights where they are fetched."""
    fetched = math.ceil(server.weights_bytes * _FETCH_FACTOR / GIB) * GIB if server.from_hub else 0
    return _HOME_BYTES + fetched


def ephemeral_bytes(server: VllmServer) -> int:
    """Return the node's disk that a pod asks for: home, scratch and logs."""
    return home_bytes(server) + _TMP_BYTES + _LOG_BYTES


def pod_spec(
    server: VllmServer,
    pool: NodePool,
    selector: dict[str, str],
    priority_class: str,
    role: vllm.Role = "leader",
) -> dict[str, Any]:
    """Return the pod's spec; it fits the `restricted` pod security standard."""
    pull = {"imagePullSecrets": [{"name": name} for name in server.image_pull_secrets]}
    return {
        "priorityClassName": priority_class,
        "serviceAccountName": server.name,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        **(pull if server.image_pull_secrets else {}),
        "terminationGracePeriodSeconds": vllm.grace_seconds(server),
        "nodeSelector": pool_selector(pool),
        "affinity": {"nodeAffinity": _residency(pool)},
        "tolerations": pool_tolerations(pool),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": selector},
            }
            for key in (ZONE_LABEL, "kubernetes.io/hostname")
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER_ID,
            "runAsGroup": USER_ID,
            "fsGroup": USER_ID,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(server, nodes_of(server, pool), role)],
        "volumes": _volumes(server),
    }


def zone_values(pool: NodePool) -> list[str]:
    """Return the pool's zones as nodes are labelled: Azure's have the region before them."""
    parted = [zone if not zone.isdigit() else f"{pool.region}-{zone}" for zone in pool.zones]
    return parted if pool.cloud == "azure" else list(pool.zones)


def _residency(pool: NodePool) -> dict[str, Any]:
    """Return the affinity that keeps a pod in the region, whatever bears the pool's label."""
    terms = [{"key": REGION_LABEL, "operator": "In", "values": [pool.region]}]
    if pool.zones:
        terms.append({"key": ZONE_LABEL, "operator": "In", "values": zone_values(pool)})
    required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": required}


def _container(server: VllmServer, nodes: int, role: vllm.Role) -> dict[str, Any]:
    command = vllm.serve_command(server, nodes, role)
    disk = quantity(ephemeral_bytes(server))
    resources = {
        "cpu": str(server.cpu),
        "memory": quantity(server.memory_bytes),
        "ephemeral-storage": disk,
        GPU_RESOURCE: str(server.gpus_per_replica // nodes),
    }
    mounts: list[dict[str, Any]] = [
        {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - a mount path, not a file
        {"name": "home", "mountPath": vllm.HOME},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - a mount path, not a file
    ]
    if server.model_claim is not None:
        mounts.append({"name": "model", "mountPath": vllm.MODEL_ROOT, "readOnly": True})
    elif server.model_image is not None:
        place = vllm.model_location(server)
        mounts.append({"name": "model", "mountPath": place, "readOnly": True})
    # Others of a group wait for their leader, whose requests run through them.
    leave = vllm.pre_stop_seconds(server)
    leave += vllm.drain_seconds(server) if role == "worker" else 0
    return {
        "name": "vllm",
        "image": vllm.image_reference(server),
        "imagePullPolicy": "IfNotPresent",
        "command": command[:2],
        "args": command[2:],
        "workingDir": vllm.HOME,
        **({"ports": _ports(), **_probes(server)} if role == "leader" else {}),
        "env": vllm.environment(server),
        "resources": {"requests": resources, "limits": dict(resources)},
        "lifecycle": {"preStop": {"sleep": {"seconds": leave}}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }


def _ports() -> list[dict[str, Any]]:
    return [{"name": "http", "containerPort": vllm.PORT, "protocol": "TCP"}]


def _probes(server: VllmServer) -> dict[str, Any]:
    return {
        "startupProbe": _probe(vllm.PROBE_PERIOD_SECONDS, vllm.startup_probes(server)),
        "readinessProbe": _probe(5, 2),
        "livenessProbe": _probe(10, 6),
    }


def _probe(period_seconds: int, failures: int) -> dict[str, Any]:
    """Return a probe of /health, the one path that stays open with an API key."""
    return {
        "httpGet": {"path": vllm.HEALTH_PATH, "port": "http"},
        "periodSeconds": period_seconds,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def _volumes(server: VllmServer) -> list[dict[str, Any]]:
    volumes: list[dict[str, Any]] = [
        {
            "name": "shm",
            "emptyDir": {"medium": "Memory", "sizeLimit": quantity(server.shm_bytes)},
        },
        {"name": "home", "emptyDir": {"sizeLimit": quantity(home_bytes(server))}},
        {"name": "tmp", "emptyDir": {"sizeLimit": quantity(_TMP_BYTES)}},
    ]
    if server.model_claim is not None:
        claim = {"claimName": server.model_claim, "readOnly": True}
        volumes.append({"name": "model", "persistentVolumeClaim": claim})
    elif server.model_image is not None:
        image = {"reference": server.model_image, "pullPolicy": "IfNotPresent"}
        volumes.append({"name": "model", "image": image})
    return volumes
