"""A stack on three clouds through the real program, engine and typed SDKs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from planner.api import plan_stack
from planner.toolchain.cache import short_digest
from tests.clouds import CONFIRMED, PLATFORM, WORKLOADS
from tools.shell_env import PROJECT

pytestmark = pytest.mark.engine

Run = Callable[..., "CompletedProcess[str]"]
NON_INTERACTIVE = ("--stack", "s", "--non-interactive")
UP = ("up", "--yes", "--policy-pack", "policies/pulumi")
CONFIRMED_ALL = {
    **PLATFORM,
    "confirmed_capacity": [
        {**CONFIRMED, "account": account, "deployment_type": kind, "model": model, "units": 1_000}
        for account, kind, model in (
            ("br-us", "provisioned", "nova-pro"),
            ("oai-us", "DataZoneProvisionedManaged", "gpt-4.1-mini"),
            ("vx-us", "pt_us_dedicated", "gemini-3.5-flash"),
        )
    ],
}


@pytest.fixture
def run(project: Callable[..., Path], engine_env: dict[str, str], run_pulumi: Any) -> Run:
    """`run(workloads, platform, *command)`: write the stack, then run one command on it."""

    def go(
        workloads: tuple[dict[str, Any], ...],
        platform: dict[str, Any],
        *command: str,
        signed: bool = False,
    ) -> CompletedProcess[str]:
        folder = project(*workloads, platform=platform)
        shutil.copy(PROJECT / "__main__.py", folder)
        shutil.copytree(PROJECT / "policies", folder / "policies", dirs_exist_ok=True)
        name = f"c{short_digest([str(folder).encode()])}"
        (folder / "Pulumi.yaml").write_text(
            f"name: {name}\nruntime: python\nstackConfigDir: stacks\n"
        )
        settings = folder / "stacks" / "Pulumi.s.yaml"
        settings.write_text("config:\n  llm-capacity:folder: s\n")
        if signed:
            orders = plan_stack(folder, "s", write=False).resources.purchases
            digests = json.dumps([order.order_digest for order in orders])
            settings.write_text(
                f"config:\n  llm-capacity:folder: s\n  llm-capacity:signed-purchases: {digests}\n"
            )
        made = run_pulumi(["stack", "init", "s", "--non-interactive"], folder, engine_env)
        assert made.returncode == 0, made.stderr
        return run_pulumi([*command, *NON_INTERACTIVE], folder, engine_env)

    return go


def steps(answer: CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert answer.returncode == 0, answer.stdout + answer.stderr
    found = json.loads(answer.stdout[answer.stdout.index("{") :])["steps"]
    return {step["newState"]["urn"].split("::")[-1]: step["newState"] for step in found}


def test_one_stack_previews_on_three_clouds(run: Run) -> None:
    found = steps(run(WORKLOADS, PLATFORM, "preview", "--json"))
    types = {name: state["type"] for name, state in found.items()}
    assert (
        types.items()
        >= {
            "oai-us-account": "azure-native:cognitiveservices:Account",
            "oai-us-copilot-spill": "azure-native:cognitiveservices:Deployment",
            "oai-us-copilot": "azure-native:cognitiveservices:Deployment",
            "br-us-notes": "aws:bedrock/provisionedModelThroughput:ProvisionedModelThroughput",
            "br-us-tags": "aws:bedrock/inferenceProfile:InferenceProfile",
            "vx-us-api": "gcp:projects/service:Service",
            "vx-us-vision-overflow": "gcp:monitoring/alertPolicy:AlertPolicy",
        }.items()
    )
    floor = found["oai-us-copilot"]
    assert floor["inputs"]["properties"]["spilloverDeploymentName"] == "copilot-spill"
    assert floor["protect"] is True
    assert [urn.split("::")[-1] for urn in floor["dependencies"]] == ["oai-us-copilot-spill"]
    assert found["oai-us-copilot-spill"]["inputs"]["sku"]["name"] == "DataZoneStandard"
    units = found["br-us-notes"]
    assert units["inputs"]["commitmentDuration"] == "SixMonths"
    assert units["inputs"]["modelArn"].endswith("::foundation-model/amazon.nova-pro-v1:0:24k")
    assert units["protect"] is True
    source = found["br-us-tags"]["inputs"]["modelSource"]["copyFrom"]
    assert source == (
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0"
    )
    # Nothing that is bought is a resource, but for model units, which are signed for.
    bought = [kind for kind in types.values() if "eservation" in kind or "rderedT" in kind]
    assert bought == []


def test_outputs_have_the_steps_and_the_records_to_sign(run: Run) -> None:
    answer = run(WORKLOADS, PLATFORM, "preview", "--diff")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    for part in (
        "NOT SIGNABLE: CAPACITY IS NOT CONFIRMED",
        "X-Vertex-AI-LLM-Request-Type",
        "1,000 are there, enough",
        "purchases/notes.md",
    ):
        assert part in answer.stdout + answer.stderr, part


@pytest.mark.parametrize(
    ("index", "package"), [(0, "azure-native"), (2, "aws"), (3, "gcp")], ids=["azure", "aws", "gcp"]
)
def test_a_stack_on_one_cloud_previews_and_a_real_create_is_refused(
    run: Run, index: int, package: str
) -> None:
    workload = (WORKLOADS[index],)
    # With its preview once; what all three clouds preview is in the test above.
    more = () if package == "aws" else ("--skip-preview",)
    answer = run(workload, CONFIRMED_ALL, *UP, *more, signed=True)
    told = answer.stdout + answer.stderr
    assert answer.returncode != 0
    # The plan, the pack and the program went through; the stand-in refused the update.
    assert f"the preview-only provider does not create {package} resources" in told
    assert "Traceback" not in told


def test_units_that_nobody_signed_for_are_never_bought(run: Run) -> None:
    answer = run((WORKLOADS[1],), PLATFORM, *UP)
    told = answer.stdout + answer.stderr
    assert answer.returncode != 0
    assert "which nobody signed for" in told
    assert "COM-001" in told
    # Refused before the provider was asked for anything real.
    assert "does not create" not in told
    assert "Traceback" not in told


COMPONENTS = """
import pulumi

