"""What a stack adds: where capacity may come from, and the terms of deciding."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.base import Frozen
from planner.catalog.rows import Provider, UnitName
from planner.features import Cidr, Features, Namespace, SecretKey
from planner.workload import Date, Kind, Name, NonNegative, Positive, PositiveInt, Share

OperatorClass = Literal["own_metal", "iaas", "managed_service"]

KeyCustody = Literal["provider_managed", "customer_managed", "customer_held"]
"""Who can decrypt: the provider; the customer's keys in its vault; keys kept outside of it."""


class ModelSource(Frozen):
    """Where vLLM finds weights, at a revision: exactly one of a claim, an image and a URL.

    A ``persistent_volume_claim`` is mounted read-only (it must be ReadOnlyMany or
    ReadWriteMany); an ``image`` holds the weights as an OCI artifact and is mounted by its
    digest; a ``url`` of object storage is streamed into the GPU, from the folder below it
    that is named after the revision. ``host`` is that storage's, for egress rules, ``cidrs``
    its addresses, where they are known.
    """

    model: str
    persistent_volume_claim: Annotated[str, Field(min_length=1)] | None = None
    image: Annotated[str, Field(pattern=r"^[^\s@]+@sha256:[0-9a-f]{64}$")] | None = None
    url: Annotated[str, Field(pattern=r"^(s3|gs|az)://[^\s@]+[^\s@/]$")] | None = None
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    host: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")] | None = None
    cidrs: tuple[Cidr, ...] = ()

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        places = (self.persistent_volume_claim, self.image, self.url)
        if sum(place is not None for place in places) != 1:
            raise ValueError("give exactly one of persistent_volume_claim, image and url")
        if self.url is not None and (self.revision is None or self.host is None):
            raise ValueError("a url needs the revision that it holds, and the storage's host")
        return self


class Serving(Frozen):
    """What every vLLM server on a cluster runs. The digest is yours to give."""

    image: str = "vllm/vllm-openai:v0.33.0"
    image_digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    vllm_version: str = "0.33.0"
    gpu_memory_utilization: Annotated[float, Field(gt=0.1, le=0.98)] = 0.92
    load_bytes_per_s: Positive = 1e9
    """Sustained read rate of the weights' store, bytes per second."""
    model_sources: tuple[ModelSource, ...] = ()
    hf_token_secret: SecretKey | None = None
    """The model hub's token, for models that are loaded from there."""
    api_key_secret: SecretKey | None = None
    """What callers must send; without one, whoever reaches a server may use it."""
    image_pull_secrets: tuple[str, ...] = ()
    service_account_annotations: dict[str, str] = Field(default_factory=dict)
    """On each server's ServiceAccount, such as the cloud role that reads the weights."""


class NodeQuota(Frozen):
    """How many nodes of an instance type the cluster may have."""

    instance: str
    max_nodes: PositiveInt


class EgressHost(Frozen):
    """A host that servers of a cluster talk to, besides those that call them."""

    host: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
    purpose: Literal["weights", "images", "telemetry", "logs", "other"]


NodePoolKind = Literal["aks_agent_pool", "eks_node_group", "gke_node_pool", "karpenter"]
"""Who makes the GPU nodes: a managed pool of one cloud, or Karpenter on the cluster."""


