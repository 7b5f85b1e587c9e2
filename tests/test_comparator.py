"""The comparator of self-hosting is the cheapest offer for the workload's own mix."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from planner.catalog.loader import load_catalog
from planner.catalog.rows import PaygPrice
from planner.comparator import comparator_of
from planner.demand import demand_of
from planner.economics.prices import PriceBook
from planner.options import options_of
from planner.platform import Platform
from planner.workload import Workload
from tests.projects import CHAT, CLUSTER, PLATFORM, changed

MODEL = "meta-llama/Llama-3.3-70B-Instruct"


def offer(provider: str, input_usd: float, output_usd: float) -> PaygPrice:
    return PaygPrice(
        provider=provider,
        model=MODEL,
        deployment_type="in_region" if provider == "aws" else "GlobalStandard",
        region="*",
        input_usd_per_mtok=input_usd,
        cached_input_usd_per_mtok=None,
        output_usd_per_mtok=output_usd,
        batch_input_usd_per_mtok=None,
        batch_output_usd_per_mtok=None,
        effective_from="2026-01-01",
        price_date="2026-01-01",
        source="test",
    )


@pytest.mark.parametrize(("output_fraction", "cheapest"), [(0.1, "aws"), (0.5, "azure")])
def test_the_mix_decides_which_offer_is_cheapest(output_fraction: float, cheapest: str) -> None:
    # At 10% output 1.9 against 3 USD per million, at 50% 5.5 against 3: the sum of both
    # prices (11 against 6) would name the same one at every mix.
    book = PriceBook.build(
        dt.date(2026, 11, 29), payg=[offer("aws", 1.0, 10.0), offer("azure", 3.0, 3.0)]
    )
    workload = Workload.model_validate_json(json.dumps(changed(CHAT, models=[{"name": MODEL}])))
    platform = Platform.model_validate_json(json.dumps(changed(PLATFORM, clusters=[CLUSTER])))
    catalog = load_catalog()
    hosted = next(
        option
        for option in options_of(workload, platform, catalog, book)
        if option.kind == "self_hosted" and option.spill is None
    )
    demand = demand_of(workload, read_trace=lambda _: None)
    mixed = demand.model_copy(update={"output_fraction": output_fraction})
    found = comparator_of(hosted, "interactive", mixed, book, catalog)
    assert found is not None
    assert found.provider == cheapest
