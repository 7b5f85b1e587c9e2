"""The real engine against the preview-only provider for azure-native."""

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
