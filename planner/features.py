"""What a cluster can do beyond Kubernetes itself, as its owner declares it.

Nothing is emitted for a feature that is not declared: an object of a kind that the cluster
does not know would stop a run halfway.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from planner.base import Declared, Frozen
from planner.workload import BatchWindow, PositiveInt

Namespace = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]


def _cidr(text: str) -> str:
    ipaddress.ip_network(text)
    return text


Cidr = Annotated[str, AfterValidator(_cidr)]
"""A range of addresses, such as 10.20.0.0/16."""


class SecretKey(Declared):
    """A key of a Secret that exists in the namespace: never its value."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
    """Name of the Secret."""
    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,253}$")]
    """Key inside of it."""


class Keda(Declared):
    """KEDA scales replicas on what vLLM reports, and batch to nothing outside of its window."""

    prometheus: Annotated[str, Field(pattern=r"^https?://[^\s@]+$")]
    """Address of the Prometheus that KEDA asks."""
    hold: Literal["p50", "p90", "peak"] = "p90"
    """The demand whose replicas are always there."""
    kv_cache_target: Annotated[float, Field(ge=0.1, le=0.9)] = 0.6
    """How full KV caches may be on average before a replica is added [share]."""
    timezone: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+/-]{1,64}$")] = "Etc/UTC"
    """Of the batch windows: a name of the IANA database."""


class Gateway(Declared):
    """The Gateway (Gateway API) through which callers of interactive servers come."""

    name: Namespace
    """Name of the Gateway."""
    namespace: Namespace
    """Its namespace."""


class Features(Declared):
    """What is installed on a cluster; everything is off unless declared."""

    keda: Keda | None = None
    """KEDA is installed and scales replicas."""
    pod_monitor: bool = False
    """The Prometheus operator is installed: each server gets a PodMonitor."""
    kueue: bool = False
    """Kueue is installed and admits batch work."""
    gateway: Gateway | None = None
    """The Gateway API is installed, with this Gateway."""
    inference_pool: bool = False
    """The inference extension is installed: each server gets a pool, picked by WORKLOAD-epp."""
    lws: bool = False
    """LeaderWorkerSet is installed: a replica may span nodes."""


class ClusterSite(Frozen):
    """What servers need to know of their cluster.

    ``node_quotas`` are the nodes that may exist of an instance type; ``gateway_namespace``,
    ``monitoring_namespace`` and ``batch_client_namespaces`` are who may call servers.
    """

    name: str
    features: Features = Features()
    gateway_namespace: str | None = None
    monitoring_namespace: str | None = None
    batch_client_namespaces: tuple[str, ...] = ()
    node_quotas: dict[str, int] = Field(default_factory=dict)


class Scaling(Frozen):
    """Between how many replicas an autoscaler may choose; ``window`` is a batch tier's."""

    min_replicas: Annotated[int, Field(ge=0)]
    max_replicas: PositiveInt
    window: BatchWindow | None = None
