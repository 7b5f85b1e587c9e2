"""The shapes of the catalog's rows: one fact a row, with its source and date."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.base import Frozen

Scope = Literal["region", "country", "zone", "global"]
"""Where a prompt may be processed, from narrowest to widest."""

SCOPES: tuple[Scope, ...] = ("region", "country", "zone", "global")

Provider = Literal["azure", "aws", "gcp"]

UnitName = Literal["PTU", "GSU", "MU"]
"""Azure's provisioned throughput, Google's scale and Bedrock's model units."""


Partition = Literal["public", "us_gov", "eu_sovereign"]
"""Separate clouds of a provider; global deployments exist in the public one only."""


class Region(Frozen):
    """A cloud region: its ISO country and the data zones it belongs to."""

    cloud: Provider
    name: str
    country: str
    zones: tuple[str, ...]
    source: str
    partition: Partition = "public"
    as_of: str = ""


class Zone(Frozen):
    """A provider's data zone; ``members`` None when no list is published.

    ``regions`` are those that a request may be routed to, where a source lists
    them; they pin a list that the provider may change.
    """

    provider: Provider
    name: str
    members: tuple[str, ...] | None
    as_of: str
    source: str
    regions: tuple[str, ...] = ()


class Geography(Frozen):
    """An Azure geography that spans countries; every other one is a single country."""

    name: str
    regions: tuple[str, ...]
    countries: tuple[str, ...]
    as_of: str
    source: str


class JurisdictionGroup(Frozen):
    """A dated, named list of ISO country codes, usable in a residency."""

    name: str
    countries: tuple[str, ...]
    as_of: str
    source: str


class DeploymentType(Frozen):
    """How a provider sells a model: where prompts are processed under it.

    ``zone`` names the zone that the type is bound to; None for Azure's zone
    types, which take the zone of the resource's region. "geography" types are
    resolved by region (``Catalog.processing``). ``batch_type`` is the type that
    batch jobs at the batch prices of this one use; None when there is none.
    ``unpromised`` are countries in whose regions the type promises no place.
    """

    provider: Provider
    name: str
    kind: Literal["payg", "provisioned", "batch"]
    scope: Literal["region", "country", "geography", "zone", "global"]
    zone: str | None
    as_of: str
    source: str
    batch_type: str | None = None
    unpromised: tuple[str, ...] = ()


class Overflow(Frozen):
    """What happens to demand above provisioned units of a deployment type.

    ``by`` says who sends it on: ``setting`` (the provider, where the deployment
    names a target), ``default`` (the provider, unasked, to ``target``),
    ``gateway`` (nobody but the caller's own router) or ``refused`` (429, because
    the request says so). ``header`` is what a request carries to steer it.
    """

    provider: Provider
    deployment_type: str
    by: Literal["setting", "default", "gateway", "refused"]
    target: str | None
    header: str | None
    as_of: str
    source: str


Concern = Literal["at_rest", "abuse_monitoring", "telemetry", "support_access", "batch_files"]
"""What has a place besides inference."""

CONCERNS: tuple[Concern, ...] = (
    "at_rest",
    "abuse_monitoring",
    "telemetry",
    "support_access",
    "batch_files",
)

Whereabouts = Literal["region", "geography", "processing", "anywhere", "none", "unknown"]
"""A place relative to a deployment: its region, the geography of its region, wherever
it may process, anywhere at all, nowhere because there is nothing, or not known."""


class BeyondInference(Frozen):
    """Where one thing besides inference is kept or done under a deployment type."""

    provider: Provider
    deployment_type: str
    concern: Concern
    place: Whereabouts
    as_of: str
    source: str


class Accelerator(Frozen):
    """A GPU: memory as the vendor and CUDA report it, and its peak rates.

    Rates are dense peaks: bandwidth in bytes/s, arithmetic in FLOP/s, NVLink in
    bytes/s per GPU (both directions); None where the card lacks the feature.
    """

    name: str
    aliases: tuple[str, ...]
    memory_bytes: int
    cuda_visible_bytes: int
    bandwidth_bytes_per_s: float
    bf16_flops: float
    fp8_flops: float | None
    fp4_flops: float | None
    nvlink_bytes_per_s: float | None
    source: str
    as_of: str = ""


