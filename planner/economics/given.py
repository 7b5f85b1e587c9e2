"""User-given rates as rows of the catalog, and those of them that are not in force yet."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from planner import faults
from planner.catalog.rows import InstancePrice, PaygPrice, ProvisionedPrice, ProvisionedUnit
from planner.declared.rates import InstanceRate, PaygRate, ProvisionedRate, Rate, UnitRate
from planner.errors import Problem


def rate_problems(rates: Sequence[Rate], as_of: dt.date) -> list[Problem]:
    """Return a problem for each user-given rate dated after ``as_of``, which is not used."""
    return [
        faults.RATE_IN_FUTURE.at(
            where=f"rates[{index}].date",
            what=f"is {rate.date}, after as_of {as_of}",
            fix="Move as_of, or give the rate that holds on it.",
        )
        for index, rate in enumerate(rates)
        if rate.date > as_of
    ]


def payg_row(rate: PaygRate) -> PaygPrice:
    """Return the catalog's row of a user-given pay-as-you-go rate."""
    return PaygPrice(
        provider=rate.provider,
        model=rate.model,
        deployment_type=rate.deployment_type,
        region=rate.region,
        input_usd_per_mtok=rate.input_usd_per_mtok,
        cached_input_usd_per_mtok=rate.cached_input_usd_per_mtok,
        output_usd_per_mtok=rate.output_usd_per_mtok,
        batch_input_usd_per_mtok=rate.batch_input_usd_per_mtok,
        batch_output_usd_per_mtok=rate.batch_output_usd_per_mtok,
        effective_from=rate.date.isoformat(),
        price_date=rate.date.isoformat(),
        source=rate.ref,
        user_given=True,
    )


def provisioned_row(rate: ProvisionedRate) -> ProvisionedPrice:
    """Return the catalog's row of a user-given price of a unit."""
    return ProvisionedPrice(
        provider=rate.provider,
        model=rate.model,
        deployment_type=rate.deployment_type,
        region=rate.region,
        term_months=rate.term_months,
        usd_per_unit_month=rate.usd_per_unit_month,
        price_date=rate.date.isoformat(),
        source=rate.ref,
        user_given=True,
    )


def unit_row(rate: UnitRate, published: Sequence[ProvisionedUnit]) -> ProvisionedUnit:
    """Return the user's unit; what only the provider can say stays the provider's.

    Without a published row neither a prompt limit nor a speed is promised.
    """
    place = (rate.provider, rate.model, rate.deployment_type)
    known = next(
        (row for row in published if (row.provider, row.model, row.deployment_type) == place), None
    )
    return ProvisionedUnit(
        provider=rate.provider,
        model=rate.model,
        deployment_type=rate.deployment_type,
        unit=rate.unit,
        minimum_units=rate.minimum_units,
        step_units=rate.step_units,
        input_tokens_per_minute=rate.input_tokens_per_minute,
        output_tokens_per_minute=rate.output_tokens_per_minute,
        output_weight=rate.output_weight,
        cached_input_weight=rate.cached_input_weight,
        target_output_tokens_per_s=known.target_output_tokens_per_s if known else None,
        max_prompt_tokens=known.max_prompt_tokens if known else None,
        spillover=rate.spillover if rate.spillover is not None else bool(known and known.spillover),
        as_of=rate.date.isoformat(),
        source=rate.ref,
        user_given=True,
    )


def instance_row(rate: InstanceRate) -> InstancePrice:
    """Return the catalog's row of a user-given price of a machine."""
    return InstancePrice(
        cloud=rate.cloud,
        instance=rate.instance,
        region=rate.region,
        usd_per_hour=rate.usd_per_hour,
        price_date=rate.date.isoformat(),
        source=f"{rate.ref} (user-given)",
    )
