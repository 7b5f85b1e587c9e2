"""A demand curve: tokens (or requests) per minute by share of the active minutes.

The curve is a quantile function Q(q), piecewise linear in q, so that between two
knots demand is uniformly distributed and every integral has a closed form. With
W the demand of a minute drawn at random and F a level:

- mean                E[W] = integral of Q over 0..1
- exceedance(F)       P(W > F)
- expected_above(F)   E[(W - F)+], tokens per minute that a floor F leaves over
- spill_share(F)      E[(W - F)+] / E[W]
- use_share(F)        E[min(W, F)] / F

and E[min(W, F)] + E[(W - F)+] = E[W] for every F.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Self

from pydantic import model_validator

from planner.base import Frozen
from planner.workload import TokensPerMinute

PERCENTILE_SHARES = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
"""Shares at which a declared curve has its knots: minimum, p10, p50, p90, p99, peak."""


class DemandCurve(Frozen):
    """Piecewise-linear quantile function: ``levels`` per minute at ``shares`` of minutes."""

    shares: tuple[float, ...]
    levels: tuple[float, ...]

    @model_validator(mode="after")
    def _is_a_quantile_function(self) -> Self:
        shares, levels = self.shares, self.levels
        if len(shares) != len(levels) or len(shares) < 2:
            raise ValueError("a curve needs at least two knots, one level for each share")
        if shares[0] != 0.0 or shares[-1] != 1.0:
            raise ValueError("shares run from 0 to 1")
        if any(a >= b for a, b in pairwise(shares)):
            raise ValueError("shares must increase")
        if levels[0] < 0 or any(a > b for a, b in pairwise(levels)):
            raise ValueError("levels must not be negative and must not decrease")
        return self

    @classmethod
    def from_percentiles(cls, tokens: TokensPerMinute) -> Self:
        """Return the curve through the declared minimum, percentiles and peak."""
        levels = (tokens.minimum, tokens.p10, tokens.p50, tokens.p90, tokens.p99, tokens.peak)
        return cls(shares=PERCENTILE_SHARES, levels=tuple(float(level) for level in levels))

    @classmethod
    def from_samples(cls, samples: Iterable[float]) -> Self:
        """Return the empirical curve of minutes, linear between ordered samples.

        Sample i of n stands at share (i + 1/2)/n (Hyndman and Fan's fifth
        definition). Of the linear-interpolated definitions it is the one whose
        mean is the mean of the samples, so that a trace's tokens are not lost.
        """
        ordered = sorted(float(sample) for sample in samples)
        count = len(ordered)
        if count == 0:
            raise ValueError("a curve needs at least one sample")
        inner = tuple((index + 0.5) / count for index in range(count))
        return cls(shares=(0.0, *inner, 1.0), levels=(ordered[0], *ordered, ordered[-1]))

    @classmethod
    def constant(cls, level: float) -> Self:
        """Return the curve that has the same ``level`` in every minute."""
        return cls(shares=(0.0, 1.0), levels=(float(level), float(level)))

    @cached_property
    def _tails(self) -> tuple[float, ...]:
        """Integral of Q from each knot to 1."""
        tails = [0.0]
        for index in range(len(self.shares) - 1, 0, -1):
            width = self.shares[index] - self.shares[index - 1]
            tails.append(tails[-1] + width * (self.levels[index] + self.levels[index - 1]) / 2)
        return tuple(reversed(tails))

    @property
    def mean(self) -> float:
        """Mean per minute over the active minutes."""
        return self._tails[0]

    @property
    def peak(self) -> float:
        """Highest level of any minute."""
        return self.levels[-1]

    def quantile(self, share: float) -> float:
        """Return the level that ``share`` (0..1) of the minutes do not exceed."""
        if not 0.0 <= share <= 1.0:
            raise ValueError("a share lies between 0 and 1")
        index = bisect_right(self.shares, share)
        if index == len(self.shares):
            return self.levels[-1]
        low, high = self.levels[index - 1], self.levels[index]
        left, right = self.shares[index - 1], self.shares[index]
        return min(high, low + (high - low) * ((share - left) / (right - left)))

    def exceedance(self, level: float) -> float:
        """Return the share of minutes above ``level``."""
        index = bisect_right(self.levels, level)
        if index == 0:
            return 1.0
        if index == len(self.levels):
            return 0.0
        low, high = self.levels[index - 1], self.levels[index]
        left, right = self.shares[index - 1], self.shares[index]
        return 1.0 - (left + (right - left) * ((level - low) / (high - low)))

    def expected_above(self, level: float) -> float:
        """Return E[(W - level)+] per minute: decreasing and convex in ``level``."""
        index = bisect_right(self.levels, level)
        if index == 0:
            return self.mean - level
        if index == len(self.levels):
            return 0.0
        low, high = self.levels[index - 1], self.levels[index]
        width = self.shares[index] - self.shares[index - 1]
        inside = width * (high - level) / 2 * ((high - level) / (high - low))
        beyond = self._tails[index] - (1.0 - self.shares[index]) * level
        return max(0.0, inside + beyond)

    def spill_share(self, level: float) -> float:
        """Return the share of all demand above a floor ``level``; 0 without demand."""
        return self.expected_above(level) / self.mean if self.mean > 0 else 0.0

    def use_share(self, level: float) -> float:
        """Return the mean share of a floor ``level`` in use; 0 where there is no floor."""
        used = self.mean - self.expected_above(level)
        return min(1.0, max(0.0, used / level)) if level > 0 else 0.0

    def mean_between(self, low_share: float, high_share: float) -> float:
        """Return the mean level of the minutes between two shares (low < high)."""
        if not 0.0 <= low_share < high_share <= 1.0:
            raise ValueError("shares lie between 0 and 1, the lower one first")
        return self.means_between((low_share, high_share))[0]

    def means_between(self, shares: Sequence[float]) -> tuple[float, ...]:
        """Return the mean level between each two neighbours of increasing ``shares``."""
        ends = [(share, self._integral_from(share), self.quantile(share)) for share in shares]
        return tuple(
            min(max((left - right) / (high - low), least), most)
            for (low, left, least), (high, right, most) in pairwise(ends)
        )

    def scaled(self, factor: float) -> DemandCurve:
        """Return the curve with every level multiplied by ``factor`` (0 or more)."""
        return DemandCurve(
            shares=self.shares, levels=tuple(level * factor for level in self.levels)
        )

    def _integral_from(self, share: float) -> float:
        index = bisect_right(self.shares, share)
        if index == len(self.shares):
            return 0.0
        width = self.shares[index] - share
        return self._tails[index] + width * (self.quantile(share) + self.levels[index]) / 2


def curve_of_sums(
    first: Sequence[float], second: Sequence[float], first_weight: float, second_weight: float
) -> DemandCurve:
    """Return the empirical curve of ``first_weight * a + second_weight * b`` by minute."""
    return DemandCurve.from_samples(
        first_weight * a + second_weight * b for a, b in zip(first, second, strict=True)
    )
