"""The demand of one workload: its curves, its mix and its duty cycle."""

from __future__ import annotations

from planner.base import Frozen
from planner.demand.curve import DemandCurve, curve_of_sums
from planner.demand.trace import TraceSeries
from planner.units import MINUTES_PER_HOUR
from planner.workload import Lengths, NonNegative, Positive, Share


class TokenSplit(Frozen):
    """Tokens a month by how they are billed; they add up to all tokens."""

    uncached_input: float
    cached_input: float
    output: float

    @property
    def total(self) -> float:
        """All tokens a month."""
        return self.uncached_input + self.cached_input + self.output


class Demand(Frozen):
    """What a workload asks for, at the mean level of its horizon.

    ``tokens`` is input + output per active minute and ``requests_per_minute`` the
    requests in it; both already hold ``growth_factor``, the mean growth over the
    horizon, while ``end_growth_factor`` is the growth reached at its end.
    ``output_fraction`` is the share of all tokens that are output,
    ``cached_fraction`` the share of input served from a prompt cache.
    ``series`` is present where demand came from a trace: then weightings are
    applied minute by minute. ``arrival_dispersion`` is the variance of request
    counts inside a minute over that of Poisson arrivals (1 unless measured).
    """

    tokens: DemandCurve
    requests_per_minute: DemandCurve
    output_fraction: Share
    cached_fraction: Share
    prompt_tokens: Lengths
    output_tokens: Lengths
    active_hours_per_month: Positive
    growth_factor: Positive = 1.0
    end_growth_factor: Positive = 1.0
    arrival_dispersion: NonNegative = 1.0
    series: TraceSeries | None = None

    @property
    def active_minutes_per_month(self) -> float:
        """Minutes of a month in which this demand arrives."""
        return self.active_hours_per_month * MINUTES_PER_HOUR

    def weight(self, output_weight: float, cached_input_weight: float) -> float:
        """Return weighted tokens per token of this mix.

        (1 - f)(1 - c(1 - cached weight)) + f x output weight, f and c as above.
        """
        f, c = self.output_fraction, self.cached_fraction
        return (1 - f) * (1 - c * (1 - cached_input_weight)) + f * output_weight

    def weighted_curve(self, output_weight: float, cached_input_weight: float) -> DemandCurve:
        """Return demand per minute in input-equivalent tokens of a capacity unit.

        From a trace each minute is weighted with its own input and output; from
        percentiles the mix is the same in every minute.
        """
        if self.series is None:
            return self.tokens.scaled(self.weight(output_weight, cached_input_weight))
        input_weight = 1 - self.cached_fraction * (1 - cached_input_weight)
        return curve_of_sums(
            self.series.input_tokens, self.series.output_tokens, input_weight, output_weight
        )

    def tokens_per_month(self) -> float:
        """Return input + output tokens a month."""
        return self.tokens.mean * self.active_minutes_per_month

    def split_per_month(self) -> TokenSplit:
        """Return the month's tokens as uncached input, cached input and output."""
        total = self.tokens_per_month()
        prompt = total * (1 - self.output_fraction)
        return TokenSplit(
            uncached_input=prompt * (1 - self.cached_fraction),
            cached_input=prompt * self.cached_fraction,
            output=total * self.output_fraction,
        )

    def with_token_multiplier(self, multiplier: float) -> Demand:
        """Return the same requests at ``multiplier`` times the tokens each.

        A model's tokenizer and reasoning change the tokens of the same work, not
        the number of requests.
        """
        if multiplier == 1.0:
            return self
        return self.model_copy(
            update={
                "tokens": self.tokens.scaled(multiplier),
                "prompt_tokens": _scaled_lengths(self.prompt_tokens, multiplier),
                "output_tokens": _scaled_lengths(self.output_tokens, multiplier),
                "series": None if self.series is None else self.series.scaled_tokens(multiplier),
            }
        )


def _scaled_lengths(lengths: Lengths, factor: float) -> Lengths:
    return lengths.model_copy(
        update={
            "mean": lengths.mean * factor,
            "p50": lengths.p50 * factor,
            "p95": lengths.p95 * factor,
        }
    )