class PoolSite(Frozen):
    """What a managed pool needs to know of its cluster.

    ``node_role_arn`` and ``subnet_ids`` (one a zone) are for EKS, ``project`` and
    ``location`` (the cluster's own region or zone, the region by default) for GKE.
    ``disk_gib`` holds images, home and scratch of a node of either.
    """

    node_role_arn: (
        Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:role/\S+$")] | None
    ) = None
    subnet_ids: tuple[Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")], ...] = ()
    project: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")] | None = None
    location: Annotated[str, Field(pattern=r"^[a-z]+-[a-z]+\d+(-[a-z])?$")] | None = None
    disk_gib: Annotated[int, Field(ge=100, le=16_384)] = 300


class Cluster(Frozen):
    """A Kubernetes cluster that exists or may be created, with its GPU node quotas.

    ``register_id`` is its entry in the register of third-party arrangements.
    ``spot_batch`` has batch pools take spare capacity that the cloud may take back.
    """

    name: Name
    cloud: Provider
    region: str
    node_pools: NodePoolKind
    site: PoolSite = PoolSite()
    spot_batch: bool = False
    operator_class: OperatorClass = "iaas"
    resource_group: str | None = None
    nodes: Annotated[tuple[NodeQuota, ...], Field(min_length=1)]
    namespace: Name = "llm"
    zones: tuple[str, ...] = ()
    serving: Serving = Serving()
    key_custody: KeyCustody = "provider_managed"
    register_id: Annotated[str, Field(min_length=1)] | None = None
    egress: tuple[EgressHost, ...] = ()
    features: Features = Features()
    gateway_namespace: Namespace | None = None
    """Whose pods may call interactive servers; the declared gateway's own by default."""
    monitoring_namespace: Namespace | None = None
    batch_client_namespaces: tuple[Namespace, ...] = ()


class UnitQuota(Frozen):
    """Provisioned units the account may deploy under a deployment type."""

    deployment_type: str
    units: PositiveInt


class Account(Frozen):
    """A provider account in one region (an Azure resource, an AWS or GCP project)."""

    name: Name
    provider: Provider
    region: str
    resource_group: str | None = None
    deployment_types: tuple[str, ...] = ()
    """Types in use; empty means every type that the catalog knows."""
    quotas: tuple[UnitQuota, ...] = ()
    model_versions: dict[str, str] = Field(default_factory=dict)
    """Version to deploy by model; the provider's default where none is given.

    For Bedrock's provisioned throughput it is the variant by context, such as 24k.
    """
    create: bool = False
    """Whether the program creates the account (Azure only); it exists by default."""
    account_id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9:.-]{4,62}$")] | None = None
    """The provider's own id: an AWS account number, a Google project id."""
    key_custody: KeyCustody = "provider_managed"
    register_id: Annotated[str, Field(min_length=1)] | None = None
    """The arrangement's entry in the register of third-party arrangements."""


class PaygRate(Frozen):
    """A user-given pay-as-you-go rate, USD per million tokens; overrides the catalog."""

    kind: Literal["payg"]
    provider: Provider
    model: str
    deployment_type: str
    region: str
    input_usd_per_mtok: NonNegative
    cached_input_usd_per_mtok: NonNegative | None = None
    output_usd_per_mtok: NonNegative
    batch_input_usd_per_mtok: NonNegative | None = None
    batch_output_usd_per_mtok: NonNegative | None = None
    date: Date
    ref: str


class ProvisionedRate(Frozen):
    """A user-given price of a provisioned unit; term 0 months is hourly."""

    kind: Literal["provisioned"]
    provider: Provider
    model: str = "*"
    deployment_type: str
    region: str
    term_months: Annotated[int, Field(ge=0, le=36)]
    usd_per_unit_month: Positive
    date: Date
    ref: str


class InstanceRate(Frozen):
    """A user-given hourly price of an instance type in a region."""

    kind: Literal["instance"]
    cloud: Provider
    instance: str
    region: str
    usd_per_hour: Positive
    date: Date
    ref: str


class UnitRate(Frozen):
    """What one provisioned unit carries, as measured or quoted; overrides the catalog.

    One output token counts as ``output_weight`` input tokens, a cached one as
    ``cached_input_weight`` (1 where no discount is known). Bedrock states input and
    output apart: give ``output_tokens_per_minute`` and an ``output_weight`` of 0.
    """

    kind: Literal["unit"]
    provider: Provider
    model: Annotated[str, Field(pattern=r"^[^*]+$")]
    deployment_type: str
    unit: UnitName
    minimum_units: PositiveInt = 1
    step_units: PositiveInt = 1
    input_tokens_per_minute: Positive
    output_tokens_per_minute: Positive | None = None
    output_weight: NonNegative
    cached_input_weight: NonNegative = 1.0
    spillover: bool | None = None
    """Whether the provider itself routes overflow; None: as the catalog says, else not."""
    date: Date
    ref: str


