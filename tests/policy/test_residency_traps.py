"""The traps of the providers' documentation, from the catalog's rows to the gate's verdict."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.catalog.beyond import beyond_inference_of
from planner.catalog.loader import load_catalog
from planner.option import Option, SpillTarget
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.policy.verdicts import OptionVerdict

Place = tuple[str, str, str]
"""Provider, deployment type, region."""


def placed(place: Place) -> dict[str, Any]:
    provider, name, region = place
    scope, countries = load_catalog().processing(provider, name, region)
    return {
        "provider": provider,
        "deployment_type": name,
        "region": region,
        "scope": scope,
        "jurisdictions": countries,
    }


def judged(
    engine: PolicyEngine,
    make: SimpleNamespace,
    place: Place,
    *residency: str,
    spill: Place | None = None,
    classification: str = "internal",
) -> OptionVerdict:
    """Return the verdict on the place as the catalog describes it, facts beyond inference too."""
    target: SpillTarget | None = make.spill(**placed(spill)) if spill else None
    option: Option = make.option(spill=target, **placed(place))
    workload = make.workload(jurisdictions=residency, classification=classification)
    facts = {option.id: beyond_inference_of(option, load_catalog())}
    question = make.question([option], workload, beyond_inference=facts)
    return gate_options(engine, question, [option])[option.id]


AZURE_EU = ("azure", "DataZoneStandard", "swedencentral")
VERDICTS: list[tuple[str, Place, tuple[str, ...], str]] = [
    # Azure, "regional" was loosened: the geography of the resource, since August 2026.
    ("geography of one country", ("azure", "Standard", "australiaeast"), ("AU",), "allow"),
    ("geography of one country", ("azure", "ProvisionedManaged", "uksouth"), ("GB",), "allow"),
    ("geography of two", ("azure", "Standard", "westeurope"), ("NL",), "deny"),
    ("geography of two", ("azure", "ProvisionedManaged", "westeurope"), ("NL",), "deny"),
    ("geography of two", ("azure", "Standard", "westeurope"), ("EU",), "allow"),
    ("geography of two", ("azure", "Standard", "southeastasia"), ("SG",), "deny"),
    # The EU zone is not "EU only", and the United Kingdom is not in it.
    ("EU zone", AZURE_EU, ("EU",), "deny"),
    ("EU zone", AZURE_EU, ("EEA",), "deny"),
    ("EU zone", AZURE_EU, ("EU_DATA_BOUNDARY",), "allow"),
    ("EU zone", ("azure", "DataZoneStandard", "uksouth"), ("GB",), "unavailable"),
    # The APAC zone crosses borders and has no member list.
    ("APAC zone", ("azure", "DataZoneStandard", "australiaeast"), ("AU",), "unavailable"),
    ("APAC zone", ("azure", "DataZoneStandard", "southeastasia"), ("SG",), "unavailable"),
    ("APAC zone", ("azure", "DataZoneBatch", "centralindia"), ("IN",), "unavailable"),
    # The resource's region does not bound a global type (Q&A 2262985, 2238706).
    ("global", ("azure", "GlobalStandard", "westeurope"), ("EU_DATA_BOUNDARY",), "deny"),
    ("global", ("azure", "GlobalBatch", "germanywestcentral"), ("DE",), "deny"),
    ("evaluation", ("azure", "DeveloperTier", "eastus"), ("US",), "deny"),
    # Bedrock profiles.
    ("jp. stays", ("aws", "jp", "ap-northeast-1"), ("JP",), "allow"),
    ("au. stays", ("aws", "au", "ap-southeast-2"), ("AU",), "allow"),
    ("apac. crosses", ("aws", "apac", "ap-southeast-2"), ("AU",), "unavailable"),
    ("eu. has Ireland", ("aws", "eu", "eu-central-1"), ("DE",), "deny"),
    ("eu. stays", ("aws", "eu", "eu-central-1"), ("EU",), "allow"),
    ("global.", ("aws", "global", "ap-southeast-2"), ("AU",), "deny"),
    ("sovereign", ("aws", "in_region", "eusc-de-east-1"), ("DE",), "allow"),
    # Vertex endpoints; overflow is global unless the request refuses it.
    ("global endpoint", ("gcp", "global", "europe-west4"), ("EU",), "deny"),
    ("eu endpoint", ("gcp", "eu", "europe-west4"), ("EU",), "allow"),
    ("eu endpoint", ("gcp", "eu", "europe-west4"), ("NL",), "deny"),
    ("regional", ("gcp", "regional", "europe-west4"), ("NL",), "allow"),
    ("no promise", ("gcp", "regional", "me-central2"), ("SA",), "unavailable"),
    ("no promise", ("gcp", "pt_regional_dedicated", "me-west1"), ("IL",), "unavailable"),
    ("overflow", ("gcp", "pt_regional", "australia-southeast1"), ("AU",), "deny"),
    ("overflow", ("gcp", "pt_eu", "europe-west4"), ("EU",), "deny"),
    ("dedicated", ("gcp", "pt_regional_dedicated", "australia-southeast1"), ("AU",), "allow"),
    ("dedicated", ("gcp", "pt_eu_dedicated", "europe-west4"), ("EU",), "allow"),
    ("single zone", ("gcp", "pt_single_zone", "australia-southeast1"), ("AU",), "allow"),
]


@pytest.mark.parametrize(
    ("place", "residency", "expected"),
    [row[1:] for row in VERDICTS],
    ids=[f"{row[0]}-{row[1][1]}-{row[1][2]}-{'+'.join(row[2])}" for row in VERDICTS],
)
def test_trap(
    engine: PolicyEngine,
    make: SimpleNamespace,
    place: Place,
    residency: tuple[str, ...],
    expected: str,
) -> None:
    assert judged(engine, make, place, *residency).verdict == expected


@pytest.mark.parametrize(
    ("floor", "target", "expected"),
    [
        ("GlobalProvisionedManaged", "GlobalStandard", "deny"),  # global is outside, both ways
        ("DataZoneProvisionedManaged", "DataZoneStandard", "allow"),
        ("DataZoneProvisionedManaged", "GlobalStandard", "deny"),
        ("DataZoneProvisionedManaged", "Standard", "allow"),
        ("ProvisionedManaged", "Standard", "allow"),
        ("ProvisionedManaged", "DataZoneStandard", "deny"),
        ("ProvisionedManaged", "GlobalStandard", "deny"),
    ],
)
def test_azure_spill_pairs(
    engine: PolicyEngine, make: SimpleNamespace, floor: str, target: str, expected: str
) -> None:
    """PT-14: MicrosoftDocs/azure-ai-docs, spillover-traffic-management.md (2026-03-04)."""
    place, spill = ("azure", floor, "eastus2"), ("azure", target, "eastus2")
    assert judged(engine, make, place, "US", spill=spill).verdict == expected


@pytest.mark.parametrize(
    ("place", "spill", "residency", "expected"),
    [
        # No spillover at Bedrock: a geography profile behind the gateway is wider (2.3).
        (("aws", "provisioned", "us-east-1"), ("aws", "us", "us-east-1"), "US", "deny"),
        (("aws", "provisioned", "us-east-1"), ("aws", "in_region", "us-east-1"), "US", "allow"),
        (("aws", "reserved", "eu-west-1"), ("aws", "global", "eu-west-1"), "EU", "deny"),
        (
            ("gcp", "pt_single_zone", "us-central1"),
            ("gcp", "regional", "us-central1"),
            "US",
            "allow",
        ),
        (("gcp", "pt_us_dedicated", "us-central1"), ("gcp", "global", "us-central1"), "US", "deny"),
        # BerriAI/litellm#6400: one model name in two jurisdictions is no fallback list.
        (("azure", "Standard", "francecentral"), ("azure", "Standard", "eastus"), "EU", "deny"),
    ],
)
def test_spill_between_types(
    engine: PolicyEngine,
    make: SimpleNamespace,
    place: Place,
    spill: Place,
    residency: str,
    expected: str,
) -> None:
    assert judged(engine, make, place, residency, spill=spill).verdict == expected


def test_a_national_profile_is_in_the_country_and_not_in_one_region() -> None:
    """RS-07: aws-samples/well-architected-iac-analyzer#181."""
    catalog = load_catalog()
    zone = next(row for row in catalog.zones if (row.provider, row.name) == ("aws", "jp"))
    assert zone.regions == ("ap-northeast-1", "ap-northeast-3")
    assert catalog.processing("aws", "jp", "ap-northeast-1") == ("country", ("JP",))
    assert catalog.processing("aws", "in_region", "ap-northeast-1")[0] == "region"


