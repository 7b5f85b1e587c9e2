"""The objects around a server: tenancy, network, scaling, routing, queues."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.emit.scaling import queries, waiting_target
from planner.emit.tenancy import quota_manifests
from planner.features import Features, Scaling, SecretKey
from planner.plan import Plan, VllmServer
from planner.units import GIB
from planner.workload import BatchWindow
from tests.emit.conftest import A100, CHAT, DIGEST, H100
from tests.emit.objects import EVERYTHING, full, objects, one, scaled, site, with_servers

CORE = ("v1", "apps/v1", "policy/v1", "networking.k8s.io/v1", "scheduling.k8s.io/v1")


def kinds(plan: Plan) -> set[str]:
    return {item["kind"] for item in objects(plan)}


def test_core_kinds_pass_the_strict_schema(plan: Plan) -> None:
    found = [item for item in objects(full(plan)) if item["apiVersion"] in CORE]
    for item in found:
        kubernetes_validate.validate(item, "1.34", strict=True)
    assert len(found) == 20


@pytest.mark.parametrize(
    ("feature", "kind"),
    [
        ("keda", "ScaledObject"),
        ("pod_monitor", "PodMonitor"),
        ("kueue", "ClusterQueue"),
        ("gateway", "HTTPRoute"),
        ("inference_pool", "InferencePool"),
    ],
)
def test_nothing_is_emitted_for_a_feature_that_is_not_declared(
    plan: Plan, feature: str, kind: str
) -> None:
    whole = full(plan)
    assert kind in kinds(whole)
    off = EVERYTHING.model_copy(update={feature: getattr(Features(), feature)})
    sites = tuple(site(item.name, off) for item in whole.resources.sites)
    without = whole.model_copy(
        update={"resources": whole.resources.model_copy(update={"sites": sites})}
    )
    assert kinds(whole) - kinds(without) >= {kind}


def test_tiers_have_namespaces_quotas_and_closed_doors_of_their_own(plan: Plan) -> None:
    found = objects(full(plan))
    namespaces = {i["metadata"]["name"]: i for i in found if i["kind"] == "Namespace"}
    assert set(namespaces) == {"llm-interactive", "llm-batch"}
    for name, item in namespaces.items():
        labels = item["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
        assert labels["llm-capacity.dev/tier"] == name.removeprefix("llm-")
        deny = [
            i["spec"]
            for i in found
            if i["kind"] == "NetworkPolicy"
            and (i["metadata"]["namespace"], i["metadata"]["name"]) == (name, "default-deny")
        ]
        assert deny == [{"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}]


def test_a_quota_is_the_plan_with_what_a_rollout_adds(plan: Plan) -> None:
    # Three replicas of four GPUs on two nodes of eight: room for a fourth.
    roomy = [i for i in objects(with_servers(plan, CHAT)) if i["kind"] == "ResourceQuota"]
    gpus, servers = roomy
    assert gpus["spec"] == {"hard": {"requests.nvidia.com/gpu": "16"}}
    assert servers["spec"]["hard"] == {
        "pods": "4",
        "requests.cpu": "48",
        "requests.memory": "384Gi",
    }
    (scope,) = servers["spec"]["scopeSelector"]["matchExpressions"]
    assert scope["values"] == ["llm-prod-interactive"]
    # Scaled to all four, there is none.
    packed = one(with_servers(plan, scaled(CHAT, 2, 4)), "ResourceQuota", "llm-gpus")
    assert packed["spec"]["hard"]["requests.nvidia.com/gpu"] == "16"


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.sampled_from([1, 2, 4, 8]), st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_a_quota_never_holds_back_what_the_plan_runs(sizes: list[tuple[int, int, bool]]) -> None:
    servers = [
        (CHAT.model_copy(update={"replicas": count, "gpus_per_replica": gpus}), 1, surges)
        for count, gpus, surges in sizes
    ]
    gpus, rest = quota_manifests("llm-interactive", "interactive", servers, "p")
    asked = sum((count + surges) * each for count, each, surges in sizes)
    assert int(gpus["spec"]["hard"]["requests.nvidia.com/gpu"]) == asked
    assert int(rest["spec"]["hard"]["pods"]) == sum(count + surges for count, _, surges in sizes)


def test_who_may_call_and_what_may_be_called(plan: Plan) -> None:
    chat = one(full(plan), "NetworkPolicy", "chat")["spec"]
    digest = one(full(plan), "NetworkPolicy", "digest")["spec"]

    def namespaces(spec: dict[str, Any]) -> list[str]:
        (rule,) = spec["ingress"]
        assert rule["ports"] == [{"protocol": "TCP", "port": 8000}]
        return [
            source["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
            for source in rule["from"]
            if "namespaceSelector" in source
        ]

    assert namespaces(chat) == ["gateways", "monitoring"]
    assert namespaces(digest) == ["jobs", "monitoring"]
    # A claim is mounted by the node: names alone are looked up.
    (dns,) = chat["egress"]
    assert {port["port"] for port in dns["ports"]} == {53}
    # The hub is on the internet, and the cloud's credentials service is not.
    _, hub = digest["egress"]
    assert hub["ports"] == [{"protocol": "TCP", "port": 443}]
    assert hub["to"] == [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}}]


def test_nobody_declared_means_nobody_calls(plan: Plan) -> None:
    closed = site("prod-sydney", Features(), gateway_namespace=None, monitoring_namespace=None)
    alone = with_servers(plan, CHAT)
    alone = alone.model_copy(
        update={"resources": alone.resources.model_copy(update={"sites": (closed,)})}
    )
    policy = one(alone, "NetworkPolicy", "chat")["spec"]
    assert "ingress" not in policy
    assert "Ingress" in policy["policyTypes"]


def test_a_server_is_itself_and_holds_no_token(plan: Plan) -> None:
    reader = CHAT.model_copy(update={"service_account_annotations": {"example.com/role": "r"}})
    account = one(with_servers(plan, reader), "ServiceAccount", "chat")
    pod = one(with_servers(plan, reader), "Deployment", "chat")["spec"]["template"]["spec"]
    assert account["automountServiceAccountToken"] is False
    assert account["metadata"]["annotations"] == {"example.com/role": "r"}
    assert pod["serviceAccountName"] == "chat"


def test_a_drain_takes_one_pod_at_a_time_of_interactive_servers_only(plan: Plan) -> None:
    budgets = [item for item in objects(full(plan)) if item["kind"] == "PodDisruptionBudget"]
    (budget,) = budgets
    assert budget["metadata"]["name"] == "chat"
    assert budget["spec"]["maxUnavailable"] == 1
    assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_an_autoscaler_owns_the_replicas_alone(plan: Plan) -> None:
    whole = full(plan)
    assert "replicas" not in one(whole, "Deployment", "chat")["spec"]
    spec = one(whole, "ScaledObject", "chat")["spec"]
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 4)
    assert spec["fallback"]["replicas"] == 3
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    waiting, cache = spec["triggers"]
    assert waiting["metadata"]["query"] == (
        'sum(vllm:num_requests_waiting{model_name="Qwen/Qwen3-32B",namespace="llm-interactive"})'
    )
    assert cache["metadata"]["threshold"] == "0.6"
    assert {trigger["metricType"] for trigger in (waiting, cache)} == {"AverageValue"}


def test_scaling_leaves_headroom_while_a_replica_starts(plan: Plan) -> None:
    """DP-11 (llm-d/llm-d-autoscaling#1517): out at 60 % of the cache or 30 waiting, 15 s poll.

    What is left of the cache is what load may grow into while one more replica starts, and
    no second one is added within that time.
    """
    spec = one(full(plan), "ScaledObject", "chat")["spec"]
    _, cache = spec["triggers"]
    assert 1 - float(cache["metadata"]["threshold"]) >= 0.4
    assert spec["pollingInterval"] == 15
    assert waiting_target(CHAT) == 30
    behaviour = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    (up,) = behaviour["scaleUp"]["policies"]
    assert (up["value"], up["periodSeconds"]) == (1, CHAT.startup_seconds)
    assert behaviour["scaleDown"]["stabilizationWindowSeconds"] == 300


@pytest.mark.parametrize(("limit", "target"), [(96 + 20, 10), (96 + 1, 1), (96 + 600, 30)])
def test_half_of_what_may_wait_adds_a_replica(limit: int, target: int) -> None:
    assert waiting_target(CHAT.model_copy(update={"max_queued_requests": limit})) == target


def test_batch_runs_in_its_window_and_an_hour_before(plan: Plan) -> None:
    window = BatchWindow(hours="22:30-06:00", days=("fri", "sat"))
    late = DIGEST.model_copy(
        update={"scaling": Scaling(min_replicas=0, max_replicas=1, window=window)}
    )
    spec = one(with_servers(plan, late), "ScaledObject", "digest")["spec"]
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (0, 1)
    assert [(t["metadata"]["start"], t["metadata"]["end"]) for t in spec["triggers"]] == [
        ("30 21 * * 5", "0 6 * * 6"),
        ("30 21 * * 6", "0 6 * * 0"),
    ]
    assert "fallback" not in spec
    early = window.model_copy(update={"hours": "00:15-05:00", "days": ("sun",)})
    early_server = late.model_copy(
        update={"scaling": Scaling(min_replicas=0, max_replicas=1, window=early)}
    )
    (trigger,) = one(with_servers(plan, early_server), "ScaledObject", "digest")["spec"]["triggers"]
    assert (trigger["metadata"]["start"], trigger["metadata"]["end"]) == (
        "15 23 * * 6",
        "0 5 * * 0",
    )


def test_batch_waits_in_a_queue_that_covers_all_it_asks_for(plan: Plan) -> None:
    whole = full(plan)
    labels = one(whole, "Deployment", "digest")["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "batch"
    assert labels["kueue.x-k8s.io/priority-class"] == "llm-prod-batch"
    assert "kueue.x-k8s.io/queue-name" not in one(whole, "Deployment", "chat")["metadata"]["labels"]
    (group,) = one(whole, "ClusterQueue", "llm-prod-batch")["spec"]["resourceGroups"]
    (flavour,) = group["flavors"]
    asked = one(whole, "Deployment", "digest")["spec"]["template"]["spec"]["containers"][0]
    quotas = {item["name"]: item["nominalQuota"] for item in flavour["resources"]}
    assert quotas == asked["resources"]["requests"]
    assert set(group["coveredResources"]) == set(quotas)
    flavour_object = one(whole, "ResourceFlavor", flavour["name"])
    assert flavour_object["spec"]["nodeLabels"] == {"llm-capacity.dev/gpu-pool": "a100-batch"}
    assert one(whole, "LocalQueue", "batch")["metadata"]["namespace"] == "llm-batch"
    assert one(whole, "WorkloadPriorityClass", "llm-prod-batch")["value"] < 0


def test_a_route_opens_the_api_alone_and_as_long_as_an_answer_takes(plan: Plan) -> None:
    (rule,) = one(full(plan), "HTTPRoute", "chat")["spec"]["rules"]
    assert rule["matches"] == [{"path": {"type": "PathPrefix", "value": "/chat/v1"}}]
    assert rule["timeouts"] == {"request": "150s"}
    assert rule["backendRefs"][0]["kind"] == "InferencePool"
    modifier = rule["filters"][1]["requestHeaderModifier"]
    assert "x-gateway-inference-objective" in modifier["remove"]
    pool = one(full(plan), "InferencePool", "chat")["spec"]
    # The picker's port and the servers' are two: mixing them up is what breaks routes.
    assert pool["targetPorts"] == [{"number": 8000}]
    assert pool["endpointPickerRef"]["port"] == {"number": 9002}
    assert pool["endpointPickerRef"]["failureMode"] == "FailOpen"
    assert not [i for i in objects(full(plan)) if i["kind"] == "HTTPRoute" and "batch" in str(i)]


def test_secrets_are_named_and_never_held(plan: Plan) -> None:
    keyed = DIGEST.model_copy(
        update={
            "hf_token_secret": SecretKey(name="hub", key="token"),
            "api_key_secret": SecretKey(name="callers", key="key"),
            "image_pull_secrets": ("registry",),
        }
    )
    pod = one(with_servers(plan, keyed), "Deployment", "digest")["spec"]["template"]["spec"]
    env = {item["name"]: item for item in pod["containers"][0]["env"]}
    assert env["HF_TOKEN"] == {
        "name": "HF_TOKEN",
        "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}},
    }
    assert env["VLLM_API_KEY"]["valueFrom"]["secretKeyRef"]["name"] == "callers"
    assert pod["imagePullSecrets"] == [{"name": "registry"}]


@pytest.mark.parametrize(
    ("source", "place", "volume"),
    [
        (
            {"model_image": "example.com/m@sha256:" + "0" * 64},
            "/models/Qwen/Qwen3-32B",
            {"image": {"reference": "example.com/m@sha256:" + "0" * 64}},
        ),
        ({"model_url": "s3://weights/qwen"}, f"s3://weights/qwen/{CHAT.model_revision}", None),
    ],
)
def test_weights_from_an_image_and_from_storage(
    plan: Plan, source: dict[str, str], place: str, volume: dict[str, Any] | None
) -> None:
    server = CHAT.model_copy(update={"model_claim": None, **source})
    pod = one(with_servers(plan, server), "Deployment", "chat")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["args"][0] == place
    assert "--revision" not in container["args"]
    found = [item for item in pod["volumes"] if item["name"] == "model"]
    streamed = ["--load-format", "runai_streamer"]
    if volume is None:
        assert found == []
        at = container["args"].index("--load-format")
        assert container["args"][at : at + 2] == streamed
    else:
        assert found[0]["image"]["reference"] == volume["image"]["reference"]
        mounts = {item["name"]: item for item in container["volumeMounts"]}
        assert mounts["model"] == {"name": "model", "mountPath": place, "readOnly": True}
        assert "--load-format" not in container["args"]


def test_fetched_weights_have_room_on_the_nodes_disk(plan: Plan) -> None:
    fetched = DIGEST.model_copy(update={"weights_bytes": 15 * GIB})
    pod = one(with_servers(plan, fetched), "Deployment", "digest")["spec"]["template"]["spec"]
    home = next(item for item in pod["volumes"] if item["name"] == "home")
    # 20 GiB of caches and 1.2 x 15 GiB; scratch and logs come on top.
    assert home["emptyDir"] == {"sizeLimit": "38Gi"}
    requests = pod["containers"][0]["resources"]["requests"]
    assert requests["ephemeral-storage"] == "48Gi"


@pytest.mark.parametrize(
    ("replicas", "nodes", "strategy"),
    [
        (3, 2, {"maxSurge": 1, "maxUnavailable": 0}),
        (4, 2, {"maxSurge": 0, "maxUnavailable": 1}),
        (4, 3, {"maxSurge": 1, "maxUnavailable": 0}),
        (2, 1, {"maxSurge": 0, "maxUnavailable": 1}),
    ],
)
def test_a_rollout_surges_only_where_the_pool_has_room(
    plan: Plan, replicas: int, nodes: int, strategy: dict[str, int]
) -> None:
    server = CHAT.model_copy(update={"replicas": replicas})
    pool = H100.model_copy(update={"max_nodes": nodes})
    found = one(with_servers(plan, server, pools=(pool,)), "Deployment", "chat")["spec"]["strategy"]
    assert found == {"type": "RollingUpdate", "rollingUpdate": strategy}


def test_one_replica_without_a_spare_is_replaced_and_said_to_be(plan: Plan) -> None:
    server = CHAT.model_copy(update={"replicas": 1, "tensor_parallel": 8, "gpus_per_replica": 8})
    pool = H100.model_copy(update={"max_nodes": 1, "min_nodes": 1})
    alone = with_servers(plan, server, pools=(pool,))
    found = one(alone, "Deployment", "chat")
    assert found["spec"]["strategy"] == {"type": "Recreate"}
    assert "downtime" in found["metadata"]["annotations"]["llm-capacity.dev/rollout"]


def test_queries_are_about_the_served_name(chat: VllmServer) -> None:
    for query in queries(chat).values():
        assert f'model_name="{chat.model}"' in query
        assert f'namespace="{chat.namespace}"' in query


def test_pods_stay_in_the_region_whatever_bears_the_label(plan: Plan) -> None:
    azure = A100.model_copy(update={"zones": ("1", "3")})
    whole = with_servers(plan, CHAT, DIGEST, pools=(H100, azure))

    def terms(name: str) -> dict[str, list[str]]:
        pod = one(whole, "Deployment", name)["spec"]["template"]["spec"]
        required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        (term,) = required["nodeSelectorTerms"]
        return {item["key"]: item["values"] for item in term["matchExpressions"]}

    assert terms("chat") == {
        "topology.kubernetes.io/region": ["ap-southeast-2"],
        "topology.kubernetes.io/zone": ["ap-southeast-2a", "ap-southeast-2b"],
    }
    assert terms("digest") == {
        "topology.kubernetes.io/region": ["australiaeast"],
        "topology.kubernetes.io/zone": ["australiaeast-1", "australiaeast-3"],
    }
