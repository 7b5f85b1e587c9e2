"""What will exist, as values: servers, nodes, provider deployments, and what is bought."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from planner.base import Frozen
from planner.canonical import digest, rounded
from planner.catalog.rows import Scope
from planner.declared.clusters import NodePoolKind, PoolSite
from planner.economics.cost_types import BreakEven
from planner.features import ClusterSite, Scaling, SecretKey

COMMITTED_FIELDS = (
    "workload",
    "provider",
    "account",
    "deployment_type",
    "region",
    "model",
    "model_id",
    "unit",
    "units",
    "term_months",
)
"""What is committed to by a purchase, besides its price."""


class VllmServer(Frozen):
    """One vLLM deployment on Kubernetes. Bytes and seconds are whole numbers.

    Weights come from ``model_claim``, ``model_image`` or ``model_url``, from the model hub
    where all are None. ``replicas`` run where ``scaling`` is None. ``max_queued_requests``
    (running ones count) and ``max_queued_tokens`` are what it takes in before it answers
    503; None is no limit.
    ``load_seconds`` is the part of ``startup_seconds`` in which weights are read;
    ``notice_seconds`` what the cloud gives before it takes a spot node back.
    """

    name: str
    workload: str
    tier: str
    cluster: str
    namespace: str
    node_pool: str
    model: str
    image: str
    image_digest: str | None
    model_claim: str | None
    model_revision: str | None
    vllm_version: str
    tensor_parallel: int
    pipeline_parallel: int
    replicas: int
    gpus_per_replica: int
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    gpu_memory_utilization: float
    dtype: str
    kv_cache_dtype: str
    cpu: int
    memory_bytes: int
    shm_bytes: int
    startup_seconds: int
    drain_seconds: int
    labels: dict[str, str]
    model_image: str | None = None
    model_url: str | None = None
    model_cidrs: tuple[str, ...] = ()
    attention_heads: int | None = None
    kv_heads: int | None = None
    scaling: Scaling | None = None
    max_queued_requests: int | None = None
    max_queued_tokens: int | None = None
    weights_bytes: int = 0
    load_seconds: int = 0
    notice_seconds: int | None = None
    hf_token_secret: SecretKey | None = None
    api_key_secret: SecretKey | None = None
    image_pull_secrets: tuple[str, ...] = ()
    service_account_annotations: dict[str, str] = Field(default_factory=dict)

    @property
    def from_hub(self) -> bool:
        """Return whether weights are fetched from the model hub at every start."""
        return self.model_claim is self.model_image is self.model_url is None

    @property
    def most_replicas(self) -> int:
        """Return how many replicas may run at once."""
        return self.scaling.max_replicas if self.scaling else self.replicas


class NodePool(Frozen):
    """The GPU nodes that servers of one tier run on.

    ``country`` is the ISO country of the region; ``spot`` nodes may be taken back by the
    cloud; ``site`` is what a managed pool needs to know of its cluster.
    """

    name: str
    cluster: str
    cloud: str
    region: str
    kind: NodePoolKind
    resource_group: str | None
    tier: str
    instance: str
    accelerator: str
    gpus_per_node: int
    min_nodes: int
    max_nodes: int
    zones: tuple[str, ...]
    country: str = ""
    spot: bool = False
    site: PoolSite = PoolSite()


class ProviderAccount(Frozen):
    """A provider account that deployments live in; ``create`` has the program make it.

    ``account_id`` is the provider's own name for it: an AWS account number or a
    Google project id.
    """

    name: str
    provider: str
    region: str
    resource_group: str | None = None
    account_id: str | None = None
    create: bool = False


class ProviderDeployment(Frozen):
    """A model deployment in a provider account.

    ``capacity`` counts provisioned units, or thousands of tokens per minute of
    quota for pay-as-you-go. ``spillover_to`` names another deployment of the
    same account, which must exist first and to which the provider itself sends
    the overflow; ``gateway_spill_to`` one that only a gateway in front can send
    it to. ``model_id`` is what the provider calls the model, ``model_arn`` is
    Amazon's for it. ``request_headers`` are what callers must send to get this
    capacity and nothing wider. ``spill_waiver`` is the waiver under which the
    spill target is wider in scope, None where it is not.
    """

    name: str
    workload: str
    tier: str
    provider: str
    account: str
    resource_group: str | None
    region: str
    model: str
    model_version: str | None
    model_format: str | None = None
    deployment_type: str
    kind: Literal["payg", "provisioned"]
    capacity: int
    spillover_to: str | None
    gateway_spill_to: str | None = None
    model_id: str | None = None
    model_arn: str | None = None
    owner: str = ""
    scope: Scope | None = None
    term_months: int = 0
    request_headers: dict[str, str] = Field(default_factory=dict)
    spill_waiver: str | None = None


class QuotaNeed(Frozen):
    """Quota of an account: what the plan needs, and what is declared to be there.

    Quota is permission, neither capacity nor a reservation. ``model`` is "*" where
    one quota serves every model; ``have`` is None where nobody declared it.
    """

    provider: str
    account: str
    region: str
    deployment_type: str
    model: str = "*"
    unit: str
    need: int
    have: int | None

    @property
    def missing(self) -> int | None:
        """Return how much has to be asked for; None where what is there is not known."""
        return None if self.have is None else max(0, self.need - self.have)


class CapacityConfirmation(Frozen):
    """The provider's word that ``units`` can be deployed; without it there is none."""

    units: int
    date: str
    ref: str


