"""What a mix of tokens weighs on a provisioned unit.

Providers count every kind of token in input-equivalents of the unit: output 4 to 12
times, cached input not at all (Azure) or a tenth (Google), audio, images and cache
writes by their own factors. Bedrock states two limits instead, input and output
apart: the load is then the larger of the two, with output turned into
input-equivalents by the ratio of the limits, so that one number still says how many
units a minute needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from planner.base import Frozen
from planner.catalog.rows import ProvisionedUnit
from planner.demand import Demand, DemandCurve
from planner.economics.bursts import Bursts, bursts_of
from planner.workload import NonNegative, Share


class TokenKind(Frozen):
    """Tokens of one kind in a call, and how many input tokens each counts as."""

    name: str
    tokens: NonNegative
    weight: NonNegative


class CallMix(Frozen):
    """A stream of equal calls. ``other`` is what is neither text input nor output."""

    calls_per_minute: NonNegative
    prompt_tokens: NonNegative
    output_tokens: NonNegative
    cached_fraction: Share = 0.0
    other: tuple[TokenKind, ...] = ()


def burndown(kinds: Iterable[TokenKind]) -> float:
    """Return the input-equivalent tokens of one call: each kind times its weight."""
    return math.fsum(kind.tokens * kind.weight for kind in kinds)


def kinds_of(mix: CallMix, unit: ProvisionedUnit) -> tuple[TokenKind, ...]:
    """Return the kinds of token in one call of ``mix``, with the unit's weights."""
    cached = mix.prompt_tokens * mix.cached_fraction
    return (
        TokenKind(name="input", tokens=mix.prompt_tokens - cached, weight=1.0),
        TokenKind(name="cached input", tokens=cached, weight=unit.cached_input_weight),
        TokenKind(name="output", tokens=mix.output_tokens, weight=unit.output_weight),
        *mix.other,
    )


def output_equivalent(unit: ProvisionedUnit) -> float:
    """Return the input-equivalents of an output token at the output limit; 0 without one."""
    limit = unit.output_tokens_per_minute
    return unit.input_tokens_per_minute / limit if limit is not None else 0.0


def unit_weight(demand: Demand, unit: ProvisionedUnit) -> float:
    """Return input-equivalents per token of the mix, at the limit that binds."""
    counted = demand.weight(unit.output_weight, unit.cached_input_weight)
    return max(counted, demand.output_fraction * output_equivalent(unit))


def unit_curve(demand: Demand, unit: ProvisionedUnit) -> DemandCurve:
    """Return demand per minute in the unit's input-equivalents.

    From a trace the binding limit is found minute by minute.
    """
    if unit.output_tokens_per_minute is None:
        return demand.weighted_curve(unit.output_weight, unit.cached_input_weight)
    if demand.series is None:
        return demand.tokens.scaled(unit_weight(demand, unit))
    prompt_weight = 1 - demand.cached_fraction * (1 - unit.cached_input_weight)
    limit = output_equivalent(unit)
    return DemandCurve.from_samples(
        max(prompt_weight * prompt + unit.output_weight * output, limit * output)
        for prompt, output in zip(
            demand.series.input_tokens, demand.series.output_tokens, strict=True
        )
    )


def unit_bursts(demand: Demand, unit: ProvisionedUnit) -> Bursts:
    """Return how uneven the demand is inside a minute, at the limit that binds."""
    counted = demand.weight(unit.output_weight, unit.cached_input_weight)
    limit = output_equivalent(unit)
    if demand.output_fraction * limit > counted:
        return bursts_of(
            demand, unit.provider, output_weight=limit, cached_input_weight=0.0, prompt_counts=False
        )
    return bursts_of(
        demand,
        unit.provider,
        output_weight=unit.output_weight,
        cached_input_weight=unit.cached_input_weight,
    )
