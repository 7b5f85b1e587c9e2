"""What bursts inside a minute add to the spill.

A minute whose mean is below the floor still overflows it for seconds. Requests
arrive in a minute as a compound Poisson process (or one ``dispersion`` times as
variable) of lognormal sizes, and a provider smooths over a window of t seconds.
Given the minute's mean w, the load over a window, as a rate, has the mean w and,
because the minute's total is already known, the variance

    w x (Var S + D E[S]^2) / E[S] x (60/t - 1),    S = weighted tokens of a request

and E[(X - F)+] follows from the normal approximation: (w - F) N(d) + sd n(d) with
d = (w - F)/sd. Integrated over the demand curve by a fixed rule, so that the
result decreases in F and never falls below the integral without bursts. Clusters
longer than the window, and so few requests that the normal is poor, are beyond it:
there the result is a lower bound.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist

from planner.base import Frozen
from planner.catalog.rows import Provider
from planner.demand import Demand, DemandCurve
from planner.workload import Lengths

_NORMAL = NormalDist()
_Z95 = _NORMAL.inv_cdf(0.95)

FEW_KNOTS = 64
CELLS_PER_SEGMENT = 16
CELLS_OF_SAMPLES = 256
COVERING_DEVIATIONS = 4.0
"""Standard deviations above the peak at which bursts are covered (tail 7e-6 of one)."""


class SmoothingWindow(Frozen):
    """Seconds over which a provider averages load, from a size of order upwards."""

    provider: Provider
    minimum_units: int
    window_s: float
    source: str


_VERTEX = (
    "docs.cloud.google.com provisioned throughput, public digest (2026): up to 3 GSU 40-120 s, "
    "above 3 5-30 s, 50 and more 1-5 s; the lower end is taken"
)
_ASSUMED = "the provider publishes no window (Azure: a leaky bucket that lets short bursts pass); "
SMOOTHING_WINDOWS: tuple[SmoothingWindow, ...] = (
    SmoothingWindow(
        provider="azure", minimum_units=0, window_s=10.0, source=_ASSUMED + "10 s assumed"
    ),
    SmoothingWindow(
        provider="aws", minimum_units=0, window_s=10.0, source=_ASSUMED + "10 s assumed"
    ),
    SmoothingWindow(provider="gcp", minimum_units=0, window_s=40.0, source=_VERTEX),
    SmoothingWindow(provider="gcp", minimum_units=4, window_s=5.0, source=_VERTEX),
    SmoothingWindow(provider="gcp", minimum_units=50, window_s=1.0, source=_VERTEX),
)


class Bursts(Frozen):
    """How uneven arrivals are inside a minute, in the unit's weighted tokens.

    ``size_variance_ratio`` is (Var S + D E[S]^2) / E[S], in weighted tokens;
    ``windows`` the provider's smoothing windows.
    """

    size_variance_ratio: float
    windows: tuple[SmoothingWindow, ...]

    def variance_per_token(self, units: int) -> float:
        """Return the variance of the windowed rate per token a minute of mean load."""
        window_s = smoothing_window_s(self.windows, units)
        return self.size_variance_ratio * max(0.0, 60.0 / window_s - 1.0)

    def covering_level(self, peak: float, units: int) -> float:
        """Return the level that covers the bursts of a minute at the peak."""
        return peak + COVERING_DEVIATIONS * math.sqrt(self.variance_per_token(units) * peak)


def smoothing_window_s(windows: tuple[SmoothingWindow, ...], units: int) -> float:
    """Return the window, seconds, that holds for an order of ``units``."""
    fitting = [window for window in windows if window.minimum_units <= units]
    return max(fitting, key=lambda window: window.minimum_units).window_s


def bursts_of(
    demand: Demand,
    provider: Provider,
    *,
    output_weight: float,
    cached_input_weight: float,
    prompt_counts: bool = True,
) -> Bursts:
    """Return the bursts of a demand on units of ``provider`` with these weights.

    ``prompt_counts`` is False where a limit on output alone binds.
    """
    input_weight = 1 - demand.cached_fraction * (1 - cached_input_weight) if prompt_counts else 0.0
    prompt = input_weight * demand.prompt_tokens.mean
    output = output_weight * demand.output_tokens.mean
    mean = prompt + output
    variance = (
        squared_variation(demand.prompt_tokens) * prompt**2
        + squared_variation(demand.output_tokens) * output**2
    )
    return Bursts(
        size_variance_ratio=(variance + demand.arrival_dispersion * mean**2) / mean,
        windows=tuple(row for row in SMOOTHING_WINDOWS if row.provider == provider),
    )


def squared_variation(lengths: Lengths) -> float:
    """Return Var/mean^2 of a lognormal with this median and 95th percentile.

    exp(sigma^2) - 1 with sigma = ln(p95/p50)/1.645. The mean and p95 would not do:
    they fix no lognormal where p95 exceeds 3.9 means, and near that they overstate
    the variance several times (Azure 2023 conversation prompts: 3.4 against a
    measured 0.92; median and p95 give 1.04).
    """
    sigma = math.log(lengths.p95 / lengths.p50) / _Z95
    return math.expm1(sigma**2)


def expected_overflow(mean: float, level: float, variance_per_token: float) -> float:
    """Return E[(X - F)+] for a minute of mean load ``mean``, between (w - F)+ and w."""
    deviation = math.sqrt(variance_per_token * mean)
    if deviation <= 0:
        return max(0.0, mean - level)
    d = (mean - level) / deviation
    normal = (mean - level) * _NORMAL.cdf(d) + deviation * _NORMAL.pdf(d)
    return min(mean, max(0.0, mean - level, normal))


class BurstyCurve(Frozen):
    """A demand curve cut once into cells, to be integrated at many levels."""

    curve: DemandCurve

    @cached_property
    def cells(self) -> tuple[tuple[float, float], ...]:
        """Shares of minutes and their mean level: fixed, whatever the floor."""
        shares = self.curve.shares
        if len(shares) <= FEW_KNOTS:
            ends = [
                left + (right - left) * part / CELLS_PER_SEGMENT
                for left, right in pairwise(shares)
                for part in range(CELLS_PER_SEGMENT)
            ]
        else:
            ends = [index / CELLS_OF_SAMPLES for index in range(CELLS_OF_SAMPLES)]
        ends.append(1.0)
        widths = (high - low for low, high in pairwise(ends))
        return tuple(zip(widths, self.curve.means_between(ends), strict=True))

    def expected_above(self, level: float, variance_per_token: float) -> float:
        """Return expected tokens a minute above a floor, bursts included."""
        plain = self.curve.expected_above(level)
        if variance_per_token <= 0:
            return plain
        bursty = sum(
            share * expected_overflow(mean, level, variance_per_token) for share, mean in self.cells
        )
        return min(self.curve.mean, max(plain, bursty))
