"""Facts with a known origin, and what must hold for every row."""

from __future__ import annotations

import pytest

from planner.catalog import rows
from planner.catalog.loader import Catalog


def payg(catalog: Catalog, model: str, kind: str, region: str) -> list[rows.PaygPrice]:
    return [
        row
        for row in catalog.payg_prices
        if (row.model, row.deployment_type, row.region) == (model, kind, region)
    ]


def hourly(catalog: Catalog, model: str, kind: str, region: str) -> float:
    (row,) = (
        row
        for row in catalog.provisioned_prices
        if (row.model, row.deployment_type, row.region, row.term_months) == (model, kind, region, 0)
    )
    return row.usd_per_unit_month / 730


def unit(catalog: Catalog, model: str, kind: str) -> rows.ProvisionedUnit:
    (row,) = (
        row
        for row in catalog.provisioned_units
        if (row.model, row.deployment_type) == (model, kind)
    )
    return row


def test_regional_price_of_gpt_4_1_mini_in_australia(catalog: Catalog) -> None:
    (row,) = payg(catalog, "gpt-4.1-mini", "Standard", "australiaeast")
    prices = (row.input_usd_per_mtok, row.cached_input_usd_per_mtok, row.output_usd_per_mtok)
    assert prices == (0.44, 0.11, 1.76)
    assert (row.effective_from, row.price_date) == ("2025-11-01", "2026-08-11")
    assert row.batch_input_usd_per_mtok is None, "regional deployments have no batch price"


def test_global_row_carries_the_batch_price(catalog: Catalog) -> None:
    (row,) = payg(catalog, "gpt-4.1-mini", "GlobalStandard", "australiaeast")
    assert (row.batch_input_usd_per_mtok, row.batch_output_usd_per_mtok) == (0.2, 0.8)


@pytest.mark.parametrize(
    ("region", "price", "version"),
    [
        ("australiaeast", 2.75, "2024-11-20"),
        ("swedencentral", 3.025, "2024-11-20"),  # the older version has its own meter at 2.75
        ("southeastasia", 3.3, "2024-08-06"),  # the newer version has no meter here
    ],
)
def test_gpt_4o_takes_the_newest_versions_meter(
    catalog: Catalog, region: str, price: float, version: str
) -> None:
    (row,) = payg(catalog, "gpt-4o", "Standard", region)
    assert (row.input_usd_per_mtok, row.model_version) == (price, version)


@pytest.mark.parametrize(
    ("model", "kind", "minimum", "step", "tokens", "weight"),
    [
        ("gpt-4.1-mini", "ProvisionedManaged", 25, 25, 14_900, 4),
        ("gpt-4.1-mini", "GlobalProvisionedManaged", 15, 5, 14_900, 4),
        ("gpt-5.2", "DataZoneProvisionedManaged", 15, 5, 3_400, 8),
        ("meta-llama/Llama-3.3-70B-Instruct", "GlobalProvisionedManaged", 100, 100, 8_450, 4),
        ("gemini-3.6-flash", "pt_global", 1, 1, 675 * 60, 5),
    ],
)
def test_published_units(
    catalog: Catalog, model: str, kind: str, minimum: int, step: int, tokens: int, weight: int
) -> None:
    row = unit(catalog, model, kind)
    found = (row.minimum_units, row.step_units, row.input_tokens_per_minute, row.output_weight)
    assert found == (minimum, step, tokens, weight)


def test_cached_input_is_free_on_azure_units_and_a_tenth_on_vertex(catalog: Catalog) -> None:
    assert unit(catalog, "gpt-4.1-mini", "ProvisionedManaged").cached_input_weight == 0
    assert unit(catalog, "gemini-3.5-flash", "pt_global").cached_input_weight == 0.1


def test_only_openai_models_spill_over_on_azure(catalog: Catalog) -> None:
    assert unit(catalog, "gpt-4.1", "ProvisionedManaged").spillover
    assert not unit(catalog, "deepseek-ai/DeepSeek-R1", "GlobalProvisionedManaged").spillover


def test_units_without_a_published_ratio_stay_unknown(catalog: Catalog) -> None:
    sized = {(row.provider, row.model) for row in catalog.provisioned_units}
    assert ("azure", "openai/gpt-oss-120b") not in sized
    assert not [row for row in catalog.provisioned_units if row.provider == "aws"]


@pytest.mark.parametrize(
    ("kind", "region", "usd"),
    [
        ("ProvisionedManaged", "australiaeast", 2.0),
        ("ProvisionedManaged", "swedencentral", 2.2),
        ("ProvisionedManaged", "westeurope", 2.4),
        ("GlobalProvisionedManaged", "australiaeast", 1.0),
        ("DataZoneProvisionedManaged", "australiaeast", 1.2),
        ("DataZoneProvisionedManaged", "francecentral", 1.1),
    ],
)
def test_hourly_price_of_a_ptu(catalog: Catalog, kind: str, region: str, usd: float) -> None:
    assert hourly(catalog, "gpt-4.1-mini", kind, region) == pytest.approx(usd, abs=1e-12)


