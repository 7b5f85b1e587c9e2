"""Where models can be hosted: clusters, their machines, and what servers run there."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.base import Declared
from planner.catalog.rows import Provider
from planner.declared.operators import KeyCustody, OperatorClass
from planner.features import Cidr, Features, Namespace, SecretKey
from planner.workload import Name, Positive, PositiveInt


class ModelSource(Declared):
    """Where vLLM finds weights, at a revision: exactly one of a claim, an image and a URL."""

    model: str
    """Name or alias of the model."""
    persistent_volume_claim: Annotated[str, Field(min_length=1)] | None = None
    """A claim with the weights, mounted read-only: ReadOnlyMany or ReadWriteMany."""
    image: Annotated[str, Field(pattern=r"^[^\s@]+@sha256:[0-9a-f]{64}$")] | None = None
    """An OCI image with the weights, by digest, mounted as a volume."""
    url: Annotated[str, Field(pattern=r"^(s3|gs|az)://[^\s@]+[^\s@/]$")] | None = None
    """s3://, gs:// or az://: streamed from the folder below that the revision names."""
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    """The commit of the weights, 40 hex digits; a url needs it."""
    host: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")] | None = None
    """The host of a url's storage, for egress rules; a url needs it."""
    cidrs: tuple[Cidr, ...] = ()
    """That storage's addresses, where they are known."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        places = (self.persistent_volume_claim, self.image, self.url)
        if sum(place is not None for place in places) != 1:
            raise ValueError("give exactly one of persistent_volume_claim, image and url")
        if self.url is not None and (self.revision is None or self.host is None):
            raise ValueError("a url needs the revision that it holds, and the storage's host")
        return self


class Serving(Declared):
    """What every vLLM server on a cluster runs. The digest is yours to give."""

    image: str = "vllm/vllm-openai:v0.33.0"
    """The server's image, without a digest."""
    image_digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """The image's digest, yours to give: sha256:...; rule PIN-001 asks for it."""
    vllm_version: str = "0.33.0"
    """The vLLM release in the image."""
    gpu_memory_utilization: Annotated[float, Field(gt=0.1, le=0.98)] = 0.92
    """vLLM's flag of this name [share]."""
    load_bytes_per_s: Positive = 1e9
    """Sustained read rate of the weights' store [bytes/s]."""
    model_sources: tuple[ModelSource, ...] = ()
    """Where the weights are; a model without one is loaded from the hub."""
    hf_token_secret: SecretKey | None = None
    """The model hub's token, for models that are loaded from there."""
    api_key_secret: SecretKey | None = None
    """What callers must send; without one, whoever reaches a server may use it."""
    image_pull_secrets: tuple[str, ...] = ()
    """Names of Secrets for the image's registry."""
    service_account_annotations: dict[str, str] = Field(default_factory=dict)
    """On each server's ServiceAccount, such as the cloud role that reads the weights."""


class NodeQuota(Declared):
    """How many nodes of an instance type the cluster may have."""

    instance: str
    """Instance type, as in the catalog or an alias."""
    max_nodes: PositiveInt
    """How many of them the cluster may have [nodes]."""


class EgressHost(Declared):
    """A host that servers of a cluster talk to, besides those that call them."""

    host: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
    """The host's name."""
    purpose: Literal["weights", "images", "telemetry", "logs", "other"]
    """What for; policy data admits hosts by purpose."""


NodePoolKind = Literal["aks_agent_pool", "eks_node_group", "gke_node_pool", "karpenter"]
"""Who makes the GPU nodes: a managed pool of one cloud, or Karpenter on the cluster."""


class PoolSite(Declared):
    """What a managed pool needs to know of its cluster."""

    node_role_arn: (
        Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:role/\S+$")] | None
    ) = None
    """EKS: the role of the nodes."""
    subnet_ids: tuple[Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")], ...] = ()
    """EKS: one a zone; they settle the zones."""
    project: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")] | None = None
    """GKE: the project."""
    location: Annotated[str, Field(pattern=r"^[a-z]+-[a-z]+\d+(-[a-z])?$")] | None = None
    """GKE: the cluster's own region or zone; its region by default."""
    disk_gib: Annotated[int, Field(ge=100, le=16_384)] = 300
    """EKS and GKE: a node's disk for images, home and scratch [GiB]."""


class Cluster(Declared):
    """A Kubernetes cluster that exists or may be created, with its GPU node quotas."""

    name: Name
    """Unique among the stack's clusters."""
    cloud: Provider
    """Whose machines it has."""
    region: str
    """Where it is."""
    node_pools: NodePoolKind
    """Who makes the GPU nodes: a managed pool of its cloud, or Karpenter (EKS and AKS)."""
    site: PoolSite = PoolSite()
    """What managed pools need to know; AKS needs resource_group alone."""
    spot_batch: bool = False
    """Whether batch pools take spare capacity that the cloud may take back; the price
    counted stays that on demand."""
    operator_class: OperatorClass = "iaas"
    """Who runs it: yourselves on own metal, on rented machines, or somebody for you."""
    resource_group: str | None = None
    """Azure: its resource group."""
    nodes: Annotated[tuple[NodeQuota, ...], Field(min_length=1)]
    """The GPU machines that it may have."""
    namespace: Name = "llm"
    """Servers live in NAMESPACE-interactive and NAMESPACE-batch."""
    zones: tuple[str, ...] = ()
    """Zones of its nodes; the cloud's choice where none is given."""
    serving: Serving = Serving()
    """What its servers run."""
    key_custody: KeyCustody = "provider_managed"
    """Who can decrypt what it stores."""
    register_id: Annotated[str, Field(min_length=1)] | None = None
    """Its entry in the register of third-party arrangements."""
    egress: tuple[EgressHost, ...] = ()
    """Hosts that its servers talk to."""
    features: Features = Features()
    """What is installed on it."""
    gateway_namespace: Namespace | None = None
    """Whose pods may call interactive servers; the declared gateway's own by default."""
    monitoring_namespace: Namespace | None = None
    """Whose pods may read metrics."""
    batch_client_namespaces: tuple[Namespace, ...] = ()
    """Whose pods may call batch servers."""
