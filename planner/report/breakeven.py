"""A commitment's break-even, as a document and as a sentence that carries its mix."""

from __future__ import annotations

from typing import Any

from planner.economics.breakeven import CommittedStep, break_even
from planner.units import format_share, format_usd


def document(
    *,
    commitment: float,
    capacity: float,
    input_price: float,
    output_price: float,
    cached_price: float | None,
    output_fraction: float,
    cached_fraction: float,
) -> dict[str, Any]:
    """Return the break-even of ``commitment`` USD a month against per-million prices."""
    cached = input_price if cached_price is None else cached_price
    prompt = input_price * (1 - cached_fraction) + cached * cached_fraction
    blended = prompt * (1 - output_fraction) + output_price * output_fraction
    found = break_even(
        [
            CommittedStep(
                label="the commitment",
                commitment_usd_per_month=commitment,
                capacity_tokens_per_month=capacity,
            )
        ],
        output_fraction=output_fraction,
        cached_fraction=cached_fraction,
        blended_usd_per_mtok=blended,
    )
    return found.model_dump(mode="json")


def sentence(found: dict[str, Any]) -> str:
    """Return the break-even in words; never without its mix."""
    mix = (
        f"at output fraction {found['output_fraction']:g} and cached share "
        f"{found['cached_fraction']:g} ({format_usd(found['blended_usd_per_mtok'])} per million)"
    )
    if found["tokens_per_month"] is None:
        return f"no break-even {mix}: {found['note']}\n"
    return (
        f"{format_usd(found['commitment_usd_per_month'])} a month pays above "
        f"{found['tokens_per_month'] / 1e9:.3f} B tokens a month, "
        f"{format_share(found['utilization'])} of the capacity, {mix}\n"
    )
