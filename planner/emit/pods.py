"""The pod of a vLLM server: where it runs, what it may do, what it mounts."""

from __future__ import annotations

from typing import Any

from planner.emit import vllm
from planner.emit.labels import GPU_RESOURCE, POOL_LABEL, label_value, quantity
from planner.plan import NodePool, VllmServer
from planner.units import GIB

USER_ID = 2000
_HOME_BYTES = 20 * GIB
_TMP_BYTES = 8 * GIB


def pod_spec(
    server: VllmServer, pool: NodePool, selector: dict[str, str], priority_class: str
) -> dict[str, Any]:
    """Return the pod's spec; it fits the `restricted` pod security standard."""
    return {
        "priorityClassName": priority_class,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": vllm.grace_seconds(server),
        "nodeSelector": {POOL_LABEL: label_value(pool.name, "node pool")},
        "tolerations": _tolerations(pool),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": selector},
            }
            for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER_ID,
            "runAsGroup": USER_ID,
            "fsGroup": USER_ID,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(server)],
        "volumes": _volumes(server),
    }


def _container(server: VllmServer) -> dict[str, Any]:
    command = vllm.serve_command(server)
    resources = {
        "cpu": str(server.cpu),
        "memory": quantity(server.memory_bytes),
        GPU_RESOURCE: str(server.gpus_per_replica),
    }
    mounts: list[dict[str, Any]] = [
        {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - a mount path, not a file
        {"name": "home", "mountPath": vllm.HOME},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - a mount path, not a file
    ]
    if server.model_claim is not None:
        mounts.append({"name": "model", "mountPath": vllm.MODEL_ROOT, "readOnly": True})
    return {
        "name": "vllm",
        "image": vllm.image_reference(server),
        "imagePullPolicy": "IfNotPresent",
        "command": command[:2],
        "args": command[2:],
        "workingDir": vllm.HOME,
        "ports": [{"name": "http", "containerPort": vllm.PORT, "protocol": "TCP"}],
        "env": vllm.environment(server),
        "resources": {"requests": resources, "limits": dict(resources)},
        "startupProbe": _probe(vllm.PROBE_PERIOD_SECONDS, vllm.startup_probes(server)),
        "readinessProbe": _probe(5, 2),
        "livenessProbe": _probe(10, 6),
        "lifecycle": {"preStop": {"sleep": {"seconds": vllm.PRE_STOP_SECONDS}}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }


def _probe(period_seconds: int, failures: int) -> dict[str, Any]:
    """Return a probe of /health, the one path that stays open with an API key."""
    return {
        "httpGet": {"path": vllm.HEALTH_PATH, "port": "http"},
        "periodSeconds": period_seconds,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def _tolerations(pool: NodePool) -> list[dict[str, str]]:
    found = [{"key": GPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}]
    if pool.cloud == "azure":
        found.append({"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"})
    return found


def _volumes(server: VllmServer) -> list[dict[str, Any]]:
    """Return the volumes; a home that also takes weights from the hub has no size limit."""
    home = {"sizeLimit": quantity(_HOME_BYTES)} if server.model_claim is not None else {}
    volumes: list[dict[str, Any]] = [
        {
            "name": "shm",
            "emptyDir": {"medium": "Memory", "sizeLimit": quantity(server.shm_bytes)},
        },
        {"name": "home", "emptyDir": home},
        {"name": "tmp", "emptyDir": {"sizeLimit": quantity(_TMP_BYTES)}},
    ]
    if server.model_claim is not None:
        claim = {"claimName": server.model_claim, "readOnly": True}
        volumes.append({"name": "model", "persistentVolumeClaim": claim})
    return volumes
