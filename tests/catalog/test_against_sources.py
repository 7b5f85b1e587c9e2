"""Our rows against the source tables, where those are at hand.

The tables lie beside the repository in ``shared/data``; without them the tests
skip. Only prices and figures are compared: the columns are ours.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from planner.catalog.loader import Catalog

SOURCES = Path(__file__).resolve().parents[3] / "shared" / "data"
TYPES = {"global": "GlobalStandard", "data_zone": "DataZoneStandard", "regional": "Standard"}
METERS = {"2024-11-20": "gpt-4o-1120", "2024-08-06": "gpt-4o"}

pytestmark = pytest.mark.skipif(
    not SOURCES.is_dir(), reason="the source tables (../shared/data) are not here"
)


def table(name: str) -> list[dict[str, str]]:
    with (SOURCES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: str | None) -> float | None:
    return float(text) if text else None


def test_regions_equal_their_source(catalog: Catalog) -> None:
    theirs = {(row["cloud"], row["region"]): row for row in table("regions.csv")}
    assert {(row.cloud, row.name) for row in catalog.regions} == set(theirs)
    for row in catalog.regions:
        source = theirs[row.cloud, row.name]
        assert row.country == source["country"]
        zones = {zone for zone in source["data_zone"].split(";") if zone and not zone.endswith("?")}
        assert set(row.zones) == zones, row.name


def test_azure_token_prices_equal_their_source(catalog: Catalog) -> None:
    theirs = {
        (row["model"], TYPES[row["deployment"]], row["mode"], row["region"]): row
        for row in table("azure_payg_prices.csv")
        if row["context"] == "short"
    }
    compared = 0
    for row in catalog.payg_prices:
        if row.provider != "azure" or row.region == "*":
            continue
        meter = row.model.rsplit("/", 1)[-1].lower()
        if row.model == "gpt-4o":
            meter = METERS[str(row.model_version)]
        elif row.model == "gpt-4o-mini":
            meter = "gpt-4o-mini-0718"
        source = theirs[meter, row.deployment_type, "standard", row.region]
        assert row.input_usd_per_mtok == number(source["input_usd_per_mtok"])
        assert row.cached_input_usd_per_mtok == number(source["cached_input_usd_per_mtok"])
        assert row.output_usd_per_mtok == number(source["output_usd_per_mtok"])
        assert row.effective_from == source["meter_effective_from"]
        batch = theirs.get((meter, row.deployment_type, "batch", row.region), {})
        assert row.batch_input_usd_per_mtok == number(batch.get("input_usd_per_mtok"))
        assert row.batch_output_usd_per_mtok == number(batch.get("output_usd_per_mtok"))
        compared += 1
    assert compared > 1000


def test_other_token_prices_equal_their_source(catalog: Catalog) -> None:
    theirs = {row["model_key"]: row for row in table("llm_prices.csv")}
    compared = 0
    for row in catalog.payg_prices:
        key = row.source.partition(" key ")[2].partition(";")[0]
        if key not in theirs:
            continue
        source = theirs[key]
        assert row.input_usd_per_mtok == number(source["input_usd_per_mtok"]), key
        assert row.cached_input_usd_per_mtok == number(source["cached_input_usd_per_mtok"]), key
        assert row.output_usd_per_mtok == number(source["output_usd_per_mtok"]), key
        assert row.batch_output_usd_per_mtok == number(source["batch_output_usd_per_mtok"]), key
        compared += 1
    assert compared > 80


def test_unit_prices_equal_their_source(catalog: Catalog) -> None:
    products = {"gpt": "Azure OpenAI", "lla": "Azure Llama Models", "dee": "Azure Deepseek Models"}
    theirs = {
        (row["product"], row["sku_name"], row["region"]): float(row["usd_per_ptu_hour"])
        for row in table("azure_ptu_prices.csv")
    }
    for row in catalog.provisioned_prices:
        if row.provider != "azure" or row.term_months:
            continue
        short = row.model.rsplit("/", 1)[-1].lower()[:3]
        product = products.get(short, "Azure OpenAI")
        hour = theirs[product, row.deployment_type, row.region]
        assert row.usd_per_unit_month / 730 == pytest.approx(hour, abs=1e-9), row


def test_units_equal_their_source(catalog: Catalog) -> None:
    theirs = {row["model"]: row for row in table("azure_ptu_models.csv")}
    for row in catalog.provisioned_units:
        if row.provider != "azure":
            continue
        source = theirs[row.model.rsplit("/", 1)[-1]]
        which = "regional" if row.deployment_type == "ProvisionedManaged" else "global_datazone"
        assert row.minimum_units == int(source[f"min_ptu_{which}"])
        assert row.step_units == int(source[f"increment_{which}"])
        assert row.input_tokens_per_minute == float(source["input_tpm_per_ptu"])
        assert row.output_weight == float(source["output_to_input_ratio"])
        assert row.target_output_tokens_per_s == float(source["latency_target_tps_p99"])


def test_machines_and_their_prices_equal_their_source(catalog: Catalog) -> None:
    source = table("gpu_instances.csv")
    prices = {
        (row["cloud"], row["instance"], row["region"]): number(row["usd_per_hour"])
        for row in source
    }
    shapes = {(row["cloud"], row["instance"]): row for row in source}
    assert {(row.cloud, row.name) for row in catalog.instances} == set(shapes)
    for machine in catalog.instances:
        shape = shapes[machine.cloud, machine.name]
        assert (machine.accelerator, machine.gpus) == (shape["accelerator"], int(shape["gpus"]))
    for price in catalog.instance_prices:
        assert price.usd_per_hour == prices[price.cloud, price.instance, price.region]


def test_cards_equal_their_source(catalog: Catalog) -> None:
    theirs = {row["name"]: row for row in table("gpus.csv")}
    for card in catalog.accelerators:
        source = theirs.get(card.name)
        if source is None:  # a card no priced machine has, for `memory` alone
            assert "data sheet" in card.source
            continue
        assert card.memory_bytes == int(source["memory_bytes"])
        assert card.bf16_flops == pytest.approx(float(source["bf16_dense_tflops"]) * 1e12)
        assert card.bandwidth_bytes_per_s == pytest.approx(
            float(source["hbm_bandwidth_gb_s"]) * 1e9
        )
