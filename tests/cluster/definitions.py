"""Custom resource definitions that the control plane of the tests serves.

Published ones come with the tools; of the two that no Go module publishes, the smallest ones that
hold the fields emitted here, strictly: an unknown field is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.cluster.api import Api, Object, until
from tools.cluster_tools import ClusterTools

KARPENTER = "sigs.k8s.io/karpenter"
MODULES = (
    "github.com/kedacore/keda/v2",
    "github.com/prometheus-operator/prometheus-operator",
    "sigs.k8s.io/gateway-api",
    KARPENTER,
    "sigs.k8s.io/kueue",
)

_NAME = re.compile(r"^  name: ([a-z0-9.-]+)$", re.MULTILINE)
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def _one_of(*texts: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(texts)}


def _labels() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": _TEXT}


_POD = _object(
    metadata=_object(labels=_labels(), annotations=_labels()),
    spec={**_ANY, "required": ["containers"]},
)
# API of kubernetes-sigs/lws v0.7 (leaderworkerset.x-k8s.io/v1).
_GROUPS = _object(
    ("leaderWorkerTemplate",),
    replicas=_COUNT,
    startupPolicy=_one_of("LeaderCreated", "LeaderReady"),
    networkConfig=_object(subdomainPolicy=_one_of("Shared", "UniquePerReplica")),
    rolloutStrategy=_object(
        ("type",),
        type=_one_of("RollingUpdate"),
        rollingUpdateConfiguration=_object(
            partition=_COUNT,
            maxUnavailable={"x-kubernetes-int-or-string": True},
            maxSurge={"x-kubernetes-int-or-string": True},
        ),
    ),
    leaderWorkerTemplate=_object(
        ("workerTemplate",),
        size={"type": "integer", "minimum": 1},
        restartPolicy=_one_of("RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"),
        leaderTemplate=_POD,
        workerTemplate=_POD,
        subGroupPolicy=_object(subGroupSize=_COUNT),
    ),
)
# API of kubernetes-sigs/gateway-api-inference-extension v1 (inference.networking.k8s.io/v1).
_POOL = _object(
    ("selector", "targetPorts", "endpointPickerRef"),
    selector=_object(("matchLabels",), matchLabels=_labels()),
    targetPorts={
        "type": "array",
        "minItems": 1,
        "maxItems": 8,
        "items": _object(("number",), number={"type": "integer", "minimum": 1, "maximum": 65535}),
    },
    endpointPickerRef=_object(
        ("name",),
        group=_TEXT,
        kind=_TEXT,
        name=_TEXT,
        port=_object(("number",), number={"type": "integer", "minimum": 1, "maximum": 65535}),
        failureMode=_one_of("FailOpen", "FailClose"),
    ),
)


def own_definitions() -> dict[str, str]:
    """Definitions of LeaderWorkerSet and InferencePool, as text by name."""
    made = (
        _definition("leaderworkerset.x-k8s.io", "LeaderWorkerSet", _GROUPS),
        _definition("inference.networking.k8s.io", "InferencePool", _POOL),
    )
    return {item["metadata"]["name"]: json.dumps(item) for item in made}


def published(tools: ClusterTools, module: str) -> dict[str, str]:
    """Definitions that a module publishes, as text by name."""
    texts = [path.read_text() for path in tools.files_of(module)]
    return {_NAME.findall(text)[0]: text for text in texts if "CustomResourceDefinition" in text}


def install(api: Api, definitions: Mapping[str, str]) -> None:
    """Create definitions and wait until the server serves their kinds.

    They go as they are published: the server reads YAML, and faster than Python does.
    """
    place = api.collection("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for text in definitions.values():
        api.call("POST", place, text=text, content_type="application/yaml")
    until("all definitions are served", lambda: all(_served(api, name) for name in definitions))


def _served(api: Api, name: str) -> bool:
    found = api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
    conditions = found.get("status", {}).get("conditions") or []
    return any(item["type"] == "Established" and item["status"] == "True" for item in conditions)


def _definition(group: str, kind: str, spec: dict[str, Any]) -> Object:
    plural = f"{kind.lower()}s"
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {"spec": spec, "status": _ANY},
    }
    name = f"{plural}.{group}"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            # The group is Kubernetes' own: such definitions say where they were approved.
            "annotations": {"api-approved.kubernetes.io": "unapproved, a copy for tests"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }
