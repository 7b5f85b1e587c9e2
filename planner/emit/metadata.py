"""What every object of a server carries: its names, labels and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.emit.labels import (
    CLASSIFICATION_LABEL,
    DIGEST_ANNOTATION,
    MODEL_ANNOTATION,
    OWNER_ANNOTATION,
    PART_OF,
    RESIDENCY_ANNOTATION,
    REVISION_ANNOTATION,
    TIER_LABEL,
    WORKLOAD_LABEL,
    is_label_value,
    label_value,
    object_name,
)
from planner.plan import VllmServer

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Provenance:
    """Where a server comes from: recorded on its objects, for whoever finds them."""

    stack: str
    capacity_digest: str
    owner: str
    classification: str
    residency: tuple[str, ...]


def metadata(server: VllmServer, name: str, provenance: Provenance) -> dict[str, Any]:
    """Return the metadata of an object of ``server`` that is called ``name``."""
    return {
        "name": object_name(name, "server"),
        "namespace": server.namespace,
        "labels": object_labels(server, provenance),
    }


def selector(server: VllmServer) -> dict[str, str]:
    """Return the labels that find a server's pods; Kubernetes never lets them change."""
    return {"app.kubernetes.io/name": "vllm", "app.kubernetes.io/instance": server.name}


def pod_labels(server: VllmServer, provenance: Provenance) -> dict[str, str]:
    """Return the labels of pods: few, because changing one restarts every server."""
    return {
        **selector(server),
        "app.kubernetes.io/component": "model-server",
        **PART_OF,
        WORKLOAD_LABEL: label_value(server.workload, "workload"),
        TIER_LABEL: server.tier,
        CLASSIFICATION_LABEL: provenance.classification,
    }


def object_labels(server: VllmServer, provenance: Provenance) -> dict[str, str]:
    """Return the labels of objects: the pods', and the plan's own where they are legal."""
    own = {key: text for key, text in sorted(server.labels.items()) if is_label_value(text)}
    return own | pod_labels(server, provenance)


def object_annotations(server: VllmServer, provenance: Provenance) -> dict[str, str]:
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
