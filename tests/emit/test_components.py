"""The Pulumi components, against a recording monitor: order, parents, protection."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from planner.emit import kubernetes, stack
from planner.emit.azure import AzureDeployments, AzureDeploymentsArgs
from planner.emit.grouping import clusters
from planner.plan import Plan
from tests.emit.recorder import Recorder

KUBECONFIGS = {"prod-sydney": "kubeconfig: sydney", "batch-aks": "kubeconfig: batch"}


def _emit(plan: Plan, kubeconfigs: dict[str, str]) -> Callable[[], None]:
    return lambda: stack.emit(plan, kubeconfigs=kubeconfigs)


def test_everything_is_registered_once(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    assert sorted(recorder.types()) == sorted(
        [
            "aws:bedrock/inferenceProfile:InferenceProfile",
            "azure-native:cognitiveservices:Deployment",
            "azure-native:cognitiveservices:Deployment",
            "azure-native:containerservice:AgentPool",
            *2
            * [
                "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy",
                "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding",
                "kubernetes:apps/v1:Deployment",
                "kubernetes:core/v1:Namespace",
                "kubernetes:core/v1:Service",
                "kubernetes:core/v1:ServiceAccount",
                "kubernetes:scheduling.k8s.io/v1:PriorityClass",
            ],
            *4
            * ["kubernetes:core/v1:ResourceQuota", "kubernetes:networking.k8s.io/v1:NetworkPolicy"],
            "kubernetes:karpenter.sh/v1:NodePool",
            "kubernetes:policy/v1:PodDisruptionBudget",
            "llm-capacity:aws:BedrockCapacity",
            "llm-capacity:azure:AzureDeployments",
            "llm-capacity:kubernetes:GpuNodePool",
            "llm-capacity:kubernetes:GpuNodePool",
            "llm-capacity:kubernetes:ServingCluster",
            "llm-capacity:kubernetes:ServingCluster",
            "pulumi:providers:aws",
            "pulumi:providers:kubernetes",
            "pulumi:providers:kubernetes",
        ]
    )


def test_resources_hang_on_their_component(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    for request in recorder.requests:
        if request.type.startswith("llm-capacity:") and "GpuNodePool" not in request.type:
            continue
        component = request.parent.split("::")[-1]
        assert component, request.name
        assert request.name.startswith(f"{component}-"), request.name


def test_kubernetes_objects_use_their_clusters_provider(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    objects = [r for r in recorder.requests if r.type.startswith("kubernetes:")]
    assert len(objects) == 24
    for request in objects:
        cluster = "prod-sydney" if request.name.startswith("prod-sydney") else "batch-aks"
        assert f"::{cluster}-provider::" in request.provider


def test_objects_reach_the_engine_as_the_manifests_say(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    sydney = next(item for item in clusters(plan) if item.cluster == "prod-sydney")
    deployment, service, *_ = sydney.servers[0].manifests()
    assert recorder.inputs("prod-sydney-chat-deployment") == deployment
    assert recorder.inputs("prod-sydney-chat-service") == service
    (pool,) = sydney.node_pools()
    assert recorder.inputs("prod-sydney-pool-h100-interactive-nodepool") == pool
    (tier,) = sydney.priority_classes()
    assert recorder.inputs("prod-sydney-llm-prod-interactive") == tier


def test_servers_wait_for_nodes_and_long_enough(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    request = recorder.named("prod-sydney-chat-deployment")
    waits = {urn.split("::")[-1] for urn in request.dependencies}
    assert {
        "prod-sydney-namespace-llm-interactive",
        "prod-sydney-networkpolicy-llm-interactive-default-deny",
        "prod-sydney-resourcequota-llm-interactive-llm-gpus",
        "prod-sydney-chat-networkpolicy",
        "prod-sydney-chat-serviceaccount",
        "prod-sydney-llm-prod-interactive",
        "prod-sydney-pool-h100-interactive-nodepool",
    } <= waits
    # 1,050 s to start, 150 s to stop, 900 s for a node; three pods one after another.
    assert (request.customTimeouts.create, request.customTimeouts.update) == ("2100s", "6300s")


def test_agent_pool_is_the_pool(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    found = recorder.inputs("batch-aks-pool-a100-batch-agentpool")
    assert found["nodeLabels"]["llm-capacity.dev/gpu-pool"] == "a100-batch"
    assert found["nodeTaints"] == ["nvidia.com/gpu=present:NoSchedule"]
    assert found["agentPoolName"] == "a100bat" + found["agentPoolName"][7:]
    assert (found["resourceGroupName"], found["resourceName"]) == ("rg-batch", "batch-aks")
    assert (found["minCount"], found["maxCount"], found["count"]) == (0, 2, 0)
    assert found["enableAutoScaling"] is True
    assert found["upgradeSettings"] == {"maxSurge": "0", "maxUnavailable": "1"}
    assert list(recorder.named("batch-aks-pool-a100-batch-agentpool").ignoreChanges) == ["count"]


def test_a_pool_of_fixed_size_does_not_scale(plan: Plan, recorder: Recorder) -> None:
    pool = plan.resources.node_pools[1].model_copy(update={"min_nodes": 2})
    resources = plan.resources.model_copy(
        update={"node_pools": (plan.resources.node_pools[0], pool)}
    )
    recorder.run(_emit(plan.model_copy(update={"resources": resources}), KUBECONFIGS))
    found = recorder.inputs("batch-aks-pool-a100-batch-agentpool")
    assert (found["enableAutoScaling"], found["count"]) == (False, 2)
    assert "minCount" not in found


def test_payg_comes_before_what_spills_to_it(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    payg = recorder.named("oai-sydney-assist-payg")
    provisioned = recorder.named("oai-sydney-assist-ptu")
    order = [request.name for request in recorder.requests]
    assert order.index("oai-sydney-assist-payg") < order.index("oai-sydney-assist-ptu")
    assert [urn.split("::")[-1] for urn in provisioned.dependencies] == ["oai-sydney-assist-payg"]
    assert not payg.dependencies
    assert (payg.protect, provisioned.protect) == (False, True)
    assert recorder.inputs("oai-sydney-assist-ptu") == {
        "resourceGroupName": "rg-ai",
        "accountName": "oai-sydney",
        "deploymentName": "assist-ptu",
        "properties": {
            "model": {"format": "OpenAI", "name": "gpt-4.1-mini", "version": "2025-04-14"},
            "versionUpgradeOption": "NoAutoUpgrade",
            "spilloverDeploymentName": "assist-payg",
        },
        "sku": {"name": "ProvisionedManaged", "capacity": 50},
        "tags": {"workload": "assist", "tier": "interactive"},
    }
    payg_properties = recorder.inputs("oai-sydney-assist-payg")["properties"]
    assert payg_properties == {
        "model": {"format": "OpenAI", "name": "gpt-4.1-mini"},
        "versionUpgradeOption": "OnceCurrentVersionExpired",
    }


def test_an_account_changes_one_deployment_at_a_time(plan: Plan, recorder: Recorder) -> None:
    ptu, payg = plan.resources.deployments[:2]
    many = tuple(
        item.model_copy(update={"name": f"{item.name}-{n}", "spillover_to": None})
        for n in range(3)
        for item in (ptu, payg)
    )
    recorder.run(lambda: AzureDeployments("oai", AzureDeploymentsArgs("oai-sydney", many)))
    chain = [r for r in recorder.requests if r.type.startswith("azure-native")]
    assert [request.name for request in chain] == [
        *(f"oai-assist-payg-{n}" for n in range(3)),
        *(f"oai-assist-ptu-{n}" for n in range(3)),
    ]
    for earlier, later in itertools.pairwise(chain):
        assert [urn.split("::")[-1] for urn in later.dependencies] == [earlier.name]


def test_a_model_of_another_publisher_keeps_its_format(plan: Plan, recorder: Recorder) -> None:
    payg = plan.resources.deployments[1].model_copy(update={"model_format": "DeepSeek"})
    recorder.run(lambda: AzureDeployments("oai", AzureDeploymentsArgs("oai-sydney", (payg,))))
    assert recorder.inputs("oai-assist-payg")["properties"]["model"]["format"] == "DeepSeek"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"spillover_to": "nobody"}, "no pay-as-you-go deployment of the account"),
        ({"spillover_to": "assist-ptu"}, "no pay-as-you-go deployment of the account"),
        ({"resource_group": None}, "needs the account's resource_group"),
        ({"name": "assist-payg"}, "occurs twice"),
        ({"capacity": 0}, "has a capacity of 0"),
    ],
)
def test_a_deployment_that_cannot_be_is_refused_before_anything(
    plan: Plan, recorder: Recorder, change: dict[str, Any], words: str
) -> None:
    ptu, *others = plan.resources.deployments
    resources = plan.resources.model_copy(
        update={"deployments": (ptu.model_copy(update=change), *others)}
    )
    with pytest.raises(pulumi.RunError, match=words):
        recorder.run(_emit(plan.model_copy(update={"resources": resources}), KUBECONFIGS))
    assert recorder.requests == []


def test_preview_without_kubeconfig_names_no_cluster(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, {}))
    provider = recorder.inputs("prod-sydney-provider")
    assert provider["kubeconfig"] == kubernetes.NO_CLUSTER
    assert provider["clusterIdentifier"] == "prod-sydney"
    assert provider["skipUpdateUnreachable"] == "false"
    assert [text for text in recorder.logs if "prod-sydney was not contacted" in text]


def test_a_real_run_without_kubeconfig_changes_nothing(plan: Plan, recorder: Recorder) -> None:
    with pytest.raises(pulumi.RunError) as caught:
        recorder.run(_emit(plan, {"prod-sydney": "given"}), preview=False)
    assert "no kubeconfig for batch-aks" in str(caught.value)
    assert "llm-capacity:kubeconfig-batch-aks" in str(caught.value)
    assert recorder.requests == []


def test_the_component_alone_refuses_too(plan: Plan, recorder: Recorder) -> None:
    args = kubernetes.ServingClusterArgs(clusters(plan)[0], None)
    with pytest.raises(pulumi.RunError, match="no kubeconfig for batch-aks"):
        recorder.run(lambda: kubernetes.ServingCluster("batch-aks", args), preview=False)


def test_kubeconfigs_are_secret(plan: Plan, recorder: Recorder) -> None:
    recorder.run(_emit(plan, KUBECONFIGS))
    found = recorder.inputs("prod-sydney-provider")["kubeconfig"]
    signature = "4dabf18193072939515e22adb298388d"
    assert found == {signature: "1b47061264138c4ac30d75fd1eb44270", "value": "kubeconfig: sydney"}


@pytest.mark.parametrize("verdict", ["deny", "unavailable"])
def test_a_denied_plan_is_not_emitted(plan: Plan, recorder: Recorder, verdict: str) -> None:
    with pytest.raises(pulumi.RunError, match=verdict):
        recorder.run(_emit(plan.model_copy(update={"verdict": verdict}), KUBECONFIGS))
    assert recorder.requests == []


def test_without_the_azure_sdk_the_error_says_what_to_install(
    plan: Plan, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pulumi_azure_native.cognitiveservices", None)
    with pytest.raises(pulumi.RunError, match=r"pip install 'llm-capacity\[azure\]'"):
        recorder.run(_emit(plan, KUBECONFIGS))


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_kubeconfig_never_means_the_ambient_one(
    plan: Plan, recorder: Recorder, blank: str
) -> None:
    with pytest.raises(pulumi.RunError, match="blank"):
        recorder.run(_emit(plan, {"prod-sydney": blank}))
    assert "prod-sydney-provider" not in {request.name for request in recorder.requests}


def test_nothing_is_made_inside_apply() -> None:
    uses = [
        line.strip()
        for source in sorted(Path(stack.__file__).parent.glob("*.py"))
        for line in source.read_text(encoding="utf-8").splitlines()
        if ".apply(" in line or "Output.all(" in line
    ]
    # The one makes nothing, the other waits.
    assert uses == [
        "return pulumi.Output.secret(kubeconfig).apply(checked)",
        "return guard.urn.apply(after)",
    ]


def test_outputs_are_plain_and_complete(plan: Plan) -> None:
    found = stack.outputs(plan, clusters(plan))
    assert found["capacity_digest"] == plan.capacity_digest
    assert found["evidence_digest"] == plan.evidence_digest
    assert found["verdict"] == "allow"
    assert found["totals"]["total_usd_per_month"] == 101_000.0
    assert set(found["decisions"]) == {"chat", "digest", "assist", "notes"}
    assert found["endpoints"]["prod-sydney"] == {"chat": "http://chat.llm-interactive.svc:8000"}
    assert [item["order"]["units"] for item in found["purchases"]] == [50]
    assert [step["number"] for step in found["steps"]] == list(range(1, len(found["steps"]) + 1))


def test_manual_steps_name_what_the_program_leaves(plan: Plan) -> None:
    steps = stack.outputs(plan, clusters(plan))["manual_steps"]
    assert len(steps) == len(set(steps)) == 9
    text = "\n".join(steps)
    assert "Sign for 50 PTU of ProvisionedManaged" in text
    assert "claim weights must hold Qwen/Qwen3-32B at revision 9216db57" in text
    assert text.index("Quota for") < text.index("CAPACITY NOT CONFIRMED") < text.index("Sign for")
    # What the program does itself is no step of a person.
    assert "Deploy" not in text
    assert "inference profile" not in text
