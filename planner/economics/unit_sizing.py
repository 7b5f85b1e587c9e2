"""How many units a stream of calls needs on each cloud, and why that many.

Azure PTU, Google GSU and Bedrock model units: the load in input-equivalents over
what one unit carries, rounded up to the minimum and step. Bedrock's Reserved tier
is bought in two parts, thousands of input and of output tokens per minute, each
with its own minimum and rounding (docs.aws.amazon.com, Bedrock service tiers, 2026).
"""

from __future__ import annotations

import math
from typing import Literal

from planner.base import Frozen
from planner.catalog.rows import ProvisionedUnit
from planner.economics.provisioned import raw_units, whole_units
from planner.economics.unit_load import CallMix, TokenKind, burndown, kinds_of, output_equivalent

RESERVED_STEP_TPM = 1_000
RESERVED_SOURCE = "docs.aws.amazon.com, Bedrock service tiers (2026): steps of 1K TPM, by quote"
RESERVED_MINIMUM_INPUT = 100
"""Thousands of input tokens a minute below which the Reserved tier is not sold."""
RESERVED_MINIMUM_OUTPUT = 10
"""Thousands of output tokens a minute below which the Reserved tier is not sold."""

_ROUNDING = 1e-9
"""Steps by which floating point may exceed a whole number without buying one more."""


class UnitSizing(Frozen):
    """Units for a mix: the sum behind them, and the limit that binds.

    ``normalised_tokens_per_minute`` counts input-equivalents at the binding limit;
    ``raw_units`` is before minimum and step.
    """

    unit: ProvisionedUnit
    mix: CallMix
    kinds: tuple[TokenKind, ...]
    normalised_tokens_per_minute: float
    binding: Literal["weighted", "output"]
    raw_units: float
    units: int


class ReservedSizing(Frozen):
    """Bedrock's Reserved tier for a mix: thousands of tokens a minute, in two parts."""

    mix: CallMix
    input_tokens_per_minute: float
    output_tokens_per_minute: float
    raw_input_units: float
    raw_output_units: float
    input_units: int
    output_units: int
    minimum_input_units: int = RESERVED_MINIMUM_INPUT
    minimum_output_units: int = RESERVED_MINIMUM_OUTPUT
    source: str = RESERVED_SOURCE


def size_units(unit: ProvisionedUnit, mix: CallMix) -> UnitSizing:
    """Return the units of ``unit`` that carry ``mix``: at least its minimum, on its steps."""
    kinds = kinds_of(mix, unit)
    weighted = mix.calls_per_minute * burndown(kinds)
    output = mix.calls_per_minute * mix.output_tokens * output_equivalent(unit)
    load = max(weighted, output)
    return UnitSizing(
        unit=unit,
        mix=mix,
        kinds=kinds,
        normalised_tokens_per_minute=load,
        binding="output" if output > weighted else "weighted",
        raw_units=raw_units(unit, load),
        units=whole_units(unit, load),
    )


def size_reserved(mix: CallMix) -> ReservedSizing:
    """Return the Reserved tier for ``mix``: input and output sized apart.

    Input read from a cache is not counted, input written to one is: other kinds of
    input count by their weight.
    """
    prompt = mix.prompt_tokens * (1 - mix.cached_fraction) + burndown(mix.other)
    taken, made = mix.calls_per_minute * prompt, mix.calls_per_minute * mix.output_tokens
    raw_input, raw_output = taken / RESERVED_STEP_TPM, made / RESERVED_STEP_TPM
    return ReservedSizing(
        mix=mix,
        input_tokens_per_minute=taken,
        output_tokens_per_minute=made,
        raw_input_units=raw_input,
        raw_output_units=raw_output,
        input_units=max(RESERVED_MINIMUM_INPUT, math.ceil(raw_input - _ROUNDING)),
        output_units=max(RESERVED_MINIMUM_OUTPUT, math.ceil(raw_output - _ROUNDING)),
    )


def largest_within(unit: ProvisionedUnit, quota_units: int) -> int:
    """Return the largest size on the unit's grid within a quota; 0 below the minimum."""
    if quota_units < unit.minimum_units:
        return 0
    steps = (quota_units - unit.minimum_units) // unit.step_units
    return unit.minimum_units + steps * unit.step_units


def calls_within(sizing: UnitSizing, units: int) -> float:
    """Return the calls a minute of the sizing's mix that ``units`` carry."""
    per_call = sizing.normalised_tokens_per_minute / sizing.mix.calls_per_minute
    return units * sizing.unit.input_tokens_per_minute / per_call
