"""What a stack adds: where capacity may come from, and the terms of deciding."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.base import Declared
from planner.catalog.rows import Provider, UnitName
from planner.features import Cidr, Features, Namespace, SecretKey
from planner.workload import Date, Kind, Name, NonNegative, Positive, PositiveInt, Share

OperatorClass = Literal["own_metal", "iaas", "managed_service"]

KeyCustody = Literal["provider_managed", "customer_managed", "customer_held"]
"""Who can decrypt: the provider; the customer's keys in its vault; keys kept outside of it."""


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


class UnitQuota(Declared):
    """Provisioned units the account may deploy under a deployment type."""

    deployment_type: str
    """Of which type."""
    units: PositiveInt
    """How many may be deployed in the account [units]."""


class Account(Declared):
    """A provider account in one region (an Azure resource, an AWS or GCP project)."""

    name: Name
    """Unique among the stack's accounts; the resource's name on Azure."""
    provider: Provider
    """The cloud."""
    region: str
    """Where it is."""
    resource_group: str | None = None
    """Azure: its resource group."""
    deployment_types: tuple[str, ...] = ()
    """Types in use; empty means every type that the catalog knows."""
    quotas: tuple[UnitQuota, ...] = ()
    """Provisioned units that it may deploy; a type without a row has no limit here."""
    model_versions: dict[str, str] = Field(default_factory=dict)
    """Version to deploy by model; the provider's default where none is given. For Bedrock's
    provisioned throughput it is the variant by context, such as 24k."""
    create: bool = False
    """Whether the program creates the account (Azure only); it exists by default."""
    account_id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9:.-]{4,62}$")] | None = None
    """The provider's own id: an AWS account number, a Google project id."""
    key_custody: KeyCustody = "provider_managed"
    """Who can decrypt what it stores."""
    register_id: Annotated[str, Field(min_length=1)] | None = None
    """The arrangement's entry in the register of third-party arrangements."""


class PaygRate(Declared):
    """A user-given pay-as-you-go rate, USD per million tokens; overrides the catalog."""

    kind: Literal["payg"]
    """Says which rate this is."""
    provider: Provider
    """The cloud."""
    model: str
    """Name or alias of the model."""
    deployment_type: str
    """The type that it is the price of."""
    region: str
    """The region that it holds in."""
    input_usd_per_mtok: NonNegative
    """Input [USD/million tokens]."""
    cached_input_usd_per_mtok: NonNegative | None = None
    """Input from the prompt cache; no discount where absent [USD/million tokens]."""
    output_usd_per_mtok: NonNegative
    """Output [USD/million tokens]."""
    batch_input_usd_per_mtok: NonNegative | None = None
    """Input of batch jobs [USD/million tokens]."""
    batch_output_usd_per_mtok: NonNegative | None = None
    """Output of batch jobs [USD/million tokens]."""
    date: Date
    """Of the offer; not after as_of."""
    ref: str
    """Where the offer can be read."""


class ProvisionedRate(Declared):
    """A user-given price of a provisioned unit."""

    kind: Literal["provisioned"]
    """Says which rate this is."""
    provider: Provider
    """The cloud."""
    model: str = "*"
    """Name or alias of the model; * for every one."""
    deployment_type: str
    """The type that it is the price of."""
    region: str
    """The region that it holds in."""
    term_months: Annotated[int, Field(ge=0, le=36)]
    """0 is hourly, without a term [months]."""
    usd_per_unit_month: Positive
    """Of one unit [USD/month]."""
    date: Date
    """Of the offer; not after as_of."""
    ref: str
    """Where the offer can be read."""


class InstanceRate(Declared):
    """A user-given hourly price of an instance type in a region."""

    kind: Literal["instance"]
    """Says which rate this is."""
    cloud: Provider
    """The cloud."""
    instance: str
    """Instance type, as in the catalog or an alias."""
    region: str
    """The region that it holds in."""
    usd_per_hour: Positive
    """Of one machine [USD/hour]."""
    date: Date
    """Of the offer; not after as_of."""
    ref: str
    """Where the offer can be read."""


class UnitRate(Declared):
    """What one provisioned unit carries, as measured or quoted; overrides the catalog.

    Bedrock states input and output apart: give ``output_tokens_per_minute`` and an
    ``output_weight`` of 0.
    """

    kind: Literal["unit"]
    """Says which rate this is."""
    provider: Provider
    """The cloud."""
    model: Annotated[str, Field(pattern=r"^[^*]+$")]
    """Name or alias of the model."""
    deployment_type: str
    """The type that it holds for."""
    unit: UnitName
    """What the provider calls it."""
    minimum_units: PositiveInt = 1
    """The fewest that can be deployed [units]."""
    step_units: PositiveInt = 1
    """How many more at a time [units]."""
    input_tokens_per_minute: Positive
    """What one unit carries [tokens/min]."""
    output_tokens_per_minute: Positive | None = None
    """The same of output, where it has a limit of its own [tokens/min]."""
    output_weight: NonNegative
    """Input tokens that an output token counts as; 0 where output has its own limit [factor]."""
    cached_input_weight: NonNegative = 1.0
    """Input tokens that a cached one counts as; 1 where no discount is known [factor]."""
    spillover: bool | None = None
    """Whether the provider itself routes overflow; as the catalog says where absent, else not."""
    date: Date
    """Of the measurement or the offer; not after as_of."""
    ref: str
    """Where it can be read."""


Rate = Annotated[PaygRate | ProvisionedRate | InstanceRate | UnitRate, Field(discriminator="kind")]


