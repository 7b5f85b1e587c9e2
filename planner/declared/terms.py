"""Terms of deciding: currency, fixed costs, when a move pays, the papers on file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.base import Declared
from planner.catalog.rows import Provider
from planner.workload import Date, Kind, Name, NonNegative, Positive, Share


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
