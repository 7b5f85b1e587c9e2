"""A provider's latency: measured by the user, else the provider's own target as a floor.

A target is what the provider aims for, not what a deployment does: Azure states the
output speed that 99% of calls exceed (Microsoft's sizing page, 2026-05-21; the
median of five minutes for GPT-4.1 and newer, the month's mean for older models).
Time between tokens cannot be expected below 1000 / speed, so the target bounds it
from below and is labelled "target": no pass for a critical workload.
"""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen
from planner.catalog.rows import ProvisionedUnit
from planner.declared.accounts import MeasuredLatency


class ProviderLatency(Frozen):
    """p95 latencies in milliseconds and what they rest on; None = not known."""

    ttft_p95_ms: float | None
    itl_p95_ms: float | None
    basis: Literal["measured", "target", "unverified"]
    source: str


def provider_latency(
    measured: MeasuredLatency | None, unit: ProvisionedUnit | None
) -> ProviderLatency:
    """Return the measured latency, else the unit's target, else that nothing is known.

    ``unit`` is None for pay-as-you-go, for which no target is published.
    """
    if measured is not None:
        return ProviderLatency(
            ttft_p95_ms=measured.ttft_p95_ms,
            itl_p95_ms=measured.itl_p95_ms,
            basis="measured",
            source=f"measured {measured.date.isoformat()}, {measured.ref}",
        )
    speed = unit.target_output_tokens_per_s if unit is not None else None
    if unit is None or not speed:
        source = "no measurement of this deployment type and region is declared"
        return ProviderLatency(ttft_p95_ms=None, itl_p95_ms=None, basis="unverified", source=source)
    return ProviderLatency(
        ttft_p95_ms=None,
        itl_p95_ms=1000.0 / speed,
        basis="target",
        source=f"the provider's target of {speed:g} output tokens/s as a floor: {unit.source}",
    )
