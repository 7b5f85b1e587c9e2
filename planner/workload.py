"""What a team declares: one workload, its data, demand and objectives."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from planner.base import Declared
from planner.units import HOURS_PER_WEEK

Tier = Literal["interactive", "batch"]
Classification = Literal["public", "internal", "confidential", "restricted"]
Kind = Literal["payg", "provisioned", "self_hosted"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

CLASSIFICATIONS: tuple[Classification, ...] = ("public", "internal", "confidential", "restricted")

LARGEST = 1e15
"""No declared number is larger: products of a few of them stay finite."""

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST)]
PositiveInt = Annotated[int, Field(gt=0, le=10**9)]
Date = Annotated[dt.date, Field(ge=dt.date(2000, 1, 1), le=dt.date(2199, 12, 31))]
"""A declared date, within what the policy engine can count in nanoseconds."""

SHORTEST_TOKENS, LONGEST_TOKENS = 1.0, 1e8
"""Bounds of a request's length on one side, declared in tokens."""

LEAST_PEAK = 0.001
"""Tokens a minute: less is no demand, and its price would vanish in rounding."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")]
"""A name usable as a Kubernetes label and an Azure deployment name."""

_CLOCK = re.compile(r"^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$")


class TokensPerMinute(Declared):
    """Demand percentiles over the active minutes, input + output tokens per minute."""

    minimum: NonNegative = 0.0
    """Demand of the quietest active minute [tokens/min]."""
    p10: NonNegative
    """Demand that 10% of active minutes do not exceed [tokens/min]."""
    p50: NonNegative
    """Demand of the median active minute [tokens/min]."""
    p90: NonNegative
    """Demand that 90% of active minutes do not exceed [tokens/min]."""
    p99: NonNegative
    """Demand that 99% of active minutes do not exceed [tokens/min]."""
    peak: Positive
    """Demand of the busiest minute [tokens/min]."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        values = [self.minimum, self.p10, self.p50, self.p90, self.p99, self.peak]
        if values != sorted(values):
            raise ValueError(
                "percentiles must not decrease: minimum <= p10 <= p50 <= p90 <= p99 <= peak"
            )
        return self


class Lengths(Declared):
    """Tokens of a request on one side (prompt or output), from 1 to 100,000,000."""

    mean: Positive
    """Mean length [tokens]."""
    p50: Positive
    """Median length [tokens]."""
    p95: Positive
    """Length that 95% of requests do not exceed [tokens]."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.p50 > self.p95:
            raise ValueError("p50 must not exceed p95")
        return self


class BatchWindow(Declared):
    """When batch work may run: a clock span (may pass midnight) on given days."""

    hours: str
    """Clock span such as 22:00-06:00; equal ends mean the whole day."""
    days: Annotated[tuple[Day, ...], Field(min_length=1)]
    """Days on which the span begins."""

    @field_validator("hours")
    @classmethod
    def _clock(cls, value: str) -> str:
        if not _CLOCK.match(value):
            raise ValueError("write a clock span such as 22:00-06:00")
        return value

    @property
    def hours_per_day(self) -> float:
        """Length of the span in hours; equal ends mean the whole day."""
        match = _CLOCK.match(self.hours)
        assert match is not None  # noqa: S101 - the validator has matched it
        h1, m1, h2, m2 = (int(part) for part in match.groups())
        minutes = ((h2 * 60 + m2) - (h1 * 60 + m1)) % 1440
        return (minutes or 1440) / 60

    @property
    def hours_per_week(self) -> float:
        """Hours a week in which the work may run."""
        return self.hours_per_day * len(set(self.days))


class Traffic(Declared):
    """How much, how mixed and how long: exactly one of percentiles and trace."""

    tokens_per_minute: TokensPerMinute | None = None
    """Percentiles of demand; instead of them a trace."""
    trace: str | None = None
    """Instead of percentiles: path inside the project to a CSV (optionally .gz) with the
    columns timestamp, input tokens, output tokens."""
    trace_scale: Positive = 1.0
    """Multiplies the trace [factor]."""
    active_hours_per_week: Annotated[float, Field(ge=0.01, le=HOURS_PER_WEEK)] = HOURS_PER_WEEK
    """Hours with demand; percentiles are of these hours alone [hours/week]."""
    output_fraction: Share
    """Share of all tokens that is output; must agree with the mean lengths [share]."""
    cached_fraction: Share = 0.0
    """Share of input that a prompt cache serves [share]."""
    prompt_tokens: Lengths
    """Length of a request's input."""
    output_tokens: Lengths
    """Length of a request's output."""
    max_tokens: PositiveInt
    """Longest output that a request may ask for; not below the output's p95 [tokens]."""
    window: BatchWindow | None = None
    """Batch only: when the work may run."""
    source: str | None = None
    """Where the figures come from, printed in reports."""

    @model_validator(mode="after")
    def _one_demand(self) -> Self:
        if (self.tokens_per_minute is None) == (self.trace is None):
            raise ValueError("give exactly one of tokens_per_minute and trace")
        if self.output_tokens.p95 > self.max_tokens:
            raise ValueError("max_tokens is below output_tokens.p95: longer outputs would be cut")
        for lengths in (self.prompt_tokens, self.output_tokens):
            sizes = (lengths.mean, lengths.p50, lengths.p95)
            if min(sizes) < SHORTEST_TOKENS or max(sizes) > LONGEST_TOKENS:
                raise ValueError("prompt_tokens and output_tokens run from 1 to 100,000,000")
        if self.tokens_per_minute is not None and self.tokens_per_minute.peak < LEAST_PEAK:
            raise ValueError(f"tokens_per_minute.peak is below {LEAST_PEAK:g}: that is no demand")
        return self


