"""What a ``max_tokens`` far above the real output costs in provisioned capacity.

Until a call ends, the provider holds its prompt plus ``max_tokens`` against the
deployment (see ``leaky_bucket``). From idle, a burst shorter than a call is admitted
until those estimates fill the bucket: with ``max_tokens`` near the 95th percentile of
the output it would hold est(p95)/est(max_tokens) as many calls more. The lost share
is 1 minus that ratio; it needs no assumption about the depth of the bucket.
"""

from __future__ import annotations

from planner.base import Frozen
from planner.catalog.rows import ProvisionedUnit
from planner.units import format_share
from planner.workload import Traffic

FAR_ABOVE = 2.0
"""Times the 95th percentile of the output from which ``max_tokens`` is worth a word."""


class MaxTokensLoss(Frozen):
    """Burst capacity lost to ``max_tokens``, against one at the output's p95."""

    max_tokens: float
    output_p95: float
    lost_share: float
    lost_units: float | None
    message: str


def max_tokens_loss(
    unit: ProvisionedUnit,
    *,
    prompt_tokens: float,
    cached_fraction: float,
    output_p95: float,
    max_tokens: float,
    units: int | None = None,
    called: str = "output p95",
) -> MaxTokensLoss | None:
    """Return what ``max_tokens`` costs on ``unit``; None where it is not far above p95.

    A unit that weighs output nothing (a separate output limit) is held at one
    output token for one: the estimate then counts against that limit. ``called`` names
    ``output_p95`` in the message, for callers that know only a mean.
    """
    if max_tokens <= FAR_ABOVE * output_p95:
        return None
    prompt = prompt_tokens * (1 - cached_fraction * (1 - unit.cached_input_weight))
    weight = unit.output_weight
    separate = unit.output_tokens_per_minute is not None and weight == 0
    prompt, weight = (0.0, 1.0) if separate else (prompt, weight)
    held, needed = prompt + weight * max_tokens, prompt + weight * output_p95
    if held <= 0:
        return None
    lost = 1 - needed / held
    lost_units = None if units is None else units * lost
    capacity = format_share(lost)
    if lost_units is not None:
        capacity += f" ({lost_units:,.1f} of {units:,} {unit.unit})"
    message = (
        f"max_tokens {max_tokens:,.0f} is {max_tokens / max(output_p95, 1.0):,.1f} times the "
        f"{called} of {output_p95:,.0f}: until calls end, their estimates hold {capacity} of "
        f"the burst capacity; ask for about {output_p95:,.0f}"
    )
    return MaxTokensLoss(
        max_tokens=max_tokens,
        output_p95=output_p95,
        lost_share=lost,
        lost_units=lost_units,
        message=message,
    )


def traffic_loss(
    unit: ProvisionedUnit, traffic: Traffic, units: int | None = None
) -> MaxTokensLoss | None:
    """Return the loss of a declared workload's traffic on ``units`` of ``unit``."""
    return max_tokens_loss(
        unit,
        prompt_tokens=traffic.prompt_tokens.mean,
        cached_fraction=traffic.cached_fraction,
        output_p95=traffic.output_tokens.p95,
        max_tokens=traffic.max_tokens,
        units=units,
    )