class Purchase(Frozen):
    """A commitment for a person to sign; never bought by the program.

    ``units`` is what has to be bought beyond what is owned, ``deployed_units`` what
    the deployment needs in all and the provider must have confirmed.
    ``use_share`` is how much of it the demand uses; ``break_even`` where it pays,
    at its mix; ``exit_usd`` what leaving costs when the model goes inside the term.
    """

    workload: str
    owner: str = ""
    provider: str
    account: str = ""
    deployment_type: str
    region: str
    model: str
    model_id: str | None = None
    unit: str = "unit"
    units: int
    deployed_units: int = 0
    term_months: int
    usd_per_month: float
    use_share: float | None = None
    break_even: BreakEven | None = None
    exit_rule: str
    exit_usd: float | None = None
    exit_note: str = ""
    price_source: str = ""
    quota: QuotaNeed | None = None
    capacity_confirmed: CapacityConfirmation | None = None
    request_headers: dict[str, str] = Field(default_factory=dict)

    @property
    def signable(self) -> bool:
        """Return whether the provider has confirmed all the units that it is for."""
        confirmed = self.capacity_confirmed
        return confirmed is not None and confirmed.units >= max(self.deployed_units, self.units)

    @property
    def order(self) -> dict[str, Any]:
        """Return what is bought, from whom, for how long and for how much."""
        fields = (*COMMITTED_FIELDS, "usd_per_month")
        return {name: rounded(getattr(self, name)) for name in fields}

    @property
    def order_digest(self) -> str:
        """Return the digest that a signature names: another order needs another one."""
        return digest(self.order)


Phase = Literal["quota", "capacity", "deploy", "reserve"]
"""Four different things, in the order in which they must happen."""


class Step(Frozen):
    """One step to real capacity; ``number`` is its place, ``by`` who takes it."""

    number: int
    phase: Phase
    by: Literal["person", "program"]
    text: str


class Resources(Frozen):
    """What will exist, and the steps to it."""

    node_pools: tuple[NodePool, ...]
    servers: tuple[VllmServer, ...]
    deployments: tuple[ProviderDeployment, ...]
    purchases: tuple[Purchase, ...]
    accounts: tuple[ProviderAccount, ...] = ()
    quotas: tuple[QuotaNeed, ...] = ()
    steps: tuple[Step, ...] = ()
    sites: tuple[ClusterSite, ...] = ()
