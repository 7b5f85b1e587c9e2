"""The nine checks: each lets the plan through, and refuses what it is there for."""

from __future__ import annotations

from typing import Any

import pytest

from planner.decision import Decision
from planner.emit import checks
from planner.emit.grouping import clusters
from planner.emit.placing import ServerOnPool
from planner.errors import PlannerError
from planner.plan import NodePool, Plan, VllmServer
from planner.units import GIB
from tests.emit.conftest import CHAT, DIGEST, H100, decision_of
from tests.emit.objects import full, one, scaled, site, with_servers
from tests.emit.test_manifests import SOURCE


def refusal(plan: Plan) -> str:
    with pytest.raises(PlannerError) as caught:
        clusters(plan)
    return str(caught.value)


def chat(**changes: Any) -> VllmServer:
    return CHAT.model_copy(update=changes)


def pool(**changes: Any) -> NodePool:
    return H100.model_copy(update=changes)


def told(
    server: VllmServer = CHAT,
    *,
    nodes: NodePool = H100,
    decision: Decision | None = None,
    edit: Any = None,
) -> str:
    """Return what the checks say of a server whose Deployment ``edit`` has changed."""
    placed = ServerOnPool(server, nodes, SOURCE, site("prod-sydney"))
    workload, *others = placed.manifests()
    if edit is not None:
        edit(workload, others)
    decided = decision or decision_of("chat", "interactive", "restricted")
    return "\n".join(map(str, checks.placed_problems(placed, decided, workload, others)))


def pod(workload: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = workload["spec"]["template"]["spec"]
    return found


def test_a_sound_plan_passes_every_check(plan: Plan) -> None:
    assert [item.cluster for item in clusters(full(plan))] == ["batch-aks", "prod-sydney"]
    assert told() == ""


# 1: layout


def test_heads_must_be_divisible(plan: Plan) -> None:
    assert told(chat(attention_heads=40)) == ""
    text = refusal(with_servers(plan, chat(attention_heads=6)))
    assert "6 attention heads are not divisible by 4 GPUs" in text
    assert "server chat" in text


def test_few_kv_heads_are_noted_and_not_refused(plan: Plan) -> None:
    noted = clusters(with_servers(plan, chat(kv_heads=2)))[1].notes()
    assert any("2 KV heads are copied to 4 GPUs" in note for note in noted)
    equal = clusters(with_servers(plan, chat(kv_heads=4)))[1].notes()
    assert not any("KV heads" in note for note in equal)


# 2: capacity


def test_servers_must_fit_their_pool(plan: Plan) -> None:
    text = refusal(with_servers(plan, scaled(CHAT, 1, 5)))
    assert "servers ask for 20 GPUs, 2 nodes of 8 have 16" in text


def test_pools_must_fit_the_declared_nodes(plan: Plan) -> None:
    """DP-09 (aws-samples/deepseek-using-vllm-on-eks#3): pods pending, the quota was zero."""

    def quota(nodes: dict[str, int]) -> Plan:
        whole = with_servers(plan, CHAT)
        sites = (site("prod-sydney", node_quotas=nodes), site("batch-aks"))
        return whole.model_copy(
            update={"resources": whole.resources.model_copy(update={"sites": sites})}
        )

    assert clusters(quota({"p5.48xlarge": 2}))
    text = refusal(quota({"p5.48xlarge": 1}))
    assert "the plan needs 2 nodes of p5.48xlarge, 1 are declared to be there" in text
    assert "the plan needs 2 nodes of p5.48xlarge, 0 are" in refusal(quota({"g6.xlarge": 9}))


def test_two_pools_of_one_machine_share_its_nodes() -> None:
    other = pool(name="h100-batch", tier="batch")
    sites = {"prod-sydney": site("prod-sydney", node_quotas={"p5.48xlarge": 3})}
    assert list(checks.node_quotas([H100], sites)) == []
    (problem,) = checks.node_quotas([H100, other], sites)
    assert "needs 4 nodes of p5.48xlarge, 3 are declared" in problem.what
    assert problem.fix


# 3: one set of numbers is tested with whole stacks (tests/emit/test_servers.py)


# 4: times


def test_a_grace_that_cannot_drain_is_refused() -> None:
    def cut(workload: dict[str, Any], _: Any) -> None:
        pod(workload)["terminationGracePeriodSeconds"] = 135

    # 15 s to leave and 120 s to drain: the engine would have none to end.
    assert "135 s of grace do not cover 135 s of draining" in told(edit=cut)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("progress", 1050, "a rollout gives up after 1050 s, a start takes 1050"),
        ("probe", 69, "690 s of startup probes are shorter than the load"),
        ("ready", "1049", "the engine gives up after 1049 s, a start takes 1050"),
    ],
)
def test_every_timeout_outlasts_a_start(path: str, value: Any, words: str) -> None:
    """DP-07 (pulumi/pulumi-kubernetes#712): whoever waits must wait longer than the start."""

    def edit(workload: dict[str, Any], _: Any) -> None:
        container = pod(workload)["containers"][0]
        if path == "progress":
            workload["spec"]["progressDeadlineSeconds"] = value
        elif path == "probe":
            container["startupProbe"]["failureThreshold"] = value
        else:
            for item in container["env"]:
                if item["name"] == "VLLM_ENGINE_READY_TIMEOUT_S":
                    item["value"] = value

    assert words in told(edit=edit)


