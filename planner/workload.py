"""What a team declares: one workload, its data, demand and objectives."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from planner.base import Frozen
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


class TokensPerMinute(Frozen):
    """Demand percentiles over the active minutes, input + output tokens per minute."""

    minimum: NonNegative = 0.0
    p10: NonNegative
    p50: NonNegative
    p90: NonNegative
    p99: NonNegative
    peak: Positive

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        values = [self.minimum, self.p10, self.p50, self.p90, self.p99, self.peak]
        if values != sorted(values):
            raise ValueError(
                "percentiles must not decrease: minimum <= p10 <= p50 <= p90 <= p99 <= peak"
            )
        return self


class Lengths(Frozen):
    """Tokens of a request on one side (prompt or output)."""

    mean: Positive
    p50: Positive
    p95: Positive

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.p50 > self.p95:
            raise ValueError("p50 must not exceed p95")
        return self


class BatchWindow(Frozen):
    """When batch work may run: a clock span (may pass midnight) on given days."""

    hours: str
    days: Annotated[tuple[Day, ...], Field(min_length=1)]

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


class Traffic(Frozen):
    """How much, how mixed and how long: exactly one of percentiles and trace.

    ``trace`` is a path inside the project to a CSV (optionally .gz) with the
    columns timestamp, input tokens, output tokens; ``trace_scale`` multiplies it.
    """

    tokens_per_minute: TokensPerMinute | None = None
    trace: str | None = None
    trace_scale: Positive = 1.0
    active_hours_per_week: Annotated[float, Field(ge=0.01, le=HOURS_PER_WEEK)] = HOURS_PER_WEEK
    output_fraction: Share
    cached_fraction: Share = 0.0
    prompt_tokens: Lengths
    output_tokens: Lengths
    max_tokens: PositiveInt
    window: BatchWindow | None = None
    source: str | None = None

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


class Objectives(Frozen):
    """What the workload needs; latencies in milliseconds at the 95th percentile."""

    ttft_p95_ms: Positive | None = None
    itl_p95_ms: Positive | None = None
    availability: Annotated[float, Field(gt=0, lt=1)] | None = None
    dedicated: bool = False
    max_spill_share: Share = 1.0


class Evaluation(Frozen):
    """Evidence that a model is good enough for the task."""

    suite: str
    score: float
    threshold: float
    date: Date
    ref: str


class ModelChoice(Frozen):
    """A model the owner accepts. ``token_multiplier``: its tokens for the same work."""

    name: str
    evaluation: Evaluation | None = None
    token_multiplier: Positive = 1.0


class Residency(Frozen):
    """ISO country codes or named groups in which prompts may be processed."""

    jurisdictions: Annotated[tuple[str, ...], Field(min_length=1)]


class ExitPlan(Frozen):
    """How to leave: the alternative and when leaving was last tried.

    ``stressed`` says that the trial assumed a provider that fails or refuses.
    """

    tested_on: Date
    alternative: str
    stressed: bool = False


class Pin(Frozen):
    """What someone insists on; every given field must match an option.

    ``spill_to`` is a deployment type, or ``type@region``.
    """

    kind: Kind | None = None
    model: str | None = None
    provider: str | None = None
    region: str | None = None
    deployment_type: str | None = None
    spill_to: Annotated[str, Field(min_length=1)] | None = None


class Workload(Frozen):
    """One declared workload; see the module for its parts."""

    name: Name
    owner: str
    tier: Tier
    critical: bool = False
    classification: Classification
    residency: Residency
    data_asset: str
    signed_off_by: str
    models: Annotated[tuple[ModelChoice, ...], Field(min_length=1)]
    traffic: Traffic
    objectives: Objectives = Objectives()
    horizon_months: Annotated[int, Field(gt=0, le=60)] = 12
    growth_per_year: Annotated[float, Field(ge=0, le=10)] = 0.0
    exit_plan: ExitPlan | None = None
    pin: Pin | None = None

    @model_validator(mode="after")
    def _tiers(self) -> Self:
        if self.traffic.window is not None and self.tier != "batch":
            raise ValueError("traffic.window is for batch workloads only")
        names = [model.name for model in self.models]
        if len(set(names)) != len(names):
            raise ValueError("models lists a model twice")
        return self
