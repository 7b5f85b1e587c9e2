"""Residency as an Azure Policy and an AWS service control policy."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.api import plan_stack
from planner.catalog.loader import load_catalog
from planner.guards.aws_scp import INFERENCE, LONGEST_POLICY, UNSPECIFIED, aws_scp
from planner.guards.documents import AWS_FILE, AZURE_FILE, guard_files, guards
from planner.guards.terms import GuardedAccount
from planner.plan import Plan
from tests.clouds import AWS_ACCOUNT, PLATFORM, WORKLOADS
from tests.projects import changed

SKU = "Microsoft.CognitiveServices/accounts/deployments/sku.name"
US = GuardedAccount(
    name="br-us",
    account_id=AWS_ACCOUNT,
    resource_group=None,
    region="us-east-1",
    countries=("US",),
    admitted=("in_region", "provisioned", "us"),
    planned=("us",),
)


@pytest.fixture
def plan(project: Callable[..., Path]) -> Plan:
    return plan_stack(project(*WORKLOADS, platform=PLATFORM), "s", at="2026-11-29", write=False)


def profile(name: str, region: str = "us-east-1", kind: str = "inference-profile") -> str:
    return f"arn:aws:bedrock:{region}:{AWS_ACCOUNT}:{kind}/{name}"


def model(region: str) -> str:
    return f"arn:aws:bedrock:{region}::foundation-model/amazon.nova-pro-v1:0"


def listed(values: str | list[str]) -> list[str]:
    return [values] if isinstance(values, str) else values


def denied(policy: dict[str, Any], action: str, resource: str, keys: dict[str, str]) -> list[str]:
    """The statements that refuse a request, as IAM's documentation says they are read."""

    def holds(operator: str, key: str, values: Any) -> bool:
        given = keys.get(key)
        found = given is not None and any(
            fnmatch.fnmatchcase(given, item) for item in listed(values)
        )
        # A key that is absent makes a negated operator true.
        return {
            "StringEquals": found,
            "ArnLike": found,
            "StringNotEquals": not found,
            "ArnNotLike": not found,
        }[operator]

    return [
        statement["Sid"]
        for statement in policy["Statement"]
        if action in statement["Action"]
        and any(fnmatch.fnmatchcase(resource, item) for item in listed(statement["Resource"]))
        and all(
            holds(operator, key, values)
            for operator, of in statement.get("Condition", {}).items()
            for key, values in of.items()
        )
    ]


def asked(policy: dict[str, Any], region: str, named: str | None = None) -> list[str]:
    """What refuses an InvokeModel that arrives in ``region``, through a profile or not."""
    keys = {"aws:RequestedRegion": region, "aws:PrincipalAccount": AWS_ACCOUNT}
    if named is not None:
        keys["bedrock:InferenceProfileArn"] = named
    return denied(policy, "bedrock:InvokeModel", model(region), keys)


def test_the_global_profile_is_refused(plan: Plan) -> None:
    """Case RS-03: it arrives with an unspecified region."""
    policy = guards(plan, load_catalog())[AWS_FILE]
    through = profile("global.amazon.nova-pro-v1:0")
    assert asked(policy, UNSPECIFIED, through) == [
        f"DenyInferenceOutsideResidency{AWS_ACCOUNT}",
        f"DenyInferenceThroughOtherProfiles{AWS_ACCOUNT}",
    ]
    keys = {"aws:RequestedRegion": "us-east-1", "aws:PrincipalAccount": AWS_ACCOUNT}
    for action in ("bedrock:InvokeModel", "bedrock:CreateInferenceProfile"):
        assert f"DenyWiderProfiles{AWS_ACCOUNT}" in denied(policy, action, through, keys), action


@pytest.mark.parametrize("region", ["us-east-1", "us-east-2", "us-west-2"])
def test_a_geography_profile_is_let_in_wherever_it_arrives(plan: Plan, region: str) -> None:
    """Case RS-05: a denial of regions alone refuses it in the regions that it goes to."""
    policy = guards(plan, load_catalog())[AWS_FILE]
    assert asked(policy, region, profile("us.amazon.nova-pro-v1:0")) == []
    own = profile("abc123", kind="application-inference-profile")
    assert asked(policy, region, own) == []


def test_destinations_are_allowed_even_where_residency_names_fewer_countries() -> None:
    """The plan's own profile under a waiver: its published destinations come with it."""
    eu = GuardedAccount(
        name="br-de",
        account_id=None,
        resource_group=None,
        region="eu-central-1",
        countries=("DE",),
        admitted=("in_region",),
        planned=("eu",),
    )
    policy = aws_scp([eu], load_catalog())
    assert asked(policy, "eu-west-3", profile("eu.m")) == []
    assert asked(policy, "eu-west-2") == ["DenyInferenceOutsideResidency"]
    without = aws_scp([_with(eu, planned=("in_region",))], load_catalog())
    assert "DenyInferenceOutsideResidency" in asked(without, "eu-west-3")


def test_other_regions_and_profiles_are_refused(plan: Plan) -> None:
    policy = guards(plan, load_catalog())[AWS_FILE]
    assert asked(policy, "eu-central-1") == [f"DenyInferenceOutsideResidency{AWS_ACCOUNT}"]
    for name in ("eu.m", "apac.m", "jp.m", "au.m", "new.m"):
        told = asked(policy, "us-east-1", profile(name))
        assert told == [f"DenyInferenceThroughOtherProfiles{AWS_ACCOUNT}"], name
    assert asked(policy, "us-east-1") == []