Rate = Annotated[PaygRate | ProvisionedRate | InstanceRate | UnitRate, Field(discriminator="kind")]


class Commitment(Frozen):
    """A reservation already owned: sunk until its term ends, used or not."""

    id: str
    provider: Provider
    deployment_type: str
    region: str
    model: str = "*"
    units: PositiveInt
    term_end: Date
    usd_per_month: NonNegative


class MeasuredLatency(Frozen):
    """A provider's latency as measured by the user, milliseconds at p95."""

    provider: Provider
    model: str
    deployment_type: str
    region: str
    ttft_p95_ms: Positive
    itl_p95_ms: Positive
    date: Date
    ref: str


class ConfirmedCapacity(Frozen):
    """Provider's confirmation that units can be deployed: quota alone is not that."""

    account: Name
    deployment_type: str
    model: str
    units: PositiveInt
    date: Date
    ref: str


class LiveChoice(Frozen):
    """What serves a workload today; left only for a gain above the band."""

    workload: Name
    kind: Kind
    model: str
    provider: str
    region: str
    deployment_type: str | None = None


class Currency(Frozen):
    """Reporting currency: units of it per USD, with the date of the rate."""

    code: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    per_usd: Positive = 1.0
    rate_date: Date | None = None
    unrecoverable_tax: Share = 0.0


class Engineering(Frozen):
    """Running a serving platform: paid once for the stack, not for each workload."""

    usd_per_month: NonNegative
    note: str = ""


class Deciding(Frozen):
    """Terms of the choice: when a gain is worth a move, and the value of time."""

    gain_band: Share = 0.10
    switching_cost_usd: NonNegative = 0.0
    discount_rate_per_year: Share = 0.08


class Agreement(Frozen):
    """A paper that a regime asks for: a transfer tool, a notice, a contract, an assessment.

    It covers one provider, or all without one; the countries named, or all without any;
    one workload, or all without one. Policy data says which kinds are needed when.
    """

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
    provider: Provider | None = None
    countries: tuple[str, ...] = ()
    workload: Name | None = None
    date: Date
    ref: Annotated[str, Field(min_length=1)]


class PolicySettings(Frozen):
    """Which engine decides: a local OPA by default, or the one at ``url``.

    Paths are from the project's folder. With ``verification_key`` (PEM) the rules come
    from the signed ``bundle`` and from nowhere else. ``ca_bundle`` holds the authorities
    that vouch for the server at ``url``, in place of the system's.
    """

    url: str | None = None
    timeout_seconds: Positive = 10.0
    ca_bundle: str | None = None
    bundle: str | None = None
    verification_key: str | None = None
    verification_key_id: str = "llm-capacity"


class Platform(Frozen):
    """Everything a stack declares besides its workloads."""

    as_of: Date
    clusters: tuple[Cluster, ...] = ()
    accounts: tuple[Account, ...] = ()
    rates: tuple[Rate, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    latencies: tuple[MeasuredLatency, ...] = ()
    confirmed_capacity: tuple[ConfirmedCapacity, ...] = ()
    live: tuple[LiveChoice, ...] = ()
    currency: Currency = Currency()
    engineering: Engineering | None = None
    deciding: Deciding = Deciding()
    budget_usd_per_month: Positive | None = None
    regimes: tuple[str, ...] = ()
    """Names of the regimes of policy data that the stack is under."""
    agreements: tuple[Agreement, ...] = ()
    policy: PolicySettings = PolicySettings()
