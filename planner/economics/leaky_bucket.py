"""A provider's leaky bucket, call by call: utilisation and 429s inside a minute.

Azure meters a provisioned deployment as a bucket that drains at the speed its units
pay for (MicrosoftDocs/azure-docs, provisioned-throughput, 2025-09-03). An accepted
call adds its prompt less what was cached, and an estimate of its output, which is
``max_tokens`` where the caller sets it; when the call ends, the estimate is replaced
by what was generated. While the level is above 100% a call gets 429; the call that
crosses 100% still passes, so short bursts do.

Not published, so stated here: 100% is ``depth_s`` seconds of drain (10 s, as the
burst model assumes), and the estimate of output weighs what output weighs. Refused
calls spill at once; nobody retries. The simulation is exact between events and has
no randomness: equal calls give equal results.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from planner.base import Frozen
from planner.catalog.rows import ProvisionedUnit
from planner.demand import DemandCurve
from planner.workload import NonNegative, Positive

SECONDS_PER_MINUTE = 60.0

DEPTH_S = 10.0
"""Seconds of drain that fill the bucket: assumed, see ``bursts.SMOOTHING_WINDOWS``."""


class Call(NamedTuple):
    """One call of a trace: when it arrives, seconds, and its tokens."""

    at_s: float
    prompt_tokens: float
    output_tokens: float
    cached_tokens: float = 0.0


class Bucket(Frozen):
    """A deployment as the provider meters it, in input-equivalent tokens.

    ``max_tokens`` is what every call asks for; None: the estimate is right. A call
    runs ``ttft_s`` and its output at ``output_tokens_per_s``; None: it ends at once,
    and no estimate is ever held.
    """

    drain_tokens_per_minute: Positive
    output_weight: NonNegative
    cached_input_weight: NonNegative
    depth_s: Positive = DEPTH_S
    max_tokens: NonNegative | None = None
    ttft_s: NonNegative = 0.0
    output_tokens_per_s: Positive | None = None

    @property
    def depth_tokens(self) -> float:
        """Level at which utilisation is 100%."""
        return self.drain_tokens_per_minute / SECONDS_PER_MINUTE * self.depth_s


class BucketRun(Frozen):
    """What became of a trace. Tokens are input-equivalents actually used, not estimates.

    Utilisation is the level over the depth, sampled at equal intervals;
    ``busiest_minute`` is the largest share of the drain that accepted calls used in
    a full minute: what a one-minute metric shows.
    """

    calls: int
    refused: int
    offered_tokens: float
    spilled_tokens: float
    utilization_p50: float
    utilization_p90: float
    utilization_p99: float
    utilization_max: float
    busiest_minute: float

    @property
    def refused_share(self) -> float:
        """Share of the calls answered with 429."""
        return self.refused / self.calls if self.calls else 0.0

    @property
    def spilled_share(self) -> float:
        """Share of the tokens that went elsewhere."""
        return self.spilled_tokens / self.offered_tokens if self.offered_tokens else 0.0


def bucket_of(
    unit: ProvisionedUnit,
    units: int,
    *,
    max_tokens: float | None = None,
    ttft_s: float = 0.0,
    depth_s: float = DEPTH_S,
) -> Bucket:
    """Return the bucket of ``units``; calls run at the speed the provider aims for."""
    return Bucket(
        drain_tokens_per_minute=units * unit.input_tokens_per_minute,
        output_weight=unit.output_weight,
        cached_input_weight=unit.cached_input_weight,
        depth_s=depth_s,
        max_tokens=max_tokens,
        ttft_s=ttft_s,
        output_tokens_per_s=unit.target_output_tokens_per_s,
    )


def simulate(calls: Iterable[Call], bucket: Bucket, *, sample_s: float = 1.0) -> BucketRun:
    """Return utilisation, 429s and spill of ``calls`` on ``bucket``.

    Raises ValueError for a call with a negative or non-finite figure, or with more
    cached tokens than prompt.
    """
    ordered = sorted(calls, key=lambda call: call.at_s)
    if any(not math.isfinite(value) or value < 0 for call in ordered for value in call):
        raise ValueError("a call's time and tokens must be finite and not negative")
    if any(call.cached_tokens > call.prompt_tokens for call in ordered):
        raise ValueError("a call cannot have more cached tokens than prompt tokens")
    if not ordered:
        return _summary(0, [], [], [], bucket)
    level = _Level(bucket, ordered[0].at_s, sample_s)
    corrections: list[tuple[float, int, float]] = []
    accepted: list[tuple[float, float]] = []
    spilled: list[float] = []
    for number, call in enumerate(ordered):
        while corrections and corrections[0][0] <= call.at_s:
            ends, _, excess = heapq.heappop(corrections)
            level.advance(ends)
            level.add(-excess)
        level.advance(call.at_s)
        used, excess, ends = _charge(call, bucket)
        if level.tokens > bucket.depth_tokens:
            spilled.append(used)
            continue
        level.add(used + excess)
        accepted.append((call.at_s - ordered[0].at_s, used))
        if ends > call.at_s and excess:
            heapq.heappush(corrections, (ends, number, excess))
        else:
            level.add(-excess)
    return _summary(len(ordered), accepted, spilled, level.samples, bucket)


def _charge(call: Call, bucket: Bucket) -> tuple[float, float, float]:
    """Return what a call uses, by how much the estimate exceeds that, and when it ends."""
    uncached = call.prompt_tokens - call.cached_tokens
    prompt = uncached + bucket.cached_input_weight * call.cached_tokens
    used = prompt + bucket.output_weight * call.output_tokens
    if bucket.max_tokens is None or bucket.output_tokens_per_s is None:
        return used, 0.0, call.at_s
    excess = bucket.output_weight * (bucket.max_tokens - call.output_tokens)
    return used, excess, call.at_s + bucket.ttft_s + call.output_tokens / bucket.output_tokens_per_s


class _Level:
    """The bucket's level: drains with time, sampled as time passes."""

    def __init__(self, bucket: Bucket, start_s: float, sample_s: float) -> None:
        self.tokens = 0.0
        self.samples: list[float] = []
        self._per_second = bucket.drain_tokens_per_minute / SECONDS_PER_MINUTE
        self._now = self._start = start_s
        self._every = sample_s

    def advance(self, to_s: float) -> None:
        """Drain until ``to_s``; the samples on the way are taken before what happens then."""
        while (due := self._start + len(self.samples) * self._every) < to_s:
            self.samples.append(self._after(due))
        self.tokens = self._after(to_s)
        self._now = to_s

    def add(self, tokens: float) -> None:
        """Add to the level (or take from it, where it does not fall below empty)."""
        self.tokens = max(0.0, self.tokens + tokens)

    def _after(self, moment: float) -> float:
        return max(0.0, self.tokens - self._per_second * (moment - self._now))


def _summary(
    calls: int,
    accepted: Sequence[tuple[float, float]],
    spilled: Sequence[float],
    samples: Sequence[float],
    bucket: Bucket,
) -> BucketRun:
    levels = DemandCurve.from_samples(samples) if samples else DemandCurve.constant(0.0)
    depth = bucket.depth_tokens
    minutes: dict[int, float] = {}
    for moment, used in accepted:
        minute = int(moment // SECONDS_PER_MINUTE)
        minutes[minute] = minutes.get(minute, 0.0) + used
    refused = math.fsum(spilled)
    return BucketRun(
        calls=calls,
        refused=len(spilled),
        offered_tokens=math.fsum(used for _, used in accepted) + refused,
        spilled_tokens=refused,
        utilization_p50=levels.quantile(0.5) / depth,
        utilization_p90=levels.quantile(0.9) / depth,
        utilization_p99=levels.quantile(0.99) / depth,
        utilization_max=levels.peak / depth,
        busiest_minute=max(minutes.values(), default=0.0) / bucket.drain_tokens_per_minute,
    )