def test_a_spot_node_leaves_no_time_for_long_answers() -> None:
    # Draining is cut to what the notice leaves, so that the pod is gone in time.
    spot = chat(notice_seconds=30)
    assert "spot node goes" not in told(spot)
    assert "spot node goes 10 s after notice" in told(chat(notice_seconds=10))


# 5: metrics


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            'sum(vllm:gpu_cache_usage_perc{model_name="M",namespace="llm-interactive"})',
            "exports no metric vllm:gpu_cache_usage_perc. Ask for vllm:kv_cache_usage_perc",
        ),
        ('sum(vllm:num_requests_waiting{model="M"})', "a query asks for model_name None"),
        (
            'sum(vllm:num_requests_waiting{model_name="M",namespace="llm"})',
            "a query asks for namespace 'llm', the server has 'llm-interactive'",
        ),
    ],
)
def test_a_query_that_would_find_nothing_is_refused(query: str, words: str) -> None:
    def edit(_: Any, others: list[dict[str, Any]]) -> None:
        (found,) = [item for item in others if item["kind"] == "ScaledObject"]
        found["spec"]["triggers"][0]["metadata"]["query"] = query

    assert words in told(scaled(chat(model="M"), 2, 4), edit=edit)
    assert told(scaled(chat(model="M"), 2, 4)) == ""


# 6: supply


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"image": "vllm/vllm-openai:latest", "image_digest": None}, "may be another one"),
        ({"image": "example.com:5000/vllm", "image_digest": None}, "may be another one"),
        (
            {"model_claim": None, "model_image": "example.com/m:v1"},
            "the model image example.com/m:v1 has no digest",
        ),
        (
            {"model_claim": None, "model_url": "s3://b/m", "model_revision": None},
            "streamed weights have no revision",
        ),
    ],
)
def test_what_is_not_pinned_is_refused(change: dict[str, Any], words: str) -> None:
    assert words in told(chat(**change))
    assert "may be another one" not in told(chat(image_digest=None))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--swap-space", "4"], "vLLM 0.33.0 has no flag --swap-space"),
        (["--disable-log-requests"], "vLLM 0.33.0 has no flag --disable-log-requests"),
        (["--trust-remote-code"], "would run code that comes with the model"),
    ],
)
def test_a_flag_that_is_gone_or_unsafe_is_refused(words: list[str], said: str) -> None:
    def edit(workload: dict[str, Any], _: Any) -> None:
        pod(workload)["containers"][0]["args"] += words

    assert said in told(edit=edit)


@pytest.mark.parametrize("name", ["HF_TOKEN", "VLLM_API_KEY", "OTHER"])
def test_a_secret_in_the_open_is_refused(name: str) -> None:
    def edit(workload: dict[str, Any], _: Any) -> None:
        pod(workload)["containers"][0]["env"].append({"name": name, "value": "hf_" + "0" * 34})

    text = told(edit=edit)
    assert f"{name} holds a secret" in text
    assert "hf_0" not in text


