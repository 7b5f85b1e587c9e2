"""Where a prompt may be processed, and what counts as a jurisdiction."""

from __future__ import annotations

import pytest

from planner.catalog.loader import Catalog, Place
from planner.errors import InputError

EU_ZONE = ("CH", "DE", "ES", "FR", "IT", "NL", "NO", "PL", "SE")


@pytest.mark.parametrize(
    ("provider", "kind", "region", "place"),
    [
        ("azure", "GlobalStandard", "australiaeast", ("global", None)),
        ("azure", "GlobalBatch", "australiaeast", ("global", None)),
        ("azure", "Standard", "australiaeast", ("country", ("AU",))),
        ("azure", "ProvisionedManaged", "swedencentral", ("country", ("SE",))),
        ("azure", "Standard", "westeurope", ("zone", ("IE", "NL"))),
        ("azure", "Standard", "northeurope", ("zone", ("IE", "NL"))),
        ("azure", "Standard", "southeastasia", ("zone", ("HK", "SG"))),
        ("azure", "DataZoneStandard", "swedencentral", ("zone", EU_ZONE)),
        ("azure", "DataZoneProvisionedManaged", "eastus2", ("zone", ("US",))),
        ("azure", "DataZoneStandard", "usgovvirginia", ("zone", ("US",))),
        ("aws", "in_region", "ap-southeast-2", ("region", ("AU",))),
        ("aws", "au", "ap-southeast-2", ("country", ("AU",))),
        ("aws", "jp", "ap-northeast-1", ("country", ("JP",))),
        ("aws", "us", "us-east-1", ("zone", ("US",))),
        ("aws", "eu", "eu-west-1", ("zone", ("DE", "ES", "FR", "IE", "IT", "SE"))),
        ("aws", "provisioned", "us-east-1", ("region", ("US",))),
        ("gcp", "regional", "europe-west4", ("region", ("NL",))),
        ("gcp", "pt_regional_dedicated", "australia-southeast1", ("region", ("AU",))),
        ("gcp", "pt_global", "us-central1", ("global", None)),
    ],
)
def test_processing(catalog: Catalog, provider: str, kind: str, region: str, place: Place) -> None:
    assert catalog.processing(provider, kind, region) == place


@pytest.mark.parametrize(
    ("provider", "kind", "region"),
    [
        ("azure", "DataZoneStandard", "australiaeast"),  # APAC zone: no member list published
        ("azure", "DataZoneStandard", "canadacentral"),  # meter exists, zone unknown
        ("azure", "DataZoneStandard", "austriaeast"),  # zone membership not verified
        ("aws", "apac", "ap-south-1"),
    ],
)
def test_zones_without_a_member_list_are_unknown(
    catalog: Catalog, provider: str, kind: str, region: str
) -> None:
    assert catalog.processing(provider, kind, region) == ("zone", None)


def test_a_zone_includes_the_country_of_the_resource(catalog: Catalog) -> None:
    """Ireland has a data zone meter but is not in the published list."""
    _, countries = catalog.processing("azure", "DataZoneStandard", "northeurope")
    assert countries == tuple(sorted((*EU_ZONE, "IE")))


@pytest.mark.parametrize(
    ("provider", "kind", "region"),
    [
        ("aws", "us", "eu-west-1"),
        ("aws", "eu", "eu-west-2"),  # London is outside the eu profiles
        ("aws", "global", "us-gov-west-1"),
        ("aws", "global", "eusc-de-east-1"),
        ("azure", "GlobalStandard", "usgovtexas"),
        ("gcp", "eu", "europe-west2"),
    ],
)
def test_types_that_a_region_cannot_offer(
    catalog: Catalog, provider: str, kind: str, region: str
) -> None:
    assert not catalog.offered(provider, kind, region)
    with pytest.raises(InputError, match=f"{provider} does not offer {kind} in {region}"):
        catalog.processing(provider, kind, region)


def test_every_type_has_a_place_in_every_region_that_offers_it(catalog: Catalog) -> None:
    for region in catalog.regions:
        for kind in catalog.deployment_types_of(region.cloud):
            if not catalog.offered(region.cloud, kind.name, region.name):
                continue
            scope, countries = catalog.processing(region.cloud, kind.name, region.name)
            if scope == "global":
                assert countries is None
            elif countries is not None:
                assert region.country in countries, (kind.name, region.name)
                assert scope == "zone" or len(countries) == 1


def test_groups(catalog: Catalog) -> None:
    union = catalog.expand(["EU"])
    assert len(union) == 27
    assert catalog.expand(["EEA"]) == union | {"IS", "LI", "NO"}
    assert catalog.expand(["EU_DATA_BOUNDARY"]) == union | {"IS", "LI", "NO", "CH"}
    assert catalog.expand(["EU", "AU"]) == union | {"AU"}
    assert "GB" not in catalog.expand(["EU_DATA_BOUNDARY"])


def test_every_iso_country_is_known(catalog: Catalog) -> None:
    assert len(catalog.countries) == 249
    assert {region.country for region in catalog.regions} <= catalog.countries


def test_unknown_jurisdictions_are_listed_together(catalog: Catalog) -> None:
    with pytest.raises(InputError) as caught:
        catalog.expand(["AU", "UK", "EEAA", "au"], where="stacks/a/w.yaml:7")
    first, second, third = caught.value.problems
    assert "'UK'" in first.what
    assert "Did you mean GB?" in first.fix
    assert "EEA" in second.fix
    assert "AU" in third.fix
    assert {problem.where for problem in caught.value.problems} == {"stacks/a/w.yaml:7"}


def test_regions(catalog: Catalog) -> None:
    assert len(catalog.regions) == 142
    assert catalog.region("azure", "australiaeast").country == "AU"
    assert catalog.region("azure", "austriaeast").zones == ()
    with pytest.raises(InputError, match="Did you mean australiaeast"):
        catalog.region("azure", "australia-east")
    with pytest.raises(InputError):
        catalog.region("aws", "australiaeast")
