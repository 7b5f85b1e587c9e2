"""Break-even of a commitment: the tokens at which it costs what pay-as-you-go would.

Break-even tokens = monthly commitment / blended price; break-even utilization =
that / capacity. A volume beyond the capacity is no break-even: the answer is then
"none within capacity", and the next whole step is tried with its own commitment
and capacity. At the break-even itself the tie goes to pay-as-you-go.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.base import Frozen
from planner.economics.blend import MTOK
from planner.economics.cost_types import BreakEven
from planner.units import format_share


class CommittedStep(Frozen):
    """A whole step: what it is, its commitment, and the tokens it can serve a month."""

    label: str
    commitment_usd_per_month: float
    capacity_tokens_per_month: float


def break_even(
    steps: Sequence[CommittedStep],
    *,
    output_fraction: float,
    cached_fraction: float,
    blended_usd_per_mtok: float,
) -> BreakEven:
    """Return the break-even of the first of ``steps`` that has one within its capacity.

    ``steps`` starts with the step in question and goes on with the larger whole
    steps. Where none has a break-even, the result describes the first one.
    """
    first = steps[0]
    for step in steps:
        tokens = break_even_tokens(step.commitment_usd_per_month, blended_usd_per_mtok)
        if tokens is not None and tokens <= step.capacity_tokens_per_month:
            note = (
                ""
                if step is first
                else f"{_beyond(first, blended_usd_per_mtok)}; next: {step.label}"
            )
            return _result(
                step, output_fraction, cached_fraction, blended_usd_per_mtok, tokens, note
            )
    note = _beyond(first, blended_usd_per_mtok)
    if len(steps) > 1:
        note += f"; none up to {steps[-1].label} either"
    return _result(first, output_fraction, cached_fraction, blended_usd_per_mtok, None, note)


def break_even_tokens(commitment_usd_per_month: float, blended_usd_per_mtok: float) -> float | None:
    """Return the tokens a month at which both cost the same; None at a price of 0."""
    if blended_usd_per_mtok <= 0:
        return 0.0 if commitment_usd_per_month <= 0 else None
    return commitment_usd_per_month / blended_usd_per_mtok * MTOK


def unit_value_usd_per_hour(
    input_tokens_per_minute: float, blended_usd_per_mtok: float, weight: float
) -> float:
    """Return what an hour of one fully used unit would cost pay-as-you-go.

    A unit's input-equivalent tokens / ``weight`` (input-equivalents per token of
    the mix) are tokens, which pay-as-you-go sells at the blended price.
    """
    return input_tokens_per_minute * 60 / weight * blended_usd_per_mtok / MTOK


def _beyond(step: CommittedStep, blended_usd_per_mtok: float) -> str:
    tokens = break_even_tokens(step.commitment_usd_per_month, blended_usd_per_mtok)
    if tokens is None:
        return "none within capacity: pay-as-you-go is free"
    if step.capacity_tokens_per_month <= 0:
        return f"none within capacity: {step.label} serves nothing"
    share = format_share(tokens / step.capacity_tokens_per_month)
    return f"none within capacity: {step.label} would need {share} of its capacity"


def _result(
    step: CommittedStep,
    output_fraction: float,
    cached_fraction: float,
    blended_usd_per_mtok: float,
    tokens: float | None,
    note: str,
) -> BreakEven:
    capacity = step.capacity_tokens_per_month
    return BreakEven(
        commitment_usd_per_month=step.commitment_usd_per_month,
        output_fraction=output_fraction,
        cached_fraction=cached_fraction,
        blended_usd_per_mtok=blended_usd_per_mtok,
        capacity_tokens_per_month=capacity,
        tokens_per_month=tokens,
        utilization=tokens / capacity if tokens is not None and capacity > 0 else None,
        note=note,
    )
