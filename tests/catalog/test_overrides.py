"""User-given rates, made visible beside what they replace."""

from __future__ import annotations

import datetime as dt
from typing import Any

from planner.catalog.loader import Catalog
from planner.declared.rates import InstanceRate, PaygRate, ProvisionedRate, Rate
from planner.economics.overrides import overrides_in_use, price_rows_of
from planner.economics.prices import PriceBook
from planner.option import Option, SpillTarget

DAY = dt.date(2026, 11, 29)
GIVEN = dt.date(2026, 10, 1)
AZURE = {"provider": "azure", "region": "australiaeast"}


def book(catalog: Catalog, *rates: Rate) -> PriceBook:
    return PriceBook.build(
        DAY,
        payg=catalog.payg_prices,
        units=catalog.provisioned_units,
        provisioned=catalog.provisioned_prices,
        instances=catalog.instance_prices,
        rates=rates,
    )


def option(**changes: Any) -> Option:
    fields: dict[str, Any] = {
        "id": "o",
        "workload": "w",
        "kind": "payg",
        "model": "gpt-4.1-mini",
        **AZURE,
        "deployment_type": "Standard",
        "scope": "country",
        "jurisdictions": ("AU",),
        "operator_class": "managed_service",
        "account": "a",
        "hardware": None,
        "term_months": 0,
        "spill": None,
        "pinned": False,
    }
    return Option(**{**fields, **changes})


RATE = PaygRate(
    kind="payg",
    provider="azure",
    model="gpt-4.1-mini",
    deployment_type="Standard",
    region="*",
    input_usd_per_mtok=0.3,
    output_usd_per_mtok=1.5,
    date=GIVEN,
    ref="agreement 42",
)


def test_a_rate_stands_beside_the_row_it_replaces(catalog: Catalog) -> None:
    (found,) = overrides_in_use([option(), option(id="again")], book(catalog, RATE), catalog)
    assert found.given["input_usd_per_mtok"] == 0.3
    assert found.catalog["input_usd_per_mtok"] == 0.44
    assert (found.date, found.ref) == ("2026-10-01", "agreement 42")
    assert "Azure Retail Prices" in str(found.catalog_source)
    assert "input_usd_per_mtok 0.44 -> 0.3" in str(found)
    assert "cached_input_usd_per_mtok 0.11 -> unknown" in str(found)


def test_only_rates_in_use_are_named(catalog: Catalog) -> None:
    assert (
        overrides_in_use([option(deployment_type="GlobalStandard")], book(catalog, RATE), catalog)
        == ()
    )
    assert overrides_in_use([option()], book(catalog), catalog) == ()


def test_rates_of_spill_targets_units_and_machines(catalog: Catalog) -> None:
    units = ProvisionedRate(
        kind="provisioned",
        provider="azure",
        deployment_type="ProvisionedManaged",
        region="australiaeast",
        term_months=1,
        usd_per_unit_month=700.0,
        date=GIVEN,
        ref="quote 7",
    )
    machine = InstanceRate(
        kind="instance",
        cloud="azure",
        instance="Standard_NC40ads_H100_v5",
        region="australiaeast",
        usd_per_hour=6.0,
        date=GIVEN,
        ref="quote 8",
    )
    spill = SpillTarget(
        **AZURE,
        account="a",
        deployment_type="Standard",
        scope="country",
        jurisdictions=("AU",),
        operator_class="managed_service",
    )
    floor = option(
        kind="provisioned", deployment_type="ProvisionedManaged", term_months=1, spill=spill
    )
    own = option(kind="self_hosted", deployment_type="Standard_NC40ads_H100_v5", account=None)
    priced = book(catalog, RATE, units, machine)
    found = overrides_in_use([floor, own], priced, catalog)
    assert [item.ref for item in found] == ["quote 8", "agreement 42", "quote 7"]
    new = found[2]
    assert new.catalog_source is None, "regional reservations are not published"
    assert "usd_per_unit_month unknown -> 700" in str(new)
    assert len(price_rows_of(floor, priced)) == 3
