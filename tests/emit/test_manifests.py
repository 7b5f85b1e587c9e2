"""Every emitted object against the real schemas, and the numbers inside them."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from planner.emit import vllm
from planner.emit.grouping import clusters
from planner.emit.labels import POOL_LABEL, aks_pool_name, quantity, service_name
from planner.emit.manifests import Provenance, karpenter_manifests, pool_labels, server_manifests
from planner.errors import PlannerError
from planner.plan import NodePool, Plan, VllmServer
from planner.units import GIB, MIB

SOURCE = Provenance("prod", "d" * 64, "team@example.com", "restricted", ("AU",))
OLDEST = "1.30"


def _core(plan: Plan) -> list[dict[str, Any]]:
    return [
        manifest
        for item in clusters(plan)
        for manifest in item.objects()
        if manifest["kind"] != "NodePool"
    ]


def _deployment(server: VllmServer, pool: NodePool) -> dict[str, Any]:
    return server_manifests(server, pool, SOURCE)[0]


def _pod(server: VllmServer, pool: NodePool) -> dict[str, Any]:
    return _deployment(server, pool)["spec"]["template"]["spec"]


def _flags(container: dict[str, Any]) -> dict[str, str | None]:
    args = container["args"][1:]
    following = [*args[1:], "--"]
    return {
        word: None if following[index].startswith("--") else following[index]
        for index, word in enumerate(args)
        if word.startswith("--")
    }


@pytest.mark.parametrize("version", [OLDEST, kubernetes_validate.latest_version()])
def test_every_core_object_fits_its_schema_strictly(plan: Plan, version: str) -> None:
    kinds = set()
    for manifest in _core(plan):
        kubernetes_validate.validate(manifest, version, strict=True)
        kinds.add(manifest["kind"])
    assert kinds == {
        "Namespace",
        "PriorityClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ResourceQuota",
        "NetworkPolicy",
        "ServiceAccount",
        "Deployment",
        "Service",
        "PodDisruptionBudget",
    }


def test_the_schema_check_would_notice(chat: VllmServer, h100: NodePool) -> None:
    broken = _deployment(chat, h100)
    broken["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, OLDEST, strict=True)


def test_flags_are_the_plans_numbers(chat: VllmServer, h100: NodePool) -> None:
    container = _pod(chat, h100)["containers"][0]
    assert container["command"] == ["vllm", "serve"]
    assert container["args"][0] == "/models/Qwen/Qwen3-32B"
    assert _flags(container) == {
        "--served-model-name": "Qwen/Qwen3-32B",
        "--port": "8000",
        "--tensor-parallel-size": "4",
        "--max-model-len": "16384",
        "--max-num-seqs": "96",
        "--max-num-batched-tokens": "8192",
        "--gpu-memory-utilization": "0.92",
        "--dtype": "bfloat16",
        "--kv-cache-dtype": "fp8",
        "--shutdown-timeout": "120",
        "--enable-prefix-caching": None,
        "--enable-chunked-prefill": None,
        "--disable-access-log-for-endpoints": "/health,/metrics",
    }


def test_a_hub_model_keeps_its_revision_and_goes_online(digest: VllmServer, a100: NodePool) -> None:
    pod = _pod(digest, a100)
    container = pod["containers"][0]
    flags = _flags(container)
    assert container["args"][0] == "meta-llama/Llama-3.1-8B-Instruct"
    assert flags["--revision"] == digest.model_revision
    assert flags["--pipeline-parallel-size"] == "2"
    assert "HF_HUB_OFFLINE" not in {item["name"] for item in container["env"]}
    assert "model" not in {volume["name"] for volume in pod["volumes"]}


def test_a_claim_is_mounted_read_only_and_offline(chat: VllmServer, h100: NodePool) -> None:
    pod = _pod(chat, h100)
    env = {item["name"]: item["value"] for item in pod["containers"][0]["env"]}
    assert (env["HF_HUB_OFFLINE"], env["TRANSFORMERS_OFFLINE"]) == ("1", "1")
    assert {"name": "model", "mountPath": "/models", "readOnly": True} in pod["containers"][0][
        "volumeMounts"
    ]
    claims = [
        volume["persistentVolumeClaim"] for volume in pod["volumes"] if volume["name"] == "model"
    ]
    assert claims == [{"claimName": "weights", "readOnly": True}]


def test_grace_is_pre_stop_and_drain_and_exit(chat: VllmServer, h100: NodePool) -> None:
    pod = _pod(chat, h100)
    pre_stop = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = int(_flags(pod["containers"][0])["--shutdown-timeout"] or 0)
    assert (pre_stop, drain) == (15, 120)
    assert pod["terminationGracePeriodSeconds"] == pre_stop + drain + 15 == 150


@pytest.mark.parametrize(
    ("startup_seconds", "budget"), [(1, 600), (400, 600), (700, 1050), (701, 1060)]
)
def test_startup_probes_cover_a_slow_load(
    chat: VllmServer, h100: NodePool, startup_seconds: int, budget: int
) -> None:
    server = chat.model_copy(update={"startup_seconds": startup_seconds})
    spec = _deployment(server, h100)["spec"]
    container = spec["template"]["spec"]["containers"][0]
    probe = container["startupProbe"]
    env = {item["name"]: item["value"] for item in container["env"]}
    assert probe["httpGet"] == {"path": "/health", "port": "http"}
    assert probe["periodSeconds"] * probe["failureThreshold"] == budget
    assert budget >= 1.5 * startup_seconds
    assert env["VLLM_ENGINE_READY_TIMEOUT_S"] == str(budget)
    assert spec["progressDeadlineSeconds"] > budget


def test_memory_holds_shared_memory(chat: VllmServer, h100: NodePool) -> None:
    pod = _pod(chat, h100)
    resources = pod["containers"][0]["resources"]
    shm = next(volume for volume in pod["volumes"] if volume["name"] == "shm")
    assert shm["emptyDir"] == {"medium": "Memory", "sizeLimit": "16Gi"}
    assert resources["requests"] == resources["limits"]
    assert resources["limits"] == {
        "cpu": "12",
        "memory": "96Gi",
        "ephemeral-storage": "30Gi",  # 20 of home, 8 of scratch, 2 of logs
        "nvidia.com/gpu": "4",
    }
    with pytest.raises(PlannerError, match="shared memory"):
        server_manifests(chat.model_copy(update={"shm_bytes": 96 * GIB}), h100, SOURCE)


def test_pool_and_server_share_one_label(
    chat: VllmServer, h100: NodePool, digest: VllmServer, a100: NodePool
) -> None:
    template = karpenter_manifests(h100)[0]["spec"]["template"]
    selector = _pod(chat, h100)["nodeSelector"]
    assert selector == {POOL_LABEL: "h100-interactive"}
    assert selector.items() <= template["metadata"]["labels"].items()
    assert _pod(digest, a100)["nodeSelector"].items() <= pool_labels(a100).items()


def test_tolerations_cover_the_taint(
    chat: VllmServer, h100: NodePool, digest: VllmServer, a100: NodePool
) -> None:
    (taint,) = karpenter_manifests(h100)[0]["spec"]["template"]["spec"]["taints"]
    gpu = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    sku = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    assert (taint["key"], taint["effect"]) == (gpu["key"], gpu["effect"])
    assert _pod(chat, h100)["tolerations"] == [gpu]
    assert _pod(digest, a100)["tolerations"] == [gpu, sku]


def test_pods_are_restricted_and_quiet(plan: Plan) -> None:
    deployments = [item for item in _core(plan) if item["kind"] == "Deployment"]
    assert len(deployments) == 2
    for manifest in deployments:
        pod = manifest["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        env = {item["name"]: item["value"] for item in container["env"]}
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 2000
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert (env["VLLM_NO_USAGE_STATS"], env["DO_NOT_TRACK"]) == ("1", "1")
        mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {"/dev/shm", "/tmp", env["HOME"]} <= mounted
        for name in ("XDG_CACHE_HOME", "HF_HOME", "TRITON_CACHE_DIR", "VLLM_CACHE_ROOT"):
            assert env[name].startswith(env["HOME"] + "/")
        assert not [name for name in env if "TOKEN" in name or "KEY" in name]


def test_rollout_needs_no_spare_gpu(chat: VllmServer, h100: NodePool) -> None:
    spec = _deployment(chat, h100)["spec"]
    assert spec["replicas"] == 3
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}


def test_selector_finds_pods_and_service_finds_them_too(chat: VllmServer, h100: NodePool) -> None:
    deployment, service = server_manifests(chat, h100, SOURCE)
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    selector = deployment["spec"]["selector"]["matchLabels"]
    assert selector.items() <= labels.items()
    assert service["spec"]["selector"] == selector
    assert "classification" not in labels  # a change of it would restart every server
    assert deployment["metadata"]["labels"]["classification"] == "restricted"
    assert labels["llm-capacity.dev/classification"] == "restricted"
    assert service["metadata"]["namespace"] == "llm-interactive"


def test_digest_is_on_the_deployment_but_rolls_no_pod(chat: VllmServer, h100: NodePool) -> None:
    deployment = _deployment(chat, h100)
    annotations = deployment["metadata"]["annotations"]
    assert annotations["llm-capacity.dev/capacity-digest"] == "d" * 64
    assert annotations["llm-capacity.dev/owner"] == "team@example.com"
    assert annotations["owner"] == "chat-team@example.com"  # no label could hold it
    assert annotations["llm-capacity.dev/residency"] == "AU"
    assert deployment["spec"]["template"]["metadata"]["annotations"] == {
        "karpenter.sh/do-not-disrupt": "true"
    }


@pytest.mark.parametrize(
    ("name", "service"), [("vllm", "llm-vllm"), ("3d-chat", "llm-3d-chat"), ("chat", "chat")]
)
def test_service_names_are_legal_and_never_vllm(
    chat: VllmServer, h100: NodePool, name: str, service: str
) -> None:
    deployment, found = server_manifests(chat.model_copy(update={"name": name}), h100, SOURCE)
    assert deployment["metadata"]["name"] == name
    assert found["metadata"]["name"] == service_name(name) == service


@pytest.mark.parametrize(
    ("image", "digest", "expected"),
    [
        ("vllm/vllm-openai:v0.33.0", None, "vllm/vllm-openai:v0.33.0"),
        ("vllm/vllm-openai:v0.33.0", "sha256:ff", "vllm/vllm-openai@sha256:ff"),
        (
            "registry.example.com:5000/a/vllm:v1",
            "sha256:ff",
            "registry.example.com:5000/a/vllm@sha256:ff",
        ),
        (
            "registry.example.com:5000/a/vllm",
            "sha256:ff",
            "registry.example.com:5000/a/vllm@sha256:ff",
        ),
        ("vllm:v1", "sha256:ff", "vllm@sha256:ff"),
        ("a/vllm:v1@sha256:00", "sha256:ff", "a/vllm@sha256:ff"),
    ],
)
def test_image_by_digest(chat: VllmServer, image: str, digest: str | None, expected: str) -> None:
    server = chat.model_copy(update={"image": image, "image_digest": digest})
    assert vllm.image_reference(server) == expected


def test_karpenter_pool_is_bounded_and_lasting(h100: NodePool) -> None:
    (manifest,) = karpenter_manifests(h100, load_seconds=1050)
    spec = manifest["spec"]
    assert spec["limits"] == {"nvidia.com/gpu": "16"}
    assert spec["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert spec["disruption"]["consolidateAfter"] == "1050s"
    assert spec["template"]["spec"]["expireAfter"] == "Never"
    assert spec["template"]["spec"]["nodeClassRef"] == {
        "group": "karpenter.k8s.aws",
        "kind": "EC2NodeClass",
        "name": "default",
    }
    requirements = {
        item["key"]: item["values"] for item in spec["template"]["spec"]["requirements"]
    }
    assert requirements == {
        "node.kubernetes.io/instance-type": ["p5.48xlarge"],
        "karpenter.sh/capacity-type": ["on-demand"],
        "topology.kubernetes.io/zone": ["ap-southeast-2a", "ap-southeast-2b"],
    }


def test_karpenter_node_class_follows_the_cloud(h100: NodePool) -> None:
    (azure,) = karpenter_manifests(h100.model_copy(update={"cloud": "azure"}))
    assert azure["spec"]["template"]["spec"]["nodeClassRef"]["kind"] == "AKSNodeClass"
    with pytest.raises(PlannerError, match="no Karpenter node class is known for gcp"):
        karpenter_manifests(h100.model_copy(update={"cloud": "gcp"}))


def test_batch_yields_to_interactive(plan: Plan) -> None:
    found = {
        item["metadata"]["name"]: item for item in _core(plan) if item["kind"] == "PriorityClass"
    }
    interactive, batch = found["llm-prod-interactive"], found["llm-prod-batch"]
    assert interactive["value"] > 0 > batch["value"]
    assert (interactive["preemptionPolicy"], batch["preemptionPolicy"]) == (
        "PreemptLowerPriority",
        "Never",
    )
    used = {
        item["metadata"]["name"]: item["spec"]["template"]["spec"]["priorityClassName"]
        for item in _core(plan)
        if item["kind"] == "Deployment"
    }
    assert used == {"chat": "llm-prod-interactive", "digest": "llm-prod-batch"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"node_pool": "other"}, "not on h100-interactive"),
        ({"gpus_per_replica": 8}, "4 x 1"),
        ({"tensor_parallel": 16, "gpus_per_replica": 16}, "has 8"),
        ({"vllm_version": "0.17.0"}, "one of: 0.32, 0.33"),
        ({"vllm_version": "nightly"}, "not a release number"),
        ({"workload": "no spaces here"}, "cannot be a Kubernetes label"),
        ({"name": "Chat_1"}, "cannot name a Kubernetes object"),
    ],
)
def test_what_would_never_run_is_refused(
    chat: VllmServer, h100: NodePool, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(PlannerError, match=words):
        server_manifests(chat.model_copy(update=change), h100, SOURCE)


def test_a_plan_that_cannot_be_emitted_lists_every_reason(plan: Plan) -> None:
    resources = plan.resources
    chat, digest = resources.servers
    servers = (
        chat.model_copy(update={"replicas": 5}),
        chat.model_copy(update={"replicas": 0}),
        digest.model_copy(update={"node_pool": "gone"}),
    )
    broken = plan.model_copy(
        update={"resources": resources.model_copy(update={"servers": servers})}
    )
    with pytest.raises(PlannerError) as caught:
        clusters(broken)
    text = str(caught.value)
    assert "server prod-sydney/chat occurs twice" in text
    assert "cluster batch-aks has no pool gone" in text
    assert "servers ask for 20 GPUs, 2 nodes of 8 have 16" in text


@pytest.mark.parametrize("name", ["a100-batch", "A100", "8gpu", "gpu", "-", "h100-interactive-x"])
def test_agent_pool_names_fit_aks(name: str) -> None:
    found = aks_pool_name(name)
    assert found == aks_pool_name(name)
    assert 1 <= len(found) <= 12
    assert found.isalnum()
    assert found.islower()
    assert found[0].isalpha()


def test_agent_pool_names_stay_apart() -> None:
    assert aks_pool_name("h100-interactive") != aks_pool_name("h100-interactive-2")
    assert aks_pool_name("gpu") == "gpu"


def test_quantities_are_exact() -> None:
    assert [quantity(n) for n in (GIB, 3 * MIB, GIB + 1)] == ["1Gi", "3Mi", "1073741825"]
