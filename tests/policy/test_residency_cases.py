"""Residency as people met it: each case names where it was reported."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options

AZURE_EU_ZONE = ("CH", "DE", "ES", "FR", "IT", "NL", "NO", "PL", "SE")
"""Countries of Azure's EU data zone, MicrosoftDocs/azure-ai-docs, 2026-05-08."""


def verdict_of(
    engine: PolicyEngine, make: SimpleNamespace, residency: tuple[str, ...], **option: Any
) -> Any:
    chosen = make.option(**option)
    workload = make.workload(jurisdictions=residency)
    return gate_options(engine, make.question([chosen], workload), [chosen])[chosen.id]


def test_global_standard_is_denied_for_australia_with_everything_a_reader_needs(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    verdict = verdict_of(
        engine,
        make,
        ("AU",),
        deployment_type="GlobalStandard",
        scope="global",
        jurisdictions=("AU", "BR", "US"),
    )
    assert verdict.verdict == "deny"
    (found,) = verdict.findings
    assert found.rule_id == "RES-001"
    assert found.subject == "chat/payg"
    assert found.observed == {
        "scope": "global",
        "jurisdictions": ["AU", "BR", "US"],
        "outside": ["BR", "US"],
    }
    assert found.expected == {"residency": ["AU"], "countries": ["AU"]}
    assert found.evidence == "/options/0/jurisdictions"
    assert "any region of the provider" in found.message
    assert found.remedy.startswith("Choose a deployment type or region")
    assert found.citation.document == "Regulation (EU) 2016/679 (GDPR)"


def test_global_without_a_list_is_denied_too(engine: PolicyEngine, make: SimpleNamespace) -> None:
    assert verdict_of(engine, make, ("AU",), scope="global", jurisdictions=None).verdict == "deny"


@pytest.mark.parametrize(
    ("residency", "expected", "outside"),
    [
        (("EU",), "deny", ["CH", "NO"]),
        (("EEA",), "deny", ["CH"]),
        (("EU_DATA_BOUNDARY",), "allow", None),
        (("EU", "NO", "CH"), "allow", None),
    ],
)
def test_the_eu_zone_is_wider_than_the_eu(
    engine: PolicyEngine,
    make: SimpleNamespace,
    residency: tuple[str, ...],
    expected: str,
    outside: list[str] | None,
) -> None:
    """MicrosoftDocs/azure-ai-docs, deployment types: the zone follows the EU Data Boundary."""
    verdict = verdict_of(
        engine,
        make,
        residency,
        deployment_type="DataZoneStandard",
        region="westeurope",
        scope="zone",
        jurisdictions=AZURE_EU_ZONE,
    )
    assert verdict.verdict == expected
    assert [found.observed["outside"] for found in verdict.findings] == (
        [outside] if outside else []
    )


def test_a_zone_without_members_is_unavailable(engine: PolicyEngine, make: SimpleNamespace) -> None:
    """Azure's APAC zone crosses borders and publishes no list; Bedrock's apac. likewise."""
    verdict = verdict_of(engine, make, ("AU",), scope="zone", jurisdictions=None)
    assert verdict.verdict == "unavailable"
    assert {found.rule_id for found in verdict.findings} == {"RES-002"}


def test_a_health_template_may_not_default_to_global(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    """Azure-Samples/healthcare-agent-orchestrator#16, #18: allowed are Standard and zone."""
    places = {
        "GlobalStandard": ("global", ("DE", "US")),
        "GlobalProvisionedManaged": ("global", ("DE", "US")),
        "GlobalBatch": ("global", ("DE", "US")),
        "Standard": ("country", ("US",)),
        "DataZoneStandard": ("zone", ("US",)),
    }
    verdicts = {
        name: verdict_of(
            engine, make, ("US",), deployment_type=name, scope=scope, jurisdictions=countries
        ).verdict
        for name, (scope, countries) in places.items()
    }
    assert verdicts == {
        "GlobalStandard": "deny",
        "GlobalProvisionedManaged": "deny",
        "GlobalBatch": "deny",
        "Standard": "allow",
        "DataZoneStandard": "allow",
    }


def test_the_global_profile_is_denied_and_the_geography_is_not(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    """aws-samples/sample-badgers#33: an organisation denies global.*; #211 of
    aws-control-tower-customizations: us. stays within three US regions."""
    bedrock = {"provider": "aws", "region": "us-east-1"}
    world = {"deployment_type": "global", "scope": "global", "jurisdictions": None, **bedrock}
    usa = {"deployment_type": "us", "scope": "zone", "jurisdictions": ("US",), **bedrock}
    assert verdict_of(engine, make, ("US",), **world).verdict == "deny"
    assert verdict_of(engine, make, ("US",), **usa).verdict == "allow"


def test_a_national_profile_meets_a_country_rule(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    """aws-samples/well-architected-iac-analyzer#181: jp. uses Tokyo and Osaka, both in Japan."""
    japan = {"provider": "aws", "region": "ap-northeast-1", "deployment_type": "jp"}
    verdict = verdict_of(engine, make, ("JP",), scope="country", jurisdictions=("JP",), **japan)
    assert verdict.verdict == "allow"


def test_a_fallback_in_another_jurisdiction_is_a_leak(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    """BerriAI/litellm#6400: a router goes on to the US deployment of the same name."""
    own = {"region": "swedencentral", "scope": "country", "jurisdictions": ("SE",)}
    inside = make.spill(region="francecentral", jurisdictions=("FR",))
    outside = make.spill(region="eastus", jurisdictions=("US",))
    assert verdict_of(engine, make, ("EU",), spill=inside, **own).verdict == "allow"
    verdict = verdict_of(engine, make, ("EU",), spill=outside, **own)
    assert verdict.verdict == "deny"
    assert {found.rule_id for found in verdict.findings} == {"RES-003"}


def test_availability_does_not_widen_the_scope(engine: PolicyEngine, make: SimpleNamespace) -> None:
    """Azure/GenAIOps-project-template#3 went global for want of Standard in a region."""
    verdict = verdict_of(
        engine,
        make,
        ("US",),
        region="westus",
        deployment_type="GlobalStandard",
        scope="global",
        jurisdictions=None,
        pinned=True,
    )
    assert verdict.verdict == "deny"


@pytest.mark.parametrize(
    ("floor", "spill", "expected"),
    [
        ("global", "global", "allow"),
        ("zone", "zone", "allow"),
        ("zone", "country", "allow"),
        ("zone", "global", "deny"),
        ("country", "zone", "deny"),
        ("region", "country", "deny"),
    ],
)
def test_spill_is_never_wider_than_the_floor(
    engine: PolicyEngine, make: SimpleNamespace, floor: str, spill: str, expected: str
) -> None:
    """MicrosoftDocs/azure-ai-docs, spillover-traffic-management.md (2026-03-04)."""
    verdict = verdict_of(
        engine,
        make,
        ("US",),
        kind="provisioned",
        scope=floor,
        jurisdictions=("US",),
        spill=make.spill(scope=spill, jurisdictions=("US",)),
    )
    assert verdict.verdict == expected


def test_restricted_data_stays_off_managed_services_even_by_spilling(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    own = {
        "kind": "self_hosted",
        "model": "Qwen/Qwen3-32B",
        "operator_class": "iaas",
        "scope": "country",
    }
    alone = make.option(id="alone", **own)
    leaking = make.option(id="leaking", spill=make.spill(), **own)
    managed = make.option(id="managed")
    options = [alone, leaking, managed]
    workload = make.workload(classification="restricted")
    verdicts = gate_options(engine, make.question(options, workload), options)
    assert [verdicts[option.id].verdict for option in options] == ["allow", "deny", "deny"]
    assert {found.rule_id for found in verdicts["leaking"].findings} == {"TPP-001"}
    assert {found.rule_id for found in verdicts["managed"].findings} == {"TPP-001", "MOD-001"}


def test_two_pins_on_one_deployment(engine: PolicyEngine, make: SimpleNamespace) -> None:
    pin = {
        "model": "gpt-4.1-mini",
        "provider": "azure",
        "region": "australiaeast",
        "deployment_type": "Standard",
    }
    chat = make.workload(pin=pin)
    nightly = make.workload(name="nightly", tier="batch", pin=pin)
    options = [
        make.option(pinned=True),
        make.option(id="nightly/payg", workload="nightly", pinned=True),
    ]
    verdicts = gate_options(engine, make.question(options, chat, nightly), options)
    assert {verdict.verdict for verdict in verdicts.values()} == {"deny"}
    loose = make.workload(name="nightly", tier="batch", pin={"kind": "payg"})
    verdicts = gate_options(engine, make.question(options, chat, loose), options)
    assert {verdict.verdict for verdict in verdicts.values()} == {"allow"}
    named = make.question(options, chat, nightly, deployment_keys={"nightly/payg": "its own"})
    assert engine.ask(named).options == {"chat/payg": "allow", "nightly/payg": "allow"}
