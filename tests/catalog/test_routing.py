"""Who sends overflow on, and what the gateway must do."""

from __future__ import annotations

import pytest

from planner.catalog.loader import Catalog
from planner.catalog.routing import overflow_of, routing_requirement
from planner.errors import InputError

DEDICATED = "`X-Vertex-AI-LLM-Request-Type: dedicated`"
SHARED = "`X-Vertex-AI-LLM-Request-Type: shared`"


def told(provider: str, name: str, spill: str | None, model: str = "gpt-4.1") -> str | None:
    return routing_requirement(provider, name, model, spill)


def test_azure_names_the_target_on_the_deployment_or_in_a_header() -> None:
    text = told("azure", "DataZoneProvisionedManaged", "DataZoneStandard")
    assert text is not None
    assert "spilloverDeploymentName" in text
    assert "`x-ms-spillover-deployment: NAME`" in text
    assert "same resource" in text
    assert "wins" in text
    assert told("azure", "DataZoneProvisionedManaged", None) is None


def test_azure_spills_openai_models_only() -> None:
    text = told("azure", "GlobalProvisionedManaged", "GlobalStandard", "deepseek-ai/DeepSeek-R1")
    assert text is not None
    assert "does not spill this model over" in text
    assert "x-ms-spillover-deployment" not in text


@pytest.mark.parametrize("name", ["pt_us_dedicated", "pt_eu_dedicated", "pt_regional_dedicated"])
def test_vertex_refuses_overflow_only_by_header(name: str) -> None:
    alone = told("gcp", name, None, "gemini-3.5-flash")
    assert alone is not None
    assert DEDICATED in alone
    assert SHARED not in alone
    behind = told("gcp", name, "us", "gemini-3.5-flash")
    assert behind is not None
    assert DEDICATED in behind
    assert f"to the us endpoint with {SHARED}" in behind


def test_vertex_spills_unasked_to_the_global_endpoint() -> None:
    assert told("gcp", "pt_global", "global", "gemini-3.5-flash") is None
    refused = told("gcp", "pt_regional", None, "gemini-3.5-flash")
    assert refused is not None
    assert DEDICATED in refused
    assert "global endpoint" in refused
    elsewhere = told("gcp", "pt_eu", "eu", "gemini-3.5-flash")
    assert elsewhere is not None
    assert SHARED in elsewhere
    assert told("gcp", "pt_single_zone", "regional", "gemini-3.5-flash") is None


def test_bedrock_provisioned_throughput_has_no_spillover() -> None:
    text = told("aws", "provisioned", "us", "nova-pro")
    assert text is not None
    assert "two model ids" in text
    assert "429" in text
    assert told("aws", "provisioned", None, "nova-pro") is None


def test_bedrock_reserved_spills_by_itself() -> None:
    assert told("aws", "reserved", "in_region", "nova-pro") is None
    for spill in (None, "us"):
        text = told("aws", "reserved", spill, "nova-pro")
        assert text is not None
        assert "in_region by itself" in text


def test_own_servers_need_the_gateway() -> None:
    text = told("azure", "Standard_NC40ads_H100_v5", "Standard", "Qwen/Qwen3-32B")
    assert text is not None
    assert "gateway" in text
    assert told("azure", "Standard_NC40ads_H100_v5", None, "Qwen/Qwen3-32B") is None


def test_pay_as_you_go_needs_nothing() -> None:
    assert told("azure", "Standard", None) is None
    assert told("aws", "global", None, "nova-pro") is None


def test_names_that_do_not_exist() -> None:
    with pytest.raises(InputError, match="Did you mean pt_regional"):
        told("gcp", "pt_regionall", None, "gemini-3.5-flash")
    with pytest.raises(InputError, match="Did you mean ProvisionedManaged"):
        told("azure", "ProvisionedManagd", "Standard")
    with pytest.raises(InputError, match="unknown model"):
        told("azure", "ProvisionedManaged", "Standard", "gpt-4.11")


def test_the_flag_of_a_unit_agrees_with_who_sends_overflow_on(catalog: Catalog) -> None:
    for unit in catalog.provisioned_units:
        row = overflow_of(catalog, unit.provider, unit.deployment_type)
        assert row is not None
        if unit.spillover:
            assert row.by in ("setting", "default"), unit
        elif unit.provider != "azure":
            assert row.by in ("gateway", "refused"), unit