class Commitment(Declared):
    """A reservation already owned: sunk until its term ends, used or not."""

    id: str
    """The reservation's own name."""
    provider: Provider
    """The cloud."""
    deployment_type: str
    """The type that it is for."""
    region: str
    """The region that it holds in."""
    model: str = "*"
    """The model that it is for; * for every one."""
    units: PositiveInt
    """What is reserved [units]."""
    term_end: Date
    """The day that it ends."""
    usd_per_month: NonNegative
    """What is paid for all of it [USD/month]."""


class MeasuredLatency(Declared):
    """A provider's latency as measured by the user, milliseconds at p95."""

    provider: Provider
    """The cloud."""
    model: str
    """Name or alias of the model."""
    deployment_type: str
    """The type that was measured."""
    region: str
    """The region that was measured."""
    ttft_p95_ms: Positive
    """Time to first token at p95 [ms]."""
    itl_p95_ms: Positive
    """Inter-token latency at p95 [ms]."""
    date: Date
    """When it was measured."""
    ref: str
    """Where it can be read."""


class ConfirmedCapacity(Declared):
    """Provider's confirmation that units can be deployed: quota alone is not that."""

    account: Name
    """One of the accounts."""
    deployment_type: str
    """The type that was asked about."""
    model: str
    """Name or alias of the model."""
    units: PositiveInt
    """How many can be deployed [units]."""
    date: Date
    """When it was confirmed."""
    ref: str
    """Where the answer can be read."""


class LiveChoice(Declared):
    """What serves a workload today; left only for a gain above the band."""

    workload: Name
    """Name of the workload."""
    kind: Kind
    """How its capacity is held."""
    model: str
    """Name or alias of the model."""
    provider: str
    """The cloud."""
    region: str
    """The region of account or cluster."""
    deployment_type: str | None = None
    """The type; none where it is self-hosted."""


class Currency(Declared):
    """The reporting currency, with the date of its rate."""

    code: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    """ISO code."""
    per_usd: Positive = 1.0
    """Units of the currency for a dollar [per USD]."""
    rate_date: Date | None = None
    """Of the exchange rate."""
    unrecoverable_tax: Share = 0.0
    """Tax that stays a cost, on top of prices [share]."""


class Engineering(Declared):
    """Running a serving platform: paid once for the stack, not for each workload."""

    usd_per_month: NonNegative
    """What it costs to run the serving platform [USD/month]."""
    note: str = ""
    """What it is, printed in reports."""


class Deciding(Declared):
    """Terms of the choice: when a gain is worth a move, and the value of time."""

    gain_band: Share = 0.10
    """Share of the present cost that a move has to gain to be made [share]."""
    switching_cost_usd: NonNegative = 0.0
    """What a move costs once, spread over the horizon [USD]."""
    discount_rate_per_year: Share = 0.08
    """What money costs [share/year]."""


class Agreement(Declared):
    """A paper that a regime asks for: a transfer tool, a notice, a contract, an assessment.

    Policy data says which kinds are needed when.
    """

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
    """What it is, a word of policy data."""
    provider: Provider | None = None
    """The cloud that it covers; all where absent."""
    countries: tuple[str, ...] = ()
    """The countries that it covers; all where empty."""
    workload: Name | None = None
    """The workload that it covers; all where absent."""
    date: Date
    """Of the paper."""
    ref: Annotated[str, Field(min_length=1)]
    """Where the paper can be read."""


class PolicySettings(Declared):
    """Which engine decides: a local OPA by default, or the one at ``url``.

    Paths are from the project's folder.
    """

    url: str | None = None
    """Address of a central OPA server; a local one where absent."""
    timeout_seconds: Positive = 10.0
    """How long to wait for an answer [s]."""
    ca_bundle: str | None = None
    """Authorities that vouch for the server at url, in place of the system's: a file."""
    bundle: str | None = None
    """A signed bundle of the rules: a file."""
    verification_key: str | None = None
    """The key (PEM) that verifies the bundle: a file. Rules then come from nowhere else."""
    verification_key_id: str = "llm-capacity"
    """The key's name in the signature."""


class Platform(Declared):
    """Everything a stack declares besides its workloads."""

    as_of: Date
    """The day that drives prices, lifecycle and horizon; part of the digest."""
    clusters: tuple[Cluster, ...] = ()
    """Where models can be hosted."""
    accounts: tuple[Account, ...] = ()
    """Where models can be bought."""
    rates: tuple[Rate, ...] = ()
    """Prices of your own, labelled as such; they override the catalog."""
    commitments: tuple[Commitment, ...] = ()
    """Reservations that are owned already: sunk until they end."""
    latencies: tuple[MeasuredLatency, ...] = ()
    """Latencies of providers that you have measured."""
    confirmed_capacity: tuple[ConfirmedCapacity, ...] = ()
    """Providers' word that units can be deployed; rule CAP-001 asks for it."""
    live: tuple[LiveChoice, ...] = ()
    """What serves workloads today; left only for a gain above the band."""
    currency: Currency = Currency()
    """In what totals are reported as well."""
    engineering: Engineering | None = None
    """Running a serving platform: once for the stack; sunk where a gate forces
    self-hosting."""
    deciding: Deciding = Deciding()
    """Terms of the choice."""
    budget_usd_per_month: Positive | None = None
    """What the plan may cost; rule BUD-001 denies more [USD/month]."""
    regimes: tuple[str, ...] = ()
    """Names of the regimes that the stack is under, such as EU_DORA."""
    agreements: tuple[Agreement, ...] = ()
    """Papers that a regime asks for."""
    policy: PolicySettings = PolicySettings()
    """Which engine decides."""
