"""Prices and throughputs that the user gives; they override the catalog."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner.base import Declared
from planner.catalog.rows import Provider, UnitName
from planner.workload import Date, NonNegative, Positive, PositiveInt


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