def test_a_geography_profile_names_its_destinations() -> None:
    """RS-05: aws-control-tower-customizations#211; emitted guardrails need the list."""
    zone = next(z for z in load_catalog().zones if (z.provider, z.name) == ("aws", "us"))
    assert zone.regions == ("us-east-1", "us-east-2", "us-west-2")


def test_a_profile_keeps_abuse_data_where_it_went(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    """Bedrock: at rest in the source region, abuse detection in the destination region."""
    place = ("aws", "eu", "eu-central-1")
    verdict = judged(engine, make, place, "DE", classification="confidential")
    around = [found for found in verdict.findings if found.rule_id == "RES-004"]
    assert {found.verdict for found in around} == {"warn", "deny"}
    denied = next(found for found in around if found.verdict == "deny")
    assert denied.observed["outside"] == ["abuse_monitoring"]


@pytest.mark.parametrize(
    ("classification", "expected"),
    [("public", "allow"), ("internal", "allow"), ("confidential", "warn")],
)
def test_azure_telemetry_may_leave_even_a_regional_deployment(
    engine: PolicyEngine, make: SimpleNamespace, classification: str, expected: str
) -> None:
    """Microsoft Q&A 5634629 (UAE North)."""
    place = ("azure", "ProvisionedManaged", "uaenorth")
    verdict = judged(engine, make, place, "AE", classification=classification)
    assert verdict.verdict == expected
    if expected == "warn":
        (found,) = verdict.findings
        assert found.rule_id == "RES-004"
        assert found.observed["unknown"] == ["abuse_monitoring", "support_access", "telemetry"]


def test_restricted_data_is_unavailable_where_telemetry_is_unknown(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    place = ("azure", "ProvisionedManaged", "uaenorth")
    verdict = judged(engine, make, place, "AE", classification="restricted")
    found = {item.rule_id: item.verdict for item in verdict.findings}
    assert found["RES-004"] == "unavailable"
    assert found["TPP-001"] == "deny"


def test_own_machines_keep_everything_at_home(engine: PolicyEngine, make: SimpleNamespace) -> None:
    option = make.option(
        kind="self_hosted",
        model="Qwen/Qwen3-32B",
        operator_class="iaas",
        deployment_type="Standard_NC40ads_H100_v5",
        scope="region",
        account=None,
    )
    workload = make.workload(classification="restricted")
    for facts in ({option.id: beyond_inference_of(option, load_catalog())}, None):
        question = make.question([option], workload, beyond_inference=facts)
        assert gate_options(engine, question, [option])[option.id].verdict == "allow"


def test_managed_options_without_facts_count_as_unknown(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    option = make.option()
    question = make.question([option], beyond_inference=None)
    assert question["options"][0]["beyond_inference"] is None
    assert gate_options(engine, question, [option])[option.id].verdict == "warn"
    question = make.question(
        [option], make.workload(classification="internal"), beyond_inference={}
    )
    assert gate_options(engine, question, [option])[option.id].verdict == "allow"