class Objectives(Declared):
    """What the workload needs; latencies in milliseconds at the 95th percentile."""

    ttft_p95_ms: Positive | None = None
    """Time to first token [ms]."""
    itl_p95_ms: Positive | None = None
    """Inter-token latency [ms]."""
    availability: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of time in which it has to be served, such as 0.999 [share]."""
    dedicated: bool = False
    """Whether it needs a floor of its own: pay-as-you-go alone is then no option."""
    max_spill_share: Share = 1.0
    """Largest share of demand that the floor does not serve [share]."""


class Evaluation(Declared):
    """Evidence that a model is good enough for the task."""

    suite: str
    """Name of the evaluation."""
    score: float
    """What the model reached [points of the suite]."""
    threshold: float
    """What is good enough [points of the suite]."""
    date: Date
    """When it was evaluated."""
    ref: str
    """Where the result can be read."""


class ModelChoice(Declared):
    """A model that the owner accepts."""

    name: str
    """Name or alias in the catalog."""
    evaluation: Evaluation | None = None
    """Evidence that it is good enough; rule EVA-001 asks for it."""
    token_multiplier: Positive = 1.0
    """This model's tokens for the same work, of those under traffic [factor]."""


class Residency(Declared):
    """Where prompts may be processed."""

    jurisdictions: Annotated[tuple[str, ...], Field(min_length=1)]
    """ISO country codes or groups: EU, EEA, EU_DATA_BOUNDARY."""


class ExitPlan(Declared):
    """How to leave: the alternative and when leaving was last tried."""

    tested_on: Date
    """When leaving was last tried."""
    alternative: str
    """What would take over."""
    stressed: bool = False
    """Whether the trial assumed a provider that fails or refuses."""


class Pin(Declared):
    """What someone insists on; every given field must match an option."""

    kind: Kind | None = None
    """How capacity is held."""
    model: str | None = None
    """Name or alias of the model in the catalog."""
    provider: str | None = None
    """The cloud."""
    region: str | None = None
    """The region of account or cluster."""
    deployment_type: str | None = None
    """The provider's way of selling the model."""
    spill_to: Annotated[str, Field(min_length=1)] | None = None
    """Where demand above the floor goes: a deployment type, or TYPE@REGION."""


class Workload(Declared):
    """One declared workload."""

    name: Name
    """Unique in the stack; usable as a Kubernetes label and an Azure deployment name."""
    owner: str
    """The team that owns it."""
    tier: Tier
    """Whether somebody waits for it; the two never share a deployment."""
    critical: bool = False
    """Whether unverified latency is no pass, and an exit plan is asked for."""
    classification: Classification
    """Of the data in its prompts."""
    residency: Residency
    """Where its prompts may be processed."""
    data_asset: str
    """The data that the classification is of."""
    signed_off_by: str
    """Who has signed for the classification."""
    models: Annotated[tuple[ModelChoice, ...], Field(min_length=1)]
    """Models good enough for the task, in order of preference."""
    traffic: Traffic
    """How much, how mixed and how long."""
    objectives: Objectives = Objectives()
    """What it has to keep; nothing where this is absent."""
    horizon_months: Annotated[int, Field(gt=0, le=60)] = 12
    """Over what time to decide [months]."""
    growth_per_year: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Growth within the horizon: 0.5 is half as much again each year [share/year]."""
    exit_plan: ExitPlan | None = None
    """How to leave the provider."""
    pin: Pin | None = None
    """What someone insists on, against the choice by price; policies still decide."""

    @model_validator(mode="after")
    def _tiers(self) -> Self:
        if self.traffic.window is not None and self.tier != "batch":
            raise ValueError("traffic.window is for batch workloads only")
        names = [model.name for model in self.models]
        if len(set(names)) != len(names):
            raise ValueError("models lists a model twice")
        return self
