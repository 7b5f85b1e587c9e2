"""What the ``units`` command is asked, checked before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from planner import faults
from planner.catalog.loader import Catalog
from planner.catalog.rows import ProvisionedUnit
from planner.economics.unit_load import CallMix, TokenKind
from planner.errors import InputError, Problem
from planner.nearest import nearest

MOST_CALLS = 1e9
"""Calls a minute beyond which the input is taken for a mistake."""
MOST_TOKENS = 1e8
MOST_TPM = 1e12


class UnitsAsked(NamedTuple):
    """The command's input as given; ``other_tokens`` holds NAME:TOKENS:WEIGHT."""

    provider: str
    model: str
    scope: str
    calls_per_minute: float
    prompt_tokens: float
    output_tokens: float
    cached_fraction: float = 0.0
    max_tokens: float | None = None
    output_p95: float | None = None
    other_tokens: tuple[str, ...] = ()
    quota: int | None = None
    unit_input_tpm: float | None = None
    unit_output_tpm: float | None = None
    reserved: bool = False


def call_mix(asked: UnitsAsked) -> CallMix:
    """Return the calls asked for.

    Raises InputError listing every field that is negative, not finite, out of range
    or not meant for the provider, with the nearest valid value.
    """
    others = [_other(text) for text in asked.other_tokens]
    problems = [
        *_number_problems(asked),
        *(item for item in others if isinstance(item, Problem)),
        *_misplaced(asked),
    ]
    if problems:
        raise InputError(problems)
    return CallMix(
        calls_per_minute=asked.calls_per_minute,
        prompt_tokens=asked.prompt_tokens,
        output_tokens=asked.output_tokens,
        cached_fraction=asked.cached_fraction,
        other=tuple(item for item in others if isinstance(item, TokenKind)),
    )


def model_unit(asked: UnitsAsked, model: str, catalog: Catalog) -> ProvisionedUnit:
    """Return Bedrock's model unit as the user states it: AWS publishes no throughput."""
    missing = [
        faults.NO_FIGURES.at(
            flag,
            "the throughput of a Bedrock model unit is not published: it is your input",
            "Give the figure your account manager quotes, tokens per minute of one unit.",
        )
        for flag, value in (
            ("--unit-input-tpm", asked.unit_input_tpm),
            ("--unit-output-tpm", asked.unit_output_tpm),
        )
        if value is None
    ]
    if missing or asked.unit_input_tpm is None or asked.unit_output_tpm is None:
        raise InputError(missing)
    check_sold(model, catalog)
    return ProvisionedUnit(
        provider="aws",
        model=model,
        deployment_type="provisioned",
        unit="MU",
        minimum_units=1,
        step_units=1,
        input_tokens_per_minute=asked.unit_input_tpm,
        output_tokens_per_minute=asked.unit_output_tpm,
        output_weight=0.0,
        cached_input_weight=1.0,
        target_output_tokens_per_s=None,
        source="--unit-input-tpm and --unit-output-tpm",
        spillover=False,
        user_given=True,
    )


def check_sold(model: str, catalog: Catalog) -> None:
    """Raise InputError where the catalog knows no Bedrock name of ``model``."""
    sold = [row.name for row in catalog.models if "aws" in row.provider_ids]
    if model not in sold:
        near = nearest(model, sold) or tuple(sold[:6])
        what = f"{model} is not sold by aws, as far as the catalog knows"
        raise InputError(
            [faults.NO_FIGURES.at("--model", what, f"Nearest sold: {', '.join(near)}.")]
        )


def _number_problems(asked: UnitsAsked) -> Iterator[Problem]:
    checks: list[tuple[str, float | None, float, float]] = [
        ("--calls-per-minute", asked.calls_per_minute, 0, MOST_CALLS),
        ("--prompt-tokens", asked.prompt_tokens, 0, MOST_TOKENS),
        ("--output-tokens", asked.output_tokens, 0, MOST_TOKENS),
        ("--cached-fraction", asked.cached_fraction, 0, 1),
        ("--max-tokens", asked.max_tokens, 1, MOST_TOKENS),
        ("--output-p95", asked.output_p95, 0, MOST_TOKENS),
        ("--unit-input-tpm", asked.unit_input_tpm, 1, MOST_TPM),
        ("--unit-output-tpm", asked.unit_output_tpm, 1, MOST_TPM),
        ("--quota", asked.quota, 0, MOST_CALLS),
    ]
    for flag, value, low, high in checks:
        if value is not None and (problem := _out_of_range(flag, value, low, high)):
            yield problem


def _out_of_range(flag: str, value: float, low: float, high: float) -> Problem | None:
    if low <= value <= high:
        return None
    what = "is not a number" if math.isnan(value) else f"{value:g} is not from {low:g} to {high:g}"
    near = low if math.isnan(value) or value < low else high
    return faults.BAD_NUMBER.at(flag, what, f"Nearest valid value: {near:.0f}.")


def _misplaced(asked: UnitsAsked) -> Iterator[Problem]:
    if asked.provider == "aws":
        if asked.scope != "regional":
            what = f"Bedrock sells no {asked.scope} units: profiles do not support them"
            yield faults.OPTION_MISPLACED.at("--scope", what, "Nearest valid value: regional.")
        if asked.reserved and asked.quota is not None:
            yield faults.OPTION_MISPLACED.at(
                "--quota", "counts model units, not the Reserved tier", "Leave it out."
            )
        return
    if asked.reserved:
        yield faults.OPTION_MISPLACED.at(
            "--reserved", f"{asked.provider} has no Reserved tier", "Use it with aws."
        )
    if asked.unit_output_tpm is not None:
        what = f"{asked.provider} has no limit on output alone: output is weighted"
        yield faults.OPTION_MISPLACED.at("--unit-output-tpm", what, "Give --unit-input-tpm only.")


def _other(text: str) -> TokenKind | Problem:
    name, _, rest = text.partition(":")
    tokens, _, weight = rest.partition(":")
    try:
        kind = (float(tokens), float(weight))
    except ValueError:
        return faults.BAD_NUMBER.at(
            "--other-tokens", f"{text!r} is not NAME:TOKENS:WEIGHT", "Try audio:500:1."
        )
    for value, high in zip(kind, (MOST_TOKENS, 1e4), strict=True):
        if problem := _out_of_range(f"--other-tokens {text}", value, 0, high):
            return problem
    return TokenKind(name=name or "other", tokens=kind[0], weight=kind[1])