def test_another_account_of_the_organisation_is_not_concerned(plan: Plan) -> None:
    policy = guards(plan, load_catalog())[AWS_FILE]
    keys = {"aws:RequestedRegion": "eu-central-1", "aws:PrincipalAccount": "999999999999"}
    assert denied(policy, "bedrock:InvokeModel", model("eu-central-1"), keys) == []


def test_accounts_that_cannot_be_told_apart_share_the_narrowest() -> None:
    au = _with(US, account_id=None, region="ap-southeast-2", countries=("AU",), planned=("au",))
    policy = aws_scp([US, _with(au, admitted=("au", "in_region"))], load_catalog())
    assert {statement["Sid"] for statement in policy["Statement"]} == {
        "DenyInferenceOutsideResidency",
        "DenyInferenceThroughOtherProfiles",
        "DenyWiderProfiles",
    }
    assert asked(policy, "us-west-2", profile("us.m")) == []
    assert asked(policy, "ap-southeast-4", profile("au.m")) == []
    assert asked(policy, "us-west-1") == ["DenyInferenceOutsideResidency"]


def test_a_planned_global_profile_is_let_in_unspecified() -> None:
    policy = aws_scp([_with(US, planned=("global",))], load_catalog())
    assert asked(policy, UNSPECIFIED, profile("global.m")) == []
    assert asked(policy, UNSPECIFIED, profile("jp.m")) == [
        f"DenyInferenceThroughOtherProfiles{AWS_ACCOUNT}"
    ]


def test_a_profile_without_published_destinations_is_let_in_by_its_name() -> None:
    policy = aws_scp([_with(US, planned=("apac",))], load_catalog())
    assert asked(policy, "ap-south-1", profile("apac.m")) == []
    assert asked(policy, "ap-south-1") == [f"DenyInferenceOutsideResidency{AWS_ACCOUNT}"]


def test_government_accounts_have_their_own_arns() -> None:
    policy = aws_scp([_with(US, region="us-gov-west-1")], load_catalog())
    text = json.dumps(policy)
    assert "arn:aws-us-gov:bedrock:" in text
    assert "arn:aws:" not in text


def test_the_policy_fits_what_aws_takes(plan: Plan) -> None:
    policy = guards(plan, load_catalog())[AWS_FILE]
    assert len(json.dumps(policy, separators=(",", ":"))) <= LONGEST_POLICY
    assert policy["Version"] == "2012-10-17"
    for statement in policy["Statement"]:
        assert statement["Effect"] == "Deny"
        assert set(statement["Action"]) <= {*INFERENCE, "bedrock:CreateInferenceProfile"}
        assert statement["Sid"].isalnum()


def test_azure_denies_every_type_that_leaves_the_residency_by_name(plan: Plan) -> None:
    document = guards(plan, load_catalog())[AZURE_FILE]
    kinds, places = document["definitions"]
    assert kinds["properties"]["policyRule"] == {
        "if": {
            "allOf": [
                {
                    "field": "type",
                    "equals": "Microsoft.CognitiveServices/accounts/deployments",
                },
                {"field": SKU, "notIn": "[parameters('allowedSkus')]"},
            ]
        },
        "then": {"effect": "deny"},
    }
    (of_account, of_group) = document["assignments"]
    assert of_account["definition"] == kinds["name"] == "llm-s-deployment-types"
    assert of_account["scope"] == {"resourceGroup": "rg", "account": "oai-us"}
    assert of_account["parameters"]["allowedSkus"]["value"] == [
        "DataZoneBatch",
        "DataZoneProvisionedManaged",
        "DataZoneStandard",
        "ProvisionedManaged",
        "Standard",
    ]
    assert of_account["deniedSkus"] == [
        "DeveloperTier",
        "GlobalBatch",
        "GlobalProvisionedManaged",
        "GlobalStandard",
    ]
    assert of_group["definition"] == places["name"]
    locations = of_group["parameters"]["allowedLocations"]["value"]
    assert "eastus2" in locations
    assert not {"westeurope", "australiaeast", "canadacentral"} & set(locations)


def test_data_zones_are_denied_where_residency_is_one_country_of_the_zone(
    project: Callable[..., Path],
) -> None:
    base = changed(WORKLOADS[0], classification="internal", residency={"jurisdictions": ["SE"]})
    del base["pin"]
    account = changed(PLATFORM["accounts"][0], region="swedencentral")
    alone = {"as_of": PLATFORM["as_of"], "accounts": [account]}
    folder = project(base, platform=alone)
    plan = plan_stack(folder, "s", at="2026-11-29", write=False)
    (assigned, _) = guards(plan, load_catalog())[AZURE_FILE]["assignments"]
    assert assigned["parameters"]["allowedSkus"]["value"] == ["ProvisionedManaged", "Standard"]
    assert {"DataZoneStandard", "GlobalStandard"} <= set(assigned["deniedSkus"])


def test_files_are_the_same_every_time_and_only_of_clouds_in_use(plan: Plan) -> None:
    files = guard_files(plan, load_catalog())
    assert sorted(files) == [AWS_FILE, AZURE_FILE]
    assert files == guard_files(plan, load_catalog())
    assert all(json.loads(text) and text.endswith("}\n") for text in files.values())
    left = tuple(item for item in plan.resources.deployments if item.provider == "gcp")
    google = plan.resources.model_copy(update={"deployments": left})
    assert guard_files(plan.model_copy(update={"resources": google}), load_catalog()) == {}


def _with(account: GuardedAccount, **fields: Any) -> GuardedAccount:
    return GuardedAccount(**{**account.__dict__, **fields})
