"""Names, labels and quantities that pools and servers share.

A server finds its nodes by one label that its pool sets; both read it from here.
"""

from __future__ import annotations

import hashlib
import re

from planner import faults
from planner.errors import PlannerError
from planner.units import GIB, MIB

DOMAIN = "llm-capacity.dev"
POOL_LABEL = f"{DOMAIN}/gpu-pool"
WORKLOAD_LABEL = f"{DOMAIN}/workload"
TIER_LABEL = f"{DOMAIN}/tier"
CLASSIFICATION_LABEL = f"{DOMAIN}/classification"
OWNER_ANNOTATION = f"{DOMAIN}/owner"
RESIDENCY_ANNOTATION = f"{DOMAIN}/residency"
DIGEST_ANNOTATION = f"{DOMAIN}/capacity-digest"
MODEL_ANNOTATION = f"{DOMAIN}/model"
REVISION_ANNOTATION = f"{DOMAIN}/model-revision"

ROLLOUT_ANNOTATION = f"{DOMAIN}/rollout"

PART_OF = {"app.kubernetes.io/part-of": "llm-capacity"}
REGION_LABEL = "topology.kubernetes.io/region"
ZONE_LABEL = "topology.kubernetes.io/zone"

GPU_RESOURCE = "nvidia.com/gpu"
GPU_TAINT_VALUE = "present"
GPU_TAINT_EFFECT = "NoSchedule"

_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_AKS_POOL = re.compile(r"[a-z][a-z0-9]{0,11}")
_AKS_KEPT = 7
_AKS_HASH = 5


def is_label_value(text: str) -> bool:
    """Tell whether Kubernetes takes ``text`` as a label's value."""
    return _LABEL_VALUE.fullmatch(text) is not None


def label_value(text: str, what: str) -> str:
    """Return ``text`` if Kubernetes takes it as a label's value, else say what it is."""
    if not is_label_value(text):
        told = (
            "cannot be a Kubernetes label: at most 63 letters, digits, '-', '_' "
            "and '.', beginning and ending with a letter or digit"
        )
        raise PlannerError(faults.BAD_OBJECT_NAME.at(f"{what} {text!r}", told, "Rename it."))
    return text


def object_name(text: str, what: str) -> str:
    """Return ``text`` if it can name a Kubernetes object and be part of a host name."""
    if not _DNS_LABEL.fullmatch(text):
        told = (
            "cannot name a Kubernetes object: at most 63 lower-case letters, "
            "digits and '-', beginning and ending with a letter or digit"
        )
        raise PlannerError(faults.BAD_OBJECT_NAME.at(f"{what} {text!r}", told, "Rename it."))
    return text


def service_name(server: str) -> str:
    """Return the Service of a server: it begins with a letter and is never ``vllm``.

    Kubernetes gives pods of the namespace VLLM_PORT=tcp://... for a Service of
    that name, and vLLM reads VLLM_PORT as its own port and crashes.
    """
    return f"llm-{server}" if server == "vllm" or server[:1].isdigit() else server


def aks_pool_name(pool: str) -> str:
    """Return the agent pool's name: AKS takes 12 lower-case letters and digits at most.

    A name that does not fit keeps its beginning and gains a hash, so that two
    pools stay apart.
    """
    if _AKS_POOL.fullmatch(pool):
        return pool
    kept = re.sub(r"[^a-z0-9]", "", pool.lower()).lstrip("0123456789") or "gpu"
    digest = hashlib.sha256(pool.encode()).hexdigest()
    return kept[:_AKS_KEPT] + digest[:_AKS_HASH]


def quantity(count: int) -> str:
    """Return bytes as a Kubernetes quantity, in the largest unit that is exact."""
    for size, unit in ((GIB, "Gi"), (MIB, "Mi")):
        if count % size == 0:
            return f"{count // size}{unit}"
    return str(count)