from planner.emit.aws import BedrockCapacity, BedrockCapacityArgs
from planner.emit.azure import AzureDeployments, AzureDeploymentsArgs
from planner.emit.gcp import VertexProject, VertexProjectArgs
from planner.plan import ProviderAccount, ProviderDeployment

common = dict(
    workload="w", tier="interactive", region="r", model="m", model_version=None, model_id="m",
    capacity=4, resource_group="rg", spillover_to=None,
)
azure = dict(common, provider="azure", account="oai")
AzureDeployments("oai", AzureDeploymentsArgs(
    "oai",
    (
        ProviderDeployment(
            **dict(azure, spillover_to="spill"), name="floor", kind="provisioned",
            deployment_type="GlobalProvisionedManaged",
        ),
        ProviderDeployment(
            **azure, name="spill", kind="payg", deployment_type="GlobalStandard"
        ),
    ),
    ProviderAccount(
        name="oai", provider="azure", region="eastus2", resource_group="rg", create=True
    ),
))
aws = dict(common, provider="aws", account="br", model_arn="arn")
BedrockCapacity("br", BedrockCapacityArgs("br", "us-east-1", (
    ProviderDeployment(
        **aws, name="units", kind="provisioned", deployment_type="provisioned", term_months=1
    ),
    ProviderDeployment(**aws, name="tagged", kind="payg", deployment_type="us"),
), "123456789012"))
gcp = dict(common, provider="gcp", account="vx")
VertexProject("vx", VertexProjectArgs("vx", "project", (
    ProviderDeployment(
        **gcp, name="order", kind="provisioned", deployment_type="pt_us_dedicated"
    ),
)))
"""


def test_components_alone_preview_with_their_parents(
    throw_away: Callable[[str], Path], run_pulumi: Any, engine_env: dict[str, str]
) -> None:
    command = ["preview", "--json", "--stack", "dev", "--non-interactive"]
    found = steps(run_pulumi(command, throw_away(COMPONENTS), engine_env))
    parents = {name: state.get("parent", "").split("::")[-1] for name, state in found.items()}
    assert (
        parents.items()
        >= {
            "oai-account": "oai",
            "oai-floor": "oai",
            "oai-spill": "oai",
            "br-provider": "br",
            "br-units": "br",
            "br-tagged": "br",
            "vx-api": "vx",
            "vx-order-overflow": "vx",
        }.items()
    )
    assert found["br-units"]["inputs"]["commitmentDuration"] == "OneMonth"
