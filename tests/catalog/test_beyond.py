"""Where everything besides inference lives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.catalog.beyond import beyond_inference_of, own_places
from planner.catalog.loader import Catalog
from planner.catalog.rows import CONCERNS


def deployed(provider: str, name: str, region: str, **more: Any) -> Any:
    fields = {"kind": "payg", "spill": None, "jurisdictions": ("AU",), **more}
    return SimpleNamespace(provider=provider, deployment_type=name, region=region, **fields)


def where(catalog: Catalog, provider: str, name: str, region: str) -> dict[str, Any]:
    found = beyond_inference_of(deployed(provider, name, region), catalog)
    assert tuple(found) == CONCERNS
    return {
        concern: fact["countries"] or fact["place"]
        for concern, facts in found.items()
        for fact in facts
    }


@pytest.mark.parametrize(
    ("provider", "name", "region", "places"),
    [
        ("azure", "GlobalStandard", "australiaeast", ["AU", "?", "?", "?", "AU"]),
        ("azure", "ProvisionedManaged", "westeurope", ["IE NL", "?", "?", "?", "none"]),
        ("azure", "DataZoneBatch", "swedencentral", ["SE", "?", "?", "?", "SE"]),
        ("aws", "in_region", "eu-central-1", ["DE", "DE", "?", "?", "DE"]),
        ("aws", "au", "ap-southeast-2", ["AU", "AU", "?", "?", "AU"]),
        ("aws", "eu", "eu-central-1", ["DE", "DE ES FR IE IT SE", "?", "?", "DE"]),
        ("aws", "apac", "ap-south-1", ["IN", "?", "?", "?", "IN"]),
        ("aws", "global", "eu-west-1", ["IE", "anywhere", "?", "?", "IE"]),
        ("aws", "provisioned", "us-east-1", ["US", "US", "?", "?", "none"]),
        ("gcp", "global", "europe-west4", ["NL", "?", "?", "?", "?"]),
        ("gcp", "pt_single_zone", "europe-west4", ["NL", "?", "?", "?", "none"]),
    ],
)
def test_places(catalog: Catalog, provider: str, name: str, region: str, places: list[str]) -> None:
    found = [
        " ".join(place) if isinstance(place, list) else place.replace("unknown", "?")
        for place in where(catalog, provider, name, region).values()
    ]
    assert found == places


def test_own_machines_keep_all_of_it(catalog: Catalog) -> None:
    option = deployed("azure", "Standard_NC40ads_H100_v5", "australiaeast", kind="self_hosted")
    for facts in (beyond_inference_of(option, catalog), own_places(option)):
        assert facts is not None
        assert {fact["place"] for known in facts.values() for fact in known} == {"region"}
        assert {fact["countries"][0] for known in facts.values() for fact in known} == {"AU"}
    assert own_places(deployed("azure", "Standard", "australiaeast")) is None


def test_a_spill_target_adds_its_own_places(catalog: Catalog) -> None:
    spill = deployed("azure", "GlobalStandard", "westeurope")
    option = deployed("azure", "m", "australiaeast", kind="self_hosted", spill=spill)
    assert own_places(option) is None
    first, second = beyond_inference_of(option, catalog)["at_rest"]
    assert (first["role"], first["countries"], first["as_of"]) == ("option", ["AU"], None)
    assert (second["role"], second["countries"]) == ("spill target", ["IE", "NL"])
    assert second["as_of"] == "2026-08-06"


def test_every_row_has_a_date_and_a_source(catalog: Catalog) -> None:
    assert len(catalog.beyond_inference) == len(catalog.deployment_types) * len(CONCERNS)
    for row in catalog.beyond_inference:
        assert row.as_of
        assert row.source