class Instance(Frozen):
    """A machine type with GPUs. ``gpus`` share one interconnect."""

    cloud: Provider
    name: str
    accelerator: str
    gpus: int
    interconnect: Literal["none", "pcie", "nvlink_pair", "nvlink"]
    vcpu: int
    memory_gib: float
    source: str = ""
    as_of: str = ""


class InstancePrice(Frozen):
    """On-demand price of an instance type in a region, USD per hour."""

    cloud: Provider
    instance: str
    region: str
    usd_per_hour: float
    price_date: str
    source: str


class ModelRow(Frozen):
    """A model: whether its weights are open, its lifecycle and its names.

    ``provider_ids`` is its name in each provider's API (Bedrock profiles prefix
    theirs); Azure deployments need ``azure_format`` and ``azure_version`` too.
    """

    name: str
    open_weights: bool
    licence: str
    provider_retires: dict[str, str] = Field(default_factory=dict)
    """Retirement date by provider (ISO), from the provider's lifecycle page."""
    successor: str | None = None
    max_context_tokens: int | None = None
    source: str
    aliases: tuple[str, ...] = ()
    provider_ids: dict[str, str] = Field(default_factory=dict)
    azure_version: str | None = None
    azure_format: str | None = None
    as_of: str = ""


class PaygPrice(Frozen):
    """Pay-as-you-go prices of a model, USD per million tokens; None = unknown.

    ``region`` may be "*" where one price holds for every region of the type.
    ``max_prompt_tokens`` is the longest prompt at this price (longer ones cost
    more); ``model_version`` is set where only that version has the price;
    ``effective_from`` is "" where the source does not say. Flex waits for idle
    capacity at a discount, priority pays for speed.
    """

    provider: Provider
    model: str
    deployment_type: str
    region: str
    input_usd_per_mtok: float
    cached_input_usd_per_mtok: float | None
    output_usd_per_mtok: float
    batch_input_usd_per_mtok: float | None
    batch_output_usd_per_mtok: float | None
    effective_from: str
    price_date: str
    source: str
    user_given: bool = False
    max_prompt_tokens: int | None = None
    model_version: str | None = None
    flex_input_usd_per_mtok: float | None = None
    flex_cached_input_usd_per_mtok: float | None = None
    flex_output_usd_per_mtok: float | None = None
    priority_input_usd_per_mtok: float | None = None
    priority_cached_input_usd_per_mtok: float | None = None
    priority_output_usd_per_mtok: float | None = None


class ProvisionedUnit(Frozen):
    """What one provisioned unit (PTU, GSU, model unit) of a model carries.

    ``input_tokens_per_minute`` is measured in input-equivalent tokens: one
    output token counts as ``output_weight`` of them, a cached input token as
    ``cached_input_weight``. Prompts above ``max_prompt_tokens`` are refused or
    weigh more; ``spillover`` says whether the provider can route the overflow
    to pay-as-you-go by itself. ``output_tokens_per_minute`` is a second limit, on
    output alone, where the provider states one (Bedrock); the tighter one binds.
    """

    provider: Provider
    model: str
    deployment_type: str
    unit: UnitName
    minimum_units: int
    step_units: int
    input_tokens_per_minute: float
    output_weight: float
    cached_input_weight: float
    target_output_tokens_per_s: float | None
    source: str
    user_given: bool = False
    max_prompt_tokens: int | None = None
    spillover: bool = True
    as_of: str = ""
    output_tokens_per_minute: float | None = None


class ProvisionedPrice(Frozen):
    """Price of one provisioned unit. ``model`` "*" where it is model-independent.

    ``term_months`` 0 is hourly without a term; then USD per unit-hour x 730 is
    the month. A term's ``usd_per_unit_month`` is what a month of it costs.
    """

    provider: Provider
    model: str
    deployment_type: str
    region: str
    term_months: int
    usd_per_unit_month: float
    price_date: str
    source: str
    user_given: bool = False


class Promise(Frozen):
    """The availability a provider promises; ``deployment_type`` may be "*".

    ``kind`` "instance" is a single machine, before spares and zones.
    """

    provider: Provider
    kind: Literal["payg", "provisioned", "instance"]
    deployment_type: str
    availability: float
    as_of: str
    source: str
