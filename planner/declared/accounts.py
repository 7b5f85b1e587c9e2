"""Where models can be bought: accounts, and what is known of capacity and latency there."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.base import Declared
from planner.catalog.rows import Provider
from planner.declared.operators import KeyCustody
from planner.workload import Date, Name, NonNegative, Positive, PositiveInt


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