def test_reservations_are_known_for_global_only(catalog: Catalog) -> None:
    terms = {
        (row.deployment_type, row.term_months, row.usd_per_unit_month)
        for row in catalog.provisioned_prices
        if row.provider == "azure" and row.term_months
    }
    assert terms == {
        ("GlobalProvisionedManaged", 1, 260.0),
        ("GlobalProvisionedManaged", 12, 221.0),
    }


def test_regional_units_of_newer_models_are_priced_where_the_matrix_lists_them(
    catalog: Catalog,
) -> None:
    found = {
        row.region
        for row in catalog.provisioned_prices
        if (row.model, row.deployment_type) == ("gpt-5.4", "ProvisionedManaged")
    }
    assert found == {"uksouth", "australiaeast", "japaneast"}


def test_vertex_units_are_priced_for_gemini_only(catalog: Catalog) -> None:
    priced = [row for row in catalog.provisioned_prices if row.provider == "gcp"]
    assert {row.model.split("-")[0] for row in priced} == {"gemini"}
    months = {(row.deployment_type == "pt_global", row.term_months): row for row in priced}
    assert months[True, 12].usd_per_unit_month == 2000
    assert months[False, 12].usd_per_unit_month == 2200


def test_h100(catalog: Catalog) -> None:
    card = catalog.accelerator("H100-80GB")
    assert card.name == "H100-SXM5-80GB"
    assert (card.bf16_flops, card.bandwidth_bytes_per_s) == (989e12, 3350e9)
    assert card.cuda_visible_bytes == round(79.18 * 2**30)
    assert card.nvlink_bytes_per_s == 900e9


def test_h100_node_in_australia(catalog: Catalog) -> None:
    node = catalog.instance("azure", "Standard_ND96isr_H100_v5")
    assert (node.gpus, node.accelerator, node.interconnect) == (8, "H100-SXM5-80GB", "nvlink")
    (price,) = (
        row
        for row in catalog.instance_prices
        if (row.instance, row.region) == (node.name, "australiaeast")
    )
    assert price.usd_per_hour == 142.6


def test_visible_memory_never_exceeds_the_cards(catalog: Catalog) -> None:
    for card in catalog.accelerators:
        assert 0.9 * card.memory_bytes < card.cuda_visible_bytes <= card.memory_bytes, card.name


def test_every_row_has_a_source_and_a_date(catalog: Catalog) -> None:
    tables = (
        catalog.regions,
        catalog.groups,
        catalog.zones,
        catalog.geographies,
        catalog.deployment_types,
        catalog.models,
        catalog.accelerators,
        catalog.instances,
        catalog.instance_prices,
        catalog.payg_prices,
        catalog.provisioned_units,
        catalog.provisioned_prices,
        catalog.promises,
    )
    for table in tables:
        assert table
        for row in table:
            assert row.source, row
            assert getattr(row, "price_date", None) or getattr(row, "as_of", None), row


def test_prices_are_above_zero_and_batch_is_never_dearer(catalog: Catalog) -> None:
    for row in catalog.payg_prices:
        assert row.input_usd_per_mtok > 0, row
        assert row.output_usd_per_mtok > 0, row
        if row.cached_input_usd_per_mtok is not None:
            assert row.cached_input_usd_per_mtok < row.input_usd_per_mtok, row
        if row.batch_output_usd_per_mtok is not None:
            assert row.batch_output_usd_per_mtok < row.output_usd_per_mtok, row
    assert all(row.usd_per_hour > 0 for row in catalog.instance_prices)
    assert all(row.usd_per_unit_month > 0 for row in catalog.provisioned_prices)


def test_output_weight_of_newer_models_is_their_price_ratio(catalog: Catalog) -> None:
    """Microsoft sets the ratio of GPT-4.1 and newer to the global price ratio."""
    checked = 0
    for row in catalog.provisioned_units:
        if row.deployment_type != "GlobalProvisionedManaged" or not row.model.startswith("gpt-"):
            continue
        for price in payg(catalog, row.model, "GlobalStandard", "eastus"):
            ratio = price.output_usd_per_mtok / price.input_usd_per_mtok
            assert ratio == pytest.approx(row.output_weight), row.model
            checked += 1
    assert checked >= 9


def test_promises(catalog: Catalog) -> None:
    general = catalog.promise("azure", "payg", "GlobalStandard")
    reserved = catalog.promise("aws", "provisioned", "reserved")
    assert general is not None
    assert general.availability == 0.999
    assert reserved is not None
    assert reserved.availability == 0.995
    assert catalog.promise("aws", "provisioned", "in_region") is None