# 7: residency


@pytest.mark.parametrize("country", ["US", ""])
def test_a_pool_outside_of_the_residency_is_refused(country: str) -> None:
    where = country or "an unknown country"
    assert f"is in {where}" in told(nodes=pool(country=country))


def test_an_unknown_residency_admits_no_pool() -> None:
    unknown = decision_of("chat", "interactive", "restricted").model_copy(update={"countries": ()})
    assert "residency is no known country" in told(decision=unknown)


# 8: scheduling


def test_pods_and_nodes_must_agree() -> None:
    def select(workload: dict[str, Any], _: Any) -> None:
        pod(workload)["nodeSelector"] = {"llm-capacity.dev/gpu-pool": "other"}

    def tolerate_nothing(workload: dict[str, Any], _: Any) -> None:
        pod(workload)["tolerations"] = []

    def tolerate_spot(workload: dict[str, Any], _: Any) -> None:
        pod(workload)["tolerations"].append({"key": "llm-capacity.dev/spot", "operator": "Exists"})

    assert "pods select" in told(edit=select)
    assert "pods do not tolerate nvidia.com/gpu" in told(edit=tolerate_nothing)
    assert "the cloud may take back" in told(edit=tolerate_spot)
    assert "a pool of the batch tier" in told(nodes=pool(tier="batch"))


# 9: the set


def test_names_are_unique_short_and_in_a_namespace() -> None:
    def thing(kind: str, name: str, **metadata: str) -> dict[str, Any]:
        return {"kind": kind, "metadata": {"name": name, **metadata}}

    def said(*manifests: dict[str, Any]) -> str:
        return "\n".join(map(str, checks.set_problems("c", manifests)))

    service = thing("Service", "a", namespace="n")
    assert said(service, thing("Service", "a", namespace="m")) == ""
    assert "Service n/a: occurs 2 times" in said(service, service)
    assert "Service a: has no namespace" in said(thing("Service", "a"))
    assert "has a namespace and is cluster-wide" in said(thing("NodePool", "a", namespace="n"))
    assert said(thing("Service", "a" * 253, namespace="n")) == ""
    assert "a name of 254 characters" in said(thing("Service", "a" * 254, namespace="n"))


def test_a_name_of_253_characters_says_what_to_rename(plan: Plan) -> None:
    text = refusal(with_servers(plan, chat(name="a" * 253, workload="chat")))
    assert "cannot name a Kubernetes object: at most 63" in text
    assert "Rename it" in text


def test_tiers_in_one_namespace_are_refused(plan: Plan) -> None:
    mixed = DIGEST.model_copy(
        update={"cluster": "prod-sydney", "namespace": "llm-interactive", "node_pool": "b"}
    )
    batch = H100.model_copy(update={"name": "b", "tier": "batch"})
    text = refusal(with_servers(plan, CHAT, mixed, pools=(H100, batch)))
    assert "namespace llm-interactive: holds servers of both tiers" in text


def test_a_plan_is_refused_as_a_whole_and_tells_everything(plan: Plan) -> None:
    bad = [chat(name="one", attention_heads=6), chat(name="two", shm_bytes=CHAT.memory_bytes)]
    text = refusal(with_servers(plan, *bad))
    assert "server one: 6 attention heads" in text
    assert "server two: 96Gi of shared memory" in text
    assert "servers ask for 24 GPUs" in text


def test_replicas_over_nodes_need_the_nodes(plan: Plan) -> None:
    wide = chat(
        pipeline_parallel=2,
        tensor_parallel=8,
        gpus_per_replica=16,
        replicas=1,
        memory_bytes=GIB * 99,
    )
    assert list(checks.pool_room(H100, [wide])) == []
    assert "take 4 nodes of 3" in str(
        list(
            checks.pool_room(
                pool(max_nodes=3, gpus_per_node=8),
                [wide.model_copy(update={"gpus_per_replica": 12, "replicas": 2})],
            )
        )
    )
    assert one(with_servers(plan, wide), "LeaderWorkerSet", "chat")
