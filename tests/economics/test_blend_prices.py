"""The blended price, and which price row applies."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest

from planner.catalog.rows import InstancePrice, PaygPrice, ProvisionedPrice, ProvisionedUnit
from planner.declared.rates import InstanceRate, PaygRate, ProvisionedRate
from planner.demand import TokenSplit
from planner.economics.blend import bill_usd_per_month, blended_usd_per_mtok
from planner.economics.given import rate_problems
from planner.economics.prices import PriceBook, describe

Payg = Callable[..., PaygPrice]
Units = Callable[..., ProvisionedUnit]
Price = Callable[..., ProvisionedPrice]
AS_OF = dt.date(2026, 11, 29)
QUOTE = dt.date(2026, 11, 1)


def rate(**changes: object) -> PaygRate:
    fields: dict[str, object] = {
        "kind": "payg",
        "provider": "azure",
        "model": "gpt-4.1",
        "deployment_type": "GlobalStandard",
        "region": "swedencentral",
        "input_usd_per_mtok": 1.5,
        "output_usd_per_mtok": 6.0,
        "date": QUOTE,
        "ref": "contract 7",
    }
    return PaygRate.model_validate(fields | changes)


def instance(region: str, usd: float) -> InstancePrice:
    return InstancePrice(
        cloud="aws",
        instance="p5.48xlarge",
        region=region,
        usd_per_hour=usd,
        price_date="2026-07-20",
        source="price list",
    )


def test_cached_input_and_output_blend_by_their_shares(payg: Payg) -> None:
    # 0.8 x (0.75 x 2 + 0.25 x 0.5) + 0.2 x 8 = 1.3 + 1.6
    assert blended_usd_per_mtok(payg(), 0.2, 0.25) == pytest.approx(2.9)


def test_cached_input_without_a_price_costs_what_input_costs(payg: Payg) -> None:
    price = payg(cached_input_usd_per_mtok=None)
    assert blended_usd_per_mtok(price, 0.2, 0.9) == blended_usd_per_mtok(price, 0.2, 0.0)


def test_batch_prices_hold_for_batch_work_when_both_are_known(payg: Payg) -> None:
    assert blended_usd_per_mtok(payg(), 0.2, 0.5, "batch") == pytest.approx(1.6)
    assert blended_usd_per_mtok(payg(), 0.2, 0.0, "interactive") == pytest.approx(3.2)
    half_known = payg(batch_output_usd_per_mtok=None)
    assert blended_usd_per_mtok(half_known, 0.2, 0.0, "batch") == pytest.approx(3.2)


def test_the_bill_of_a_month(payg: Payg) -> None:
    split = TokenSplit(uncached_input=6e7, cached_input=0.0, output=4e7)
    assert bill_usd_per_month(payg(), split) == pytest.approx(60 * 2 + 40 * 8)
    cached = TokenSplit(uncached_input=3e7, cached_input=3e7, output=4e7)
    assert bill_usd_per_month(payg(), cached) == pytest.approx(30 * 2 + 30 * 0.5 + 40 * 8)
    assert bill_usd_per_month(payg(), TokenSplit(uncached_input=0, cached_input=0, output=0)) == 0


def test_the_exact_region_wins_over_any_and_the_newest_over_older(payg: Payg) -> None:
    rows = [
        payg(),
        payg(region="swedencentral", input_usd_per_mtok=2.4, effective_from="2025-01-01"),
        payg(region="swedencentral", input_usd_per_mtok=2.2, effective_from="2026-01-01"),
        payg(region="swedencentral", input_usd_per_mtok=9.9, effective_from="2027-01-01"),
    ]
    book = PriceBook.build(AS_OF, payg=rows)
    found = book.payg("azure", "gpt-4.1", "GlobalStandard", "swedencentral")
    assert found is not None
    assert found.input_usd_per_mtok == 2.2
    elsewhere = book.payg("azure", "gpt-4.1", "GlobalStandard", "uksouth")
    assert elsewhere is not None
    assert elsewhere.input_usd_per_mtok == 2.0
    later = PriceBook.build(dt.date(2027, 6, 1), payg=rows)
    newest = later.payg("azure", "gpt-4.1", "GlobalStandard", "swedencentral")
    assert newest is not None
    assert newest.input_usd_per_mtok == 9.9


def test_what_the_user_gives_wins_and_says_so(payg: Payg) -> None:
    exact = payg(region="swedencentral", effective_from="2026-11-20")
    book = PriceBook.build(AS_OF, payg=[exact], rates=[rate(region="*")])
    found = book.payg("azure", "gpt-4.1", "GlobalStandard", "swedencentral")
    assert found is not None
    assert found.input_usd_per_mtok == 1.5
    expected = "price row: azure/gpt-4.1/GlobalStandard/* 2026-11-01 contract 7 (user-given)"
    assert describe(found) == expected


def test_a_rate_dated_after_the_plan_is_not_used_and_is_reported(payg: Payg) -> None:
    future = rate(date=dt.date(2027, 1, 1))
    book = PriceBook.build(AS_OF, payg=[payg()], rates=[future])
    found = book.payg("azure", "gpt-4.1", "GlobalStandard", "swedencentral")
    assert found is not None
    assert not found.user_given
    (problem,) = rate_problems([rate(), future], AS_OF)
    assert problem.where == "rates[1].date"


def test_a_standard_deployment_never_takes_the_price_of_another_type(
    payg: Payg, price: Price
) -> None:
    # A sample's estimate used the provisioned price for a standard deployment, 5.4 times
    # the right one: $1,791.66 for $331.72 (Azure-Samples/azure-search-openai-demo#1911).
    book = PriceBook.build(AS_OF, payg=[payg()], provisioned=[price()])
    assert book.payg("azure", "gpt-4.1", "DataZoneStandard", "swedencentral") is None
    assert book.payg("azure", "gpt-4.1", "GlobalProvisionedManaged", "swedencentral") is None
    assert book.provisioned("azure", "gpt-4.1", "GlobalStandard", "swedencentral", 12) is None


def test_unknown_is_none_and_a_price_of_zero_needs_somebody_to_state_it(payg: Payg) -> None:
    zero = payg(input_usd_per_mtok=0.0)
    assert PriceBook.build(AS_OF, payg=[zero]).payg_rows == ()
    (kept,) = PriceBook.build(AS_OF, payg=[payg(cached_input_usd_per_mtok=0.0)]).payg_rows
    assert kept.cached_input_usd_per_mtok is None
    given = rate(input_usd_per_mtok=0.0, output_usd_per_mtok=0.0)
    found = PriceBook.build(AS_OF, rates=[given]).payg(
        "azure", "gpt-4.1", "GlobalStandard", "swedencentral"
    )
    assert found is not None
    assert blended_usd_per_mtok(found, 0.5, 0.0) == 0.0


def test_a_price_of_one_version_only_gives_way_to_the_models_price(payg: Payg) -> None:
    special = payg(model_version="2024-05-13", input_usd_per_mtok=5.0, region="swedencentral")
    book = PriceBook.build(AS_OF, payg=[special, payg()])
    found = book.payg("azure", "gpt-4.1", "GlobalStandard", "swedencentral")
    assert found is not None
    assert found.model_version is None


def test_units_of_a_model_and_type(unit: Units) -> None:
    own = unit(input_tokens_per_minute=2_500.0, user_given=True)
    book = PriceBook.build(AS_OF, units=[unit(), own, unit(model="gpt-5.2")])
    assert book.unit("azure", "gpt-4.1", "GlobalProvisionedManaged") == own
    assert book.unit("azure", "gpt-4.1", "ProvisionedManaged") is None


def test_prices_of_units_by_term(price: Price) -> None:
    rows = [price(), price(term_months=0, usd_per_unit_month=730.0), price(usd_per_unit_month=0.0)]
    given = ProvisionedRate(
        kind="provisioned",
        provider="azure",
        deployment_type="GlobalProvisionedManaged",
        region="swedencentral",
        term_months=1,
        usd_per_unit_month=240.0,
        date=QUOTE,
        ref="contract 7",
    )
    book = PriceBook.build(AS_OF, provisioned=rows, rates=[given])
    place = ("azure", "gpt-4.1", "GlobalProvisionedManaged", "swedencentral")
    assert book.terms(*place) == (0, 1, 12)
    found = [book.provisioned(*place, term) for term in (0, 1, 12, 36)]
    assert [row.usd_per_unit_month if row else None for row in found] == [730.0, 240.0, 221.0, None]
    assert book.terms("azure", "gpt-4.1", "GlobalProvisionedManaged", "uksouth") == (0, 12)


def test_an_instance_has_the_price_of_its_own_region_only() -> None:
    given = InstanceRate(
        kind="instance",
        cloud="aws",
        instance="p5.48xlarge",
        region="us-east-1",
        usd_per_hour=40.0,
        date=QUOTE,
        ref="contract 8",
    )
    rows = [instance("us-east-1", 55.04), instance("ap-southeast-2", 71.55)]
    book = PriceBook.build(AS_OF, instances=rows, rates=[given])
    found = [
        book.instance_hour("aws", "p5.48xlarge", region)
        for region in ("us-east-1", "ap-southeast-2", "eu-west-2")
    ]
    assert [row.usd_per_hour if row else None for row in found] == [40.0, 71.55, None]
    assert found[0] is not None
    assert "user-given" in describe(found[0])
