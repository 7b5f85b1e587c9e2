"""Flex and priority prices: what they are against standard, and against their sources."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from planner.catalog.loader import Catalog

SOURCES = Path(__file__).resolve().parents[3] / "shared" / "data"
TYPES = {"global": "GlobalStandard", "data_zone": "DataZoneStandard", "regional": "Standard"}


def number(text: str | None) -> float | None:
    return float(text) if text else None


def test_flex_is_half_and_priority_dearer(catalog: Catalog) -> None:
    flex = [row for row in catalog.payg_prices if row.flex_input_usd_per_mtok is not None]
    priority = [row for row in catalog.payg_prices if row.priority_input_usd_per_mtok is not None]
    assert {row.provider for row in flex} == {row.provider for row in priority}
    assert {row.provider for row in flex} == {"azure", "aws", "gcp"}
    for row in flex:
        assert row.flex_input_usd_per_mtok == pytest.approx(row.input_usd_per_mtok / 2)
        if row.flex_output_usd_per_mtok is not None:
            assert row.flex_output_usd_per_mtok == pytest.approx(row.output_usd_per_mtok / 2)
    for row in priority:
        assert row.priority_input_usd_per_mtok is not None
        assert row.priority_output_usd_per_mtok is not None
        assert 1.7 <= row.priority_input_usd_per_mtok / row.input_usd_per_mtok <= 2.5
        assert 1.7 <= row.priority_output_usd_per_mtok / row.output_usd_per_mtok <= 2.5


def test_priority_of_nova_pro_is_75_percent_above(catalog: Catalog) -> None:
    prices = {
        (row.input_usd_per_mtok, row.flex_input_usd_per_mtok, row.priority_input_usd_per_mtok)
        for row in catalog.payg_prices
        if (row.model, row.deployment_type) == ("nova-pro", "in_region")
    }
    assert (0.8, 0.4, 1.4) in prices


def test_a_missing_price_stays_unknown(catalog: Catalog) -> None:
    rows = [row for row in catalog.payg_prices if row.deployment_type == "Standard"]
    assert rows
    assert {row.priority_input_usd_per_mtok for row in rows} == {None}
    assert {row.flex_input_usd_per_mtok for row in rows} == {None}
    (gpt,) = {
        row.flex_output_usd_per_mtok
        for row in catalog.payg_prices
        if (row.model, row.deployment_type) == ("gpt-5.5", "GlobalStandard")
    }
    assert gpt is None, "the source gives flex input alone"


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the source tables (../shared/data) are not here")
def test_prices_equal_their_sources(catalog: Catalog) -> None:
    def table(name: str) -> list[dict[str, str]]:
        with (SOURCES / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    meters = {
        (row["model"], TYPES[row["deployment"]], row["region"]): row
        for row in table("azure_payg_prices.csv")
        if (row["mode"], row["context"]) == ("priority", "short")
    }
    lists = {row["model_key"]: row for row in table("llm_prices.csv")}
    compared = 0
    for row in catalog.payg_prices:
        mine = (row.priority_input_usd_per_mtok, row.priority_output_usd_per_mtok)
        key = row.source.partition(" key ")[2].partition(";")[0]
        entry = row.source.partition("priority price: LiteLLM 1.110.2 entry ")[2].partition(",")[0]
        meter = meters.get((row.model, row.deployment_type, row.region))
        if row.provider == "azure" and row.region != "*":
            if meter:
                theirs = number(meter["input_usd_per_mtok"]), number(meter["output_usd_per_mtok"])
            else:
                source = lists.get(entry, {})
                theirs = (
                    number(source.get("priority_input_usd_per_mtok")),
                    number(source.get("priority_output_usd_per_mtok")),
                )
        elif key in lists:
            source = lists[key]
            assert row.flex_input_usd_per_mtok == number(source["flex_input_usd_per_mtok"]), key
            theirs = (
                number(source["priority_input_usd_per_mtok"]),
                number(source["priority_output_usd_per_mtok"]),
            )
        else:
            continue
        assert mine == theirs, (row.model, row.deployment_type, row.region)
        compared += 1
    assert compared > 1000
