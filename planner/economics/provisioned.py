"""Provisioned units: what traffic needs of them, and the grid they are sold in.

normalised TPM = calls a minute x (prompt x (1 - c(1 - cached weight)) + output
weight x response); raw units = normalised TPM / TPM of a unit; bought units = the
minimum, or the next step above it. Source: Microsoft's provisioned throughput
sizing page (2026-05-21); Google's scale units follow the same sum in tokens a
second. The tokens a unit carries are those of the model's own row and of the
caller's own mix, never one rule of thumb for all models.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence

from planner.base import Frozen
from planner.catalog.rows import ProvisionedUnit
from planner.declared.accounts import Commitment
from planner.economics.cost_types import FloorStep
from planner.economics.discount import months_between, paid_share

MAX_STEPS = 4_000
"""Steps of a grid beyond which only every second, third ... is tried (20,000 PTU)."""


class OwnedUnits(Frozen):
    """Units already paid for: sunk for ``months_left`` months, used or not."""

    units: int
    months_left: float


def normalised_tokens_per_minute(
    calls_per_minute: float,
    prompt_tokens: float,
    response_tokens: float,
    *,
    cached_fraction: float,
    output_weight: float,
    cached_input_weight: float = 0.0,
) -> float:
    """Return input-equivalent tokens a minute of a stream of equal calls."""
    prompt = prompt_tokens * (1 - cached_fraction * (1 - cached_input_weight))
    return calls_per_minute * (prompt + output_weight * response_tokens)


def raw_units(unit: ProvisionedUnit, weighted_tokens_per_minute: float) -> float:
    """Return the units that carry a weighted load, before minimum and step."""
    return weighted_tokens_per_minute / unit.input_tokens_per_minute


def whole_units(unit: ProvisionedUnit, weighted_tokens_per_minute: float) -> int:
    """Return the units to buy: at least the minimum, on the step grid above it."""
    raw = raw_units(unit, weighted_tokens_per_minute)
    if raw <= unit.minimum_units:
        return unit.minimum_units
    steps = math.ceil((raw - unit.minimum_units) / unit.step_units - 1e-9)
    return unit.minimum_units + max(0, steps) * unit.step_units


def quota_left(quota_units: int, deployed_units: Iterable[int]) -> int:
    """Return units still deployable: one quota is shared by all models and deployments."""
    return max(0, quota_units - sum(deployed_units))


def unit_steps(
    unit: ProvisionedUnit,
    covering_tokens_per_minute: float,
    *,
    usd_per_unit_month: float | None,
    quota_units: int | None = None,
    owned: Sequence[OwnedUnits] = (),
    horizon_months: int = 12,
    discount_rate_per_year: float = 0.0,
) -> tuple[FloorStep, ...]:
    """Return the grid from the minimum to the first step that covers a load, or to the quota.

    Owned units cost nothing more until their term ends; a step whose price is
    unknown is left out, so without a price only wholly owned steps remain.
    """
    last = whole_units(unit, covering_tokens_per_minute)
    if quota_units is not None:
        last = min(last, quota_units)
    steps = []
    for units in _grid(unit, last):
        charged = units - sunk_units(units, owned, horizon_months, discount_rate_per_year)
        if usd_per_unit_month is None and charged > 0:
            continue
        steps.append(
            FloorStep(
                units=units,
                capacity=units * unit.input_tokens_per_minute,
                fixed_usd_per_month=charged * (usd_per_unit_month or 0.0),
            )
        )
    return tuple(steps)


def _grid(unit: ProvisionedUnit, last: int) -> list[int]:
    """Return the sizes from the minimum to ``last``, thinned where they are too many."""
    sizes = range(unit.minimum_units, last + 1, unit.step_units)
    stride = max(1, math.ceil(len(sizes) / MAX_STEPS))
    thinned = list(sizes[::stride])
    return thinned if not sizes or thinned[-1] == sizes[-1] else [*thinned, sizes[-1]]


def sunk_units(
    units: int,
    owned: Sequence[OwnedUnits],
    horizon_months: int,
    discount_rate_per_year: float = 0.0,
) -> float:
    """Return how many of ``units`` are free of charge on average over the horizon.

    The average is of value: months after the first year weigh less at a discount rate.
    """
    left, free = units, 0.0
    for holding in sorted(owned, key=lambda item: -item.months_left):
        used = min(left, holding.units)
        free += used * paid_share(holding.months_left, horizon_months, discount_rate_per_year)
        left -= used
    return free


def owned_units(
    commitments: Iterable[Commitment],
    *,
    provider: str,
    model: str,
    deployment_type: str,
    region: str,
    as_of: dt.date,
) -> tuple[OwnedUnits, ...]:
    """Return the units of the commitments that fit a deployment and still run."""
    return tuple(
        OwnedUnits(units=item.units, months_left=months_between(as_of, item.term_end))
        for item in commitments
        if (item.provider, item.deployment_type, item.region) == (provider, deployment_type, region)
        and item.model in (model, "*")
        and item.term_end > as_of
    )
