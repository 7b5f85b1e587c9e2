"""A plan with a guard, the pods that it wants, and changes that the guard must refuse."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from planner.plan import NOTHING_SPENT, Inputs, NodePool, Plan, Resources, VllmServer
from tests.cluster.api import Api, Object, Refused
from tests.emit.conftest import CHAT, H100, decision_of

DIGEST = "sha256:" + "ab" * 32
INTERACTIVE, BATCH, ELSEWHERE = "guard-interactive", "guard-batch", "guard-nobody"
SYDNEY = H100.model_copy(update={"name": "fast", "country": "AU"})
NIGHT = SYDNEY.model_copy(update={"name": "night", "tier": "batch", "spot": True})
FRANKFURT = SYDNEY.model_copy(
    update={"name": "fast-eu", "cluster": "frankfurt", "region": "eu-central-1", "country": "DE"}
)
Change = Callable[[Object], None]


def server(name: str, pool: NodePool, namespace: str) -> VllmServer:
    return CHAT.model_copy(
        update={
            "name": name,
            "workload": name,
            "tier": pool.tier,
            "cluster": pool.cluster,
            "namespace": namespace,
            "node_pool": pool.name,
            "image_digest": DIGEST,
        }
    )


DECISIONS = (
    ("chat", "interactive", "restricted", ("AU",)),
    ("digest", "batch", "internal", ("AU", "NZ")),
    ("berlin", "interactive", "confidential", ("DE",)),
)
GUARDED = Plan(
    stack="guarded",
    as_of="2026-11-01",
    verdict="allow",
    decisions=tuple(
        decision_of(name, tier, of).model_copy(update={"countries": countries})
        for name, tier, of, countries in DECISIONS
    ),
    findings=(),
    resources=Resources(
        node_pools=(SYDNEY, NIGHT, FRANKFURT),
        servers=(
            server("chat", SYDNEY, INTERACTIVE),
            server("digest", NIGHT, BATCH),
            server("berlin", FRANKFURT, INTERACTIVE),
        ),
        deployments=(),
        purchases=(),
    ),
    totals=NOTHING_SPENT,
    inputs=Inputs(input_digest="1" * 64, catalog_digest="2" * 64, policy_digest="3" * 64),
    warnings=(),
)
"""Chat and digest in Sydney, of Australian data; Berlin's chat only in Germany."""


def pod(workload: str, tier: str, classification: str, pool: str, namespace: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "tried",
            "namespace": namespace,
            "labels": {
                "llm-capacity.dev/workload": workload,
                "llm-capacity.dev/tier": tier,
                "llm-capacity.dev/classification": classification,
            },
        },
        "spec": {
            "nodeSelector": {"llm-capacity.dev/gpu-pool": pool},
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {
                                        "key": "topology.kubernetes.io/region",
                                        "operator": "In",
                                        "values": ["ap-southeast-2"],
                                    }
                                ]
                            }
                        ]
                    }
                }
            },
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "containers": [
                {
                    "name": "vllm",
                    "image": f"vllm/vllm-openai@{DIGEST}",
                    "args": ["--max-model-len", "16384"],
                    "resources": {"limits": {"nvidia.com/gpu": "4"}},
                }
            ],
        },
    }


CHAT_POD = pod("chat", "interactive", "restricted", "fast", INTERACTIVE)
DIGEST_POD = pod("digest", "batch", "internal", "night", BATCH)
for _pod, _tier in ((CHAT_POD, "interactive"), (DIGEST_POD, "batch")):
    _pod["spec"]["priorityClassName"] = f"llm-guarded-{_tier}"


def changed(base: Object, change: Change) -> Object:
    made = copy.deepcopy(base)
    change(made)
    return made


def deployed(template: Object, kind: str = "Deployment") -> Object:
    """The workload whose pods are ``template``."""
    metadata = template["metadata"]
    inner: Object = {"metadata": {"labels": metadata["labels"]}, "spec": template["spec"]}
    head = {"name": "tried", "namespace": metadata["namespace"]}
    if kind == "CronJob":
        inner["spec"] = {**inner["spec"], "restartPolicy": "Never"}
        job = {"spec": {"template": inner}}
        spec: Object = {"schedule": "0 3 * * *", "jobTemplate": job}
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": head, "spec": spec}
    if kind == "LeaderWorkerSet":
        spec = {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": inner}}
        version = "leaderworkerset.x-k8s.io/v1"
        return {"apiVersion": version, "kind": kind, "metadata": head, "spec": spec}
    spec = {"selector": {"matchLabels": metadata["labels"]}, "template": inner}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": head, "spec": spec}


def refusal(api: Api, item: Object) -> str | None:
    """The server's words, None where it takes the object. Nothing is kept."""
    try:
        api.call("POST", api.path(item, named=False), item, dryRun="All")
    except Refused as refused:
        if refused.status not in (403, 422):
            raise
        return refused.message
    return None


def first(spec: Object) -> Any:
    return spec["spec"]["containers"][0]


def label(name: str, value: str) -> Change:
    return lambda item: item["metadata"]["labels"].update({f"llm-capacity.dev/{name}": value})


def container(**fields: Any) -> Change:
    return lambda item: first(item).update(fields)


def spec_of(**fields: Any) -> Change:
    return lambda item: item["spec"].update(fields)


def region(*values: str) -> Change:
    def change(item: Object) -> None:
        required = item["spec"]["affinity"]["nodeAffinity"]
        terms = required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        terms[0]["matchExpressions"][0]["values"] = list(values)

    return change


def another_term(item: Object) -> None:
    required = item["spec"]["affinity"]["nodeAffinity"]
    terms = required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["eu-central-1a"]}
    terms.append({"matchExpressions": [zone]})


def region_by_selector(item: Object) -> None:
    del item["spec"]["affinity"]
    item["spec"]["nodeSelector"]["topology.kubernetes.io/region"] = "ap-southeast-2"


def no_gpu(item: Object) -> None:
    """A pod that neither asks for a GPU nor could land beside one."""
    item["metadata"]["labels"] = {}
    item["spec"] = {"containers": [{"name": "curl", "image": "curl:latest"}]}


def nothing(_: Object) -> None:
    """Leave the pod as it is."""
