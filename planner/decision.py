"""What was chosen for a workload, what lost and why, with the numbers used."""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen
from planner.economics.cost_types import Cost
from planner.option import Option
from planner.policy.verdicts import Finding, Verdict
from planner.serving.sizing_types import Refusal, Replica
from planner.workload import Classification, Tier

Status = Literal["decided", "denied", "blocked", "infeasible"]
"""blocked: the policy engine could not tell; infeasible: nothing meets the demand."""

LostBecause = Literal[
    "denied",
    "unavailable",
    "not_pinned",
    "does_not_fit",
    "retired",
    "term",
    "quota",
    "objective",
    "unknown_price",
    "cost",
    "tie",
    "gain_below_band",
]


class Latency(Frozen):
    """p95 latencies in milliseconds and what they rest on; None = not known.

    "target" is what a provider aims for: a floor under the truth, not a measurement.
    """

    ttft_p95_ms: float | None
    itl_p95_ms: float | None
    basis: Literal["modelled", "measured", "target", "unverified"]
    source: str


class SelfHosted(Frozen):
    """The size of a self-hosted option: replicas that serve, spares, whole nodes.

    ``per_layout_usd`` lists (tensor-parallel degree, replicas, nodes, USD a
    month) of the cheapest size at each legal degree, so the choice can be seen.
    """

    replica: Replica
    replicas: int
    spare_replicas: int
    nodes: int
    spare_nodes: int
    gpus_per_node: int
    per_layout_usd: tuple[tuple[int, int, int, float], ...]
    refusals: tuple[Refusal, ...]


class Outcome(Frozen):
    """One option held against the workload: gate, size, price, and why it lost.

    ``lost`` is None for the chosen option only. ``extra_usd_per_month`` is what
    it would cost above the chosen one, where both are known.
    ``floor_tokens_per_minute`` is what the dedicated floor carries, in the
    workload's own tokens (0 without a floor).
    """

    option: Option
    verdict: Verdict
    findings: tuple[Finding, ...]
    self_hosted: SelfHosted | None
    cost: Cost | None
    compared_usd_per_month: float | None
    floor_tokens_per_minute: float
    latency: Latency | None
    availability: float | None
    misses: tuple[str, ...]
    notes: tuple[str, ...]
    lost: LostBecause | None
    why: str
    extra_usd_per_month: float | None


class Flip(Frozen):
    """Where the runner-up would win: a factor on demand, an output fraction.

    None where it never does within the range tried (0.01 to 100 times the
    demand; output fraction 0.01 to 0.99).
    """

    runner_up: str
    demand_factor: float | None
    output_fraction: float | None


class Mix(Frozen):
    """Demand as decided on: tokens are the workload's own, before a multiplier."""

    output_fraction: float
    cached_fraction: float
    tokens_per_minute_p50: float
    tokens_per_minute_p90: float
    tokens_per_minute_peak: float
    requests_per_minute_p50: float
    tokens_per_month: float
    active_hours_per_month: float
    growth_factor: float
    source: str


class Rung(Frozen):
    """One step of giving way under pressure: what happens, and what makes it happen.

    ``by`` says who holds it: ``platform`` is what is emitted on the cluster, ``provider`` the
    managed service itself, ``gateway`` a router in front, ``caller`` the client's own code.
    ``held_by`` names the very thing, so that it can be looked up.
    """

    step: str
    by: Literal["platform", "provider", "gateway", "caller"]
    held_by: str


class Decision(Frozen):
    """The result for one workload. ``countries`` are the ISO codes of its residency."""

    workload: str
    owner: str
    tier: Tier
    critical: bool
    classification: Classification
    residency: tuple[str, ...]
    status: Status
    mix: Mix
    chosen: Outcome | None
    runner_up: str | None
    others: tuple[Outcome, ...]
    flip: Flip | None
    tightest_objective: str
    engineering_usd_per_month: float
    ladder: tuple[Rung, ...]
    explanation: str
    countries: tuple[str, ...] = ()
