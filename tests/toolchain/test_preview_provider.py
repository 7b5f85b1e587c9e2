"""Properties on the wire against the typed SDKs of three clouds, without an engine."""

from __future__ import annotations

import pytest

pytest.importorskip("pulumi_azure_native", reason="the extra `azure` is not installed")
pytest.importorskip("pulumi_aws", reason="the extra `aws` is not installed")
pytest.importorskip("pulumi_gcp", reason="the extra `gcp` is not installed")

from planner.toolchain.preview_provider.check import (
    OUTPUT,
    SECRET,
    SIGNATURE_KEY,
    UNKNOWN,
    check_resource,
)
from planner.toolchain.preview_provider.sdk import SDKS, UnknownResourceError, arguments_of

AZURE = SDKS["azure-native"]
NAMES = {"accountName": "account", "resourceGroupName": "group"}


def problems(properties, token="azure-native:cognitiveservices:Deployment"):
    failures = check_resource(properties, arguments_of(SDKS[token.split(":")[0]], token))
    return {failure.path: failure.reason for failure in failures}


def envelope(kind, **rest):
    return {SIGNATURE_KEY: kind, **rest}


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"properties": {"spilloverDeploymentName": "spill", "currentCapacity": 50.0}},
        {"properties": {"versionUpgradeOption": "a value newer than the SDK"}},
        {"properties": None},
        {"properties": UNKNOWN, "sku": {"name": UNKNOWN, "capacity": UNKNOWN}},
        {"properties": envelope(SECRET, value={"spilloverDeploymentName": "spill"})},
        {"properties": envelope(OUTPUT, value=envelope(SECRET, value={}))},
        {"sku": envelope(OUTPUT)},
        {"tags": {"owner": "team", "cost": envelope(SECRET, value="1")}},
    ],
)
def test_right_properties_pass(properties):
    assert problems({**NAMES, **properties}) == {}


@pytest.mark.parametrize(
    ("properties", "path", "reason"),
    [
        ({"propertis": {}}, "propertis", "did you mean properties?"),
        ({"zzz": 1}, "zzz", "it has accountName, deploymentName"),
        (
            {"properties": {"spillover_deployment_name": "spill"}},
            "properties.spillover_deployment_name",
            "did you mean spilloverDeploymentName (spillover_deployment_name in Python)?",
        ),
        ({"properties": "x"}, "properties", "must be an object (DeploymentPropertiesArgs)"),
        ({"properties": {"model": ["gpt"]}}, "properties.model", "not a list"),
        ({"properties": {"model": {"versio": "1"}}}, "properties.model.versio", "version?"),
        ({"sku": {"name": "S", "capacity": 1.5}}, "sku.capacity", "must be a whole number"),
        ({"sku": {"name": "S", "capacity": True}}, "sku.capacity", "not a truth value"),
        ({"sku": {"capacity": 1}}, "sku.name", "is required and missing"),
        ({"tags": {"cost": 1}}, "tags.cost", "must be a string, not the number 1"),
        ({"tags": []}, "tags", "must be a map, not a list"),
        (
            {"properties": {"versionUpgradeOption": 5}},
            "properties.versionUpgradeOption",
            "OnceNewDefaultVersionAvailable",
        ),
    ],
)
def test_a_wrong_property_is_named_alone(properties, path, reason):
    found = problems({**NAMES, **properties})
    assert list(found) == [path]
    assert reason in found[path]


def test_secrets_are_checked_and_never_shown():
    found = problems({**NAMES, "deploymentName": envelope(SECRET, value=["hunter2"])})
    assert found == {"deploymentName": "must be a string, not a list"}


def test_items_of_lists_are_checked():
    found = problems(
        {
            "resourceGroupName": "group",
            "properties": {"networkAcls": {"ipRules": [{"value": "10.0.0.0/8"}, {"value": 3}]}},
        },
        "azure-native:cognitiveservices:Account",
    )
    assert list(found) == ["properties.networkAcls.ipRules[1].value"]


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("azure-native:cognitiveservices:Deploymnt", "the nearest are Deployment"),
        ("azure-native:cognitive:Deployment", "has no module cognitive"),
        ("azure-native:cognitiveservices:DeploymentPropertiesArgs", "has no resource type"),
        ("aws:bedrock:Model", "is not a resource type of azure-native"),
        ("nonsense", "is not a resource type of azure-native"),
    ],
)
def test_an_unknown_resource_type_is_named(token, text):
    with pytest.raises(UnknownResourceError, match=text):
        arguments_of(AZURE, token)


UNITS = "aws:bedrock/provisionedModelThroughput:ProvisionedModelThroughput"
PROFILE = "aws:bedrock/inferenceProfile:InferenceProfile"
SERVICE = "gcp:projects/service:Service"
ALERT = "gcp:monitoring/alertPolicy:AlertPolicy"
BOUGHT = {"modelArn": "arn", "modelUnits": 1, "provisionedModelName": "floor"}
CONDITION = {"displayName": "c", "conditionThreshold": {"comparison": "C", "duration": "0s"}}
WATCH = {"combiner": "OR", "displayName": "a", "conditions": [CONDITION]}


@pytest.mark.parametrize(
    ("token", "properties"),
    [
        (UNITS, BOUGHT),
        (UNITS, {**BOUGHT, "commitmentDuration": "SixMonths", "region": "us-east-1", "tags": {}}),
        (PROFILE, {"name": "p", "modelSource": {"copyFrom": UNKNOWN}}),
        (SERVICE, {"service": "aiplatform.googleapis.com", "disableOnDestroy": False}),
        (ALERT, WATCH),
        ("aws:lambda/function:Function", {"role": "r"}),
    ],
)
def test_right_properties_of_other_clouds_pass(token, properties):
    assert problems(properties, token) == {}


@pytest.mark.parametrize(
    ("token", "properties", "path", "reason"),
    [
        (UNITS, {**BOUGHT, "commitment": "OneMonth"}, "commitment", "commitmentDuration"),
        (UNITS, {**BOUGHT, "modelUnits": "two"}, "modelUnits", "must be a whole number"),
        (UNITS, {"modelUnits": 1, "provisionedModelName": "f"}, "modelArn", "is required"),
        (PROFILE, {"modelSource": {"copyfrom": "a"}}, "modelSource.copyfrom", "copyFrom"),
        (SERVICE, {"service": 7}, "service", "must be a string"),
        (SERVICE, {"service": "s", "disableOnDestry": True}, "disableOnDestry", "disableOnDestroy"),
        (
            ALERT,
            {**WATCH, "conditions": [{"displayName": "c", "conditionTreshold": {}}]},
            "conditions[0].conditionTreshold",
            "conditionThreshold",
        ),
    ],
)
def test_a_wrong_property_of_other_clouds_is_named(token, properties, path, reason):
    found = problems(properties, token)
    assert path in found
    assert reason in found[path]


@pytest.mark.parametrize(
    "token",
    ["aws:bedrock/provisionedModel:ProvisionedModel", "gcp:vertex/provisionedThroughput:Order"],
)
def test_what_an_sdk_lacks_is_no_resource(token):
    with pytest.raises(UnknownResourceError, match=r"has no (resource type|module)"):
        arguments_of(SDKS[token.split(":")[0]], token)
