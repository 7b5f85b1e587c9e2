"""The real engine against the preview-only provider, for each cloud that it stands in for."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.engine

PREVIEW = ["preview", "--stack", "dev", "--non-interactive"]

DEPLOYMENT = """
import pulumi
import pulumi_azure_native as azure

provider = azure.Provider("azure", subscription_id="00000000-0000-0000-0000-000000000000")
azure.cognitiveservices.Deployment(
    "floor",
    account_name="account",
    resource_group_name="group",
    sku={SKU},
    properties={PROPERTIES},
    opts=pulumi.ResourceOptions(provider=provider),
)
"""
SKU = '{"name": "DataZoneProvisionedManaged", "capacity": 50}'
GOOD = (
    '{"model": {"format": "OpenAI", "name": "gpt-4.1-mini", "version": "2025-04-14"},'
    ' "spillover_deployment_name": "spill"}'
)


def program(properties: str = GOOD, sku: str = SKU) -> str:
    return DEPLOYMENT.replace("{SKU}", sku).replace("{PROPERTIES}", properties)


def test_a_provisioned_deployment_with_spillover_previews(throw_away, run_pulumi, engine_env):
    project = throw_away(program())
    result = run_pulumi([*PREVIEW, "--diff"], project, engine_env)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "azure-native:cognitiveservices:Deployment" in result.stdout
    assert '"spill"' in result.stdout


def test_it_says_once_that_nothing_real_answers(throw_away, run_pulumi, engine_env):
    result = run_pulumi(PREVIEW, throw_away(program()), engine_env)
    assert "nothing real was contacted" in result.stdout
    diagnostics = result.stdout.partition("Diagnostics:")[2]
    assert diagnostics.count("azure-native is answered by the preview-only provider") == 1


def test_typed_arguments_preview_as_plain_dicts_do(throw_away, run_pulumi, engine_env):
    typed = (
        'azure.cognitiveservices.DeploymentPropertiesArgs(spillover_deployment_name="spill",'
        ' model=azure.cognitiveservices.DeploymentModelArgs(name="gpt-4.1-mini"))'
    )
    result = run_pulumi(PREVIEW, throw_away(program(typed)), engine_env)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("properties", "sku", "path", "reason"),
    [
        pytest.param(
            '{"spillover_deployment": "spill"}',
            SKU,
            "properties.spillover_deployment",
            "did you mean spilloverDeploymentName (spillover_deployment_name in Python)?",
            id="wrong-name",
        ),
        pytest.param(
            '{"model": {"format": "OpenAI", "naem": "gpt-4.1-mini"}}',
            SKU,
            "properties.model.naem",
            "did you mean name?",
            id="wrong-nested-name",
        ),
        pytest.param(
            '{"spillover_deployment_name": 7}',
            SKU,
            "properties.spilloverDeploymentName",
            "must be a string, not the number 7",
            id="wrong-type",
        ),
        pytest.param(
            GOOD,
            '{"name": "ProvisionedManaged", "capacity": "fifty"}',
            "sku.capacity",
            "must be a whole number, not a string",
            id="wrong-nested-type",
        ),
        pytest.param(GOOD, '{"capacity": 50}', "sku.name", "is required and missing", id="missing"),
    ],
)
def test_a_wrong_property_fails_the_preview_and_is_named(
    throw_away, run_pulumi, engine_env, properties, sku, path, reason
):
    result = run_pulumi(PREVIEW, throw_away(program(properties, sku)), engine_env)
    output = result.stdout + result.stderr
    assert result.returncode != 0, output
    assert path in output
    assert reason in output


def test_a_real_create_is_refused_with_the_way_out(throw_away, run_pulumi, engine_env):
    project = throw_away(program())
    command = ["up", "--yes", "--skip-preview", "--stack", "dev", "--non-interactive"]
    result = run_pulumi(command, project, engine_env)
    output = result.stdout + result.stderr
    assert result.returncode != 0
    assert "the preview-only provider does not create azure-native resources" in output
    assert "unset PULUMI_DEBUG_PROVIDERS" in output
    exported = run_pulumi(["stack", "export", "--stack", "dev"], project, engine_env)
    assert "azure-native:cognitiveservices:Deployment" not in exported.stdout


def test_a_function_of_the_provider_is_refused(throw_away, run_pulumi, engine_env):
    source = "import pulumi_azure_native as azure\nazure.authorization.get_client_config()\n"
    result = run_pulumi(PREVIEW, throw_away(source), engine_env)
    assert result.returncode != 0
    assert "does not call azure-native:authorization:getClientConfig" in (
        result.stdout + result.stderr
    )


AWS = """
import pulumi
import pulumi_aws as aws

provider = aws.Provider("aws", region="us-east-1")
arguments = {ARGUMENTS}
pulumi.CustomResource(
    "aws:bedrock/provisionedModelThroughput:ProvisionedModelThroughput",
    "floor",
    arguments,
    pulumi.ResourceOptions(provider=provider),
)
aws.bedrock.InferenceProfile(
    "tagged",
    name="tagged",
    model_source={"copy_from": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0"},
    opts=pulumi.ResourceOptions(provider=provider),
)
"""
AWS_GOOD = (
    '{"modelArn": "arn", "modelUnits": 1, "provisionedModelName": "floor",'
    ' "commitmentDuration": "OneMonth"}'
)
GCP = """
import pulumi
import pulumi_gcp as gcp

arguments = {ARGUMENTS}
pulumi.CustomResource("gcp:projects/service:Service", "api", arguments)
gcp.monitoring.AlertPolicy(
    "overflow",
    display_name="overflow",
    combiner="OR",
    conditions=[{CONDITION}],
)
"""
GCP_GOOD = '{"project": "p", "service": "aiplatform.googleapis.com", "disableOnDestroy": False}'
CONDITION = (
    '{"display_name": "c", "condition_threshold": {"comparison": "COMPARISON_GT",'
    ' "duration": "0s", "filter": "f"}}'
)


def aws_program(arguments: str = AWS_GOOD) -> str:
    return AWS.replace("{ARGUMENTS}", arguments)


def gcp_program(arguments: str = GCP_GOOD, condition: str = CONDITION) -> str:
    return GCP.replace("{ARGUMENTS}", arguments).replace("{CONDITION}", condition)


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        (aws_program(), ("ProvisionedModelThroughput", "InferenceProfile")),
        (gcp_program(), ("projects/service:Service", "alertPolicy:AlertPolicy")),
    ],
    ids=["aws", "gcp"],
)
def test_other_clouds_preview(throw_away, run_pulumi, engine_env, source, kinds):
    result = run_pulumi([*PREVIEW, "--diff"], throw_away(source), engine_env)
    assert result.returncode == 0, result.stdout + result.stderr
    for kind in kinds:
        assert kind in result.stdout
    assert "nothing real was contacted" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("source", "path", "reason"),
    [
        pytest.param(
            aws_program(AWS_GOOD.replace("commitmentDuration", "commitment")),
            "commitment",
            "did you mean commitmentDuration (commitment_duration in Python)?",
            id="aws-wrong-name",
        ),
        pytest.param(
            aws_program(AWS_GOOD.replace('"modelUnits": 1', '"modelUnits": "one"')),
            "modelUnits",
            "must be a whole number, not a string",
            id="aws-wrong-type",
        ),
        pytest.param(
            aws_program('{"modelUnits": 1, "provisionedModelName": "floor"}'),
            "modelArn",
            "is required and missing",
            id="aws-missing",
        ),
        pytest.param(
            gcp_program(GCP_GOOD.replace("disableOnDestroy", "disable_on_delete")),
            "disable_on_delete",
            "did you mean disableOnDestroy (disable_on_destroy in Python)?",
            id="gcp-wrong-name",
        ),
        pytest.param(
            gcp_program(condition=CONDITION.replace("condition_threshold", "treshold")),
            "conditions[0].treshold",
            "has no such property",
            id="gcp-wrong-nested-name",
        ),
        pytest.param(
            gcp_program(GCP_GOOD.replace('"aiplatform.googleapis.com"', "7")),
            "service",
            "must be a string, not the number 7",
            id="gcp-wrong-type",
        ),
    ],
)
def test_a_wrong_property_of_another_cloud_fails_the_preview(
    throw_away, run_pulumi, engine_env, source, path, reason
):
    result = run_pulumi(PREVIEW, throw_away(source), engine_env)
    output = result.stdout + result.stderr
    assert result.returncode != 0, output
    assert path in output
    assert reason in output


@pytest.mark.parametrize(
    ("source", "package", "login"),
    [
        (aws_program(), "aws", "aws sso login"),
        (gcp_program(), "gcp", "gcloud auth application-default login"),
    ],
    ids=["aws", "gcp"],
)
def test_a_real_create_in_another_cloud_is_refused(
    throw_away, run_pulumi, engine_env, source, package, login
):
    project = throw_away(source)
    command = ["up", "--yes", "--skip-preview", "--stack", "dev", "--non-interactive"]
    result = run_pulumi(command, project, engine_env)
    output = result.stdout + result.stderr
    assert result.returncode != 0
    assert f"the preview-only provider does not create {package} resources" in output
    assert login in output
    exported = run_pulumi(["stack", "export", "--stack", "dev"], project, engine_env)
    assert '"type": "aws:bedrock' not in exported.stdout
    assert '"type": "gcp:' not in exported.stdout
