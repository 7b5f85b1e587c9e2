"""The guard of a plan on a real API server: what it lets through, what it refuses and why."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.emit.admission import admission_manifests, guard_name
from planner.emit.grouping import clusters
from tests.cluster.api import Api, Object, Refused, remove
from tests.cluster.control_plane import ControlPlane
from tests.cluster.guarded import (
    BATCH,
    CHAT_POD,
    DIGEST_POD,
    ELSEWHERE,
    GUARDED,
    INTERACTIVE,
    SYDNEY,
    Change,
    another_term,
    changed,
    container,
    deployed,
    first,
    label,
    no_gpu,
    nothing,
    pod,
    refusal,
    region,
    region_by_selector,
    server,
    spec_of,
)
from tests.cluster.stacks import ON_OWN_METAL, copy_of
from tests.emit.conftest import decision_of


@pytest.fixture(scope="module")
def guard(plane: ControlPlane) -> Iterator[Api]:
    """The API server with Sydney's guard in force, and namespaces to try it in."""
    api = plane.api()
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in (INTERACTIVE, BATCH, ELSEWHERE)
    ]
    policies = admission_manifests(GUARDED, "prod-sydney")
    assert [item["kind"] for item in policies] == [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]
    # Without its class a pod is refused before the guard is asked.
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": f"llm-guarded-{tier}"},
            "value": value,
        }
        for tier, value in (("interactive", 100_000), ("batch", -100))
    ]
    for item in [*spaces, *classes, *policies]:
        api.apply(item)
    bad = changed(CHAT_POD, lambda pod: pod["spec"].pop("nodeSelector"))
    wait_for(api, bad, guard_name("guarded"))
    yield api
    remove(api, [*policies[::-1], *classes, *spaces])


def wait_for(api: Api, bad: Object, name: str) -> None:
    """Wait until the guard of that name refuses what it should."""
    end = time.monotonic() + 30
    while name not in (said := refusal(api, bad) or "taken"):
        assert time.monotonic() < end, f"the guard never came into force: {said}"
        time.sleep(0.2)


ALLOWED: dict[str, tuple[Object, Change]] = {
    "what the plan has": (CHAT_POD, nothing),
    "the batch tier's own": (DIGEST_POD, nothing),
    "the region by nodeSelector": (CHAT_POD, region_by_selector),
    "no GPU": (CHAT_POD, no_gpu),
    "batch on spot": (
        DIGEST_POD,
        lambda item: item["spec"]["tolerations"].append(
            {"key": "llm-capacity.dev/spot", "operator": "Exists"}
        ),
    ),
    "no trust said": (CHAT_POD, container(args=["--no-trust-remote-code"])),
}
REFUSED: dict[str, tuple[Object, Change, str]] = {
    "no labels": (
        CHAT_POD,
        lambda item: item["metadata"].pop("labels"),
        "no workload of the plan has these labels: llm-capacity.dev/workload=,",
    ),
    "unknown workload": (CHAT_POD, label("workload", "mine"), "llm-capacity.dev/workload=mine"),
    "relabelled as public": (
        CHAT_POD,
        label("classification", "public"),
        "llm-capacity.dev/classification=public",
    ),
    "another tier's label": (CHAT_POD, label("tier", "batch"), "llm-capacity.dev/tier=batch"),
    "no pool": (
        CHAT_POD,
        lambda item: item["spec"].pop("nodeSelector"),
        "the nodeSelector llm-capacity.dev/gpu-pool must name a pool of the plan: fast, night",
    ),
    "a pool of another cluster": (
        CHAT_POD,
        spec_of(nodeSelector={"llm-capacity.dev/gpu-pool": "fast-eu"}),
        "must name a pool of the plan",
    ),
    "batch on an interactive pool": (
        DIGEST_POD,
        spec_of(nodeSelector={"llm-capacity.dev/gpu-pool": "fast"}),
        "tier batch may not run on pool fast, which is for interactive",
    ),
    "interactive on a batch pool": (
        CHAT_POD,
        spec_of(nodeSelector={"llm-capacity.dev/gpu-pool": "night"}),
        "tier interactive may not run on pool night, which is for batch",
    ),
    "batch in the interactive namespace": (
        DIGEST_POD,
        lambda item: item["metadata"].update(namespace=INTERACTIVE),
        f"tier batch has no place in namespace {INTERACTIVE}",
    ),
    "outside of its residency": (
        pod("berlin", "interactive", "confidential", "fast", INTERACTIVE),
        spec_of(priorityClassName="llm-guarded-interactive"),
        "workload berlin (confidential) may not be in ap-southeast-2: "
        "its residency admits eu-central-1",
    ),
    "a region outside of its residency": (
        CHAT_POD,
        region("ap-southeast-2", "eu-central-1"),
        "workload chat must require topology.kubernetes.io/region in [ap-southeast-2]",
    ),
    "no region": (CHAT_POD, lambda item: item["spec"].pop("affinity"), "must require topology"),
    "a term without the region": (CHAT_POD, another_term, "must require topology"),
    "the other tier's priority": (
        DIGEST_POD,
        spec_of(priorityClassName="llm-guarded-interactive"),
        "the PriorityClass must be that of the tier: llm-guarded-batch",
    ),
    "interactive on spot": (
        CHAT_POD,
        spec_of(tolerations=[{"key": "llm-capacity.dev/spot", "operator": "Exists"}]),
        "only batch may tolerate llm-capacity.dev/spot, or every taint",
    ),
    "interactive on any taint": (
        CHAT_POD,
        spec_of(tolerations=[{"operator": "Exists"}]),
        "only batch may tolerate llm-capacity.dev/spot, or every taint",
    ),
    "a node by name": (CHAT_POD, spec_of(nodeName="gpu-7"), "nodeName must not be set"),
    "a tag": (
        CHAT_POD,
        container(image="vllm/vllm-openai:v0.33.0"),
        "images must be pinned by digest: vllm/vllm-openai:v0.33.0",
    ),
    "a tag on an init container": (
        CHAT_POD,
        spec_of(initContainers=[{"name": "fetch", "image": "curl:latest"}]),
        "images must be pinned by digest: curl:latest",
    ),
    "a tag on an image volume": (
        CHAT_POD,
        spec_of(volumes=[{"name": "model", "image": {"reference": "models/llama:3"}}]),
        "images must be pinned by digest: models/llama:3",
    ),
    "remote code by argument": (
        CHAT_POD,
        container(args=["--trust-remote-code"]),
        "no server runs code that came with a model",
    ),
    "remote code in a shell": (
        CHAT_POD,
        container(command=["sh", "-c", "vllm serve m --Trust_Remote_Code=1"]),
        "no server runs code that came with a model",
    ),
    "remote code by variable": (
        CHAT_POD,
        container(env=[{"name": "VLLM_TRUST_REMOTE_CODE", "value": "1"}]),
        "no server runs code that came with a model",
    ),
    "a host's disk": (
        CHAT_POD,
        spec_of(volumes=[{"name": "disk", "hostPath": {"path": "/var"}}]),
        "no hostPath",
    ),
    "a GPU partition": (
        CHAT_POD,
        lambda item: (
            no_gpu(item),
            first(item).update(resources={"limits": {"nvidia.com/mig-1g.10gb": "1"}}),
        ),
        "no workload of the plan has these labels",
    ),
    "a claimed device": (
        CHAT_POD,
        lambda item: (
            no_gpu(item),
            item["spec"].update(resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}]),
        ),
        "no workload of the plan has these labels",
    ),
    "room on a GPU node without a GPU": (
        CHAT_POD,
        lambda item: (
            no_gpu(item),
            item["spec"].update(tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}]),
        ),
        "no workload of the plan has these labels",
    ),
}


def test_the_guard_on_a_real_api_server(guard: Api) -> None:
    """One test for the table: the guard is put in force once."""
    wrong = {}
    for name, (base, change) in ALLOWED.items():
        for item in (changed(base, change), deployed(changed(base, change))):
            if item["kind"] == "Deployment" and not item["spec"]["selector"]["matchLabels"]:
                continue
            if (said := refusal(guard, item)) is not None:
                wrong[f"{name}, {item['kind']}"] = said
    for name, (base, change, words) in REFUSED.items():
        said = refusal(guard, changed(base, change)) or "taken"
        if words not in said or guard_name("guarded") not in said:
            wrong[name] = said
    assert wrong == {}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "CronJob", "LeaderWorkerSet"])
def test_whatever_makes_pods_is_refused_like_the_pod(guard: Api, kind: str) -> None:
    bad = changed(DIGEST_POD, spec_of(nodeSelector={"llm-capacity.dev/gpu-pool": "fast"}))
    said = refusal(guard, deployed(bad, kind)) or "taken"
    assert "tier batch may not run on pool fast" in said
    assert refusal(guard, deployed(DIGEST_POD, kind)) is None


def test_other_namespaces_are_untouched(guard: Api) -> None:
    def move(item: Object) -> None:
        no_gpu(item)
        item["metadata"]["namespace"] = ELSEWHERE
        first(item)["resources"] = {"limits": {"nvidia.com/gpu": "1"}}

    assert refusal(guard, changed(CHAT_POD, move)) is None


def test_a_change_of_what_runs_is_looked_at_and_others_pass(guard: Api) -> None:
    """A server that runs may be annotated, and given no other pool."""
    item = deployed(CHAT_POD)
    item["spec"]["replicas"] = 0
    guard.apply(item)
    try:
        path = guard.path(item)
        merge = {"content_type": "application/merge-patch+json", "dryRun": "All"}
        guard.call("PATCH", path, {"metadata": {"annotations": {"a": "b"}}}, **merge)
        pool = {"nodeSelector": {"llm-capacity.dev/gpu-pool": "night"}}
        with pytest.raises(Refused, match="may not run on pool night"):
            guard.call("PATCH", path, {"spec": {"template": {"spec": pool}}}, **merge)
    finally:
        guard.delete(item)


def test_the_server_has_nothing_to_warn_of_in_the_expressions(guard: Api) -> None:
    policy = admission_manifests(GUARDED, "prod-sydney")[0]
    end = time.monotonic() + 30
    while True:
        status = guard.call("GET", guard.path(policy)).get("status", {})
        if status.get("observedGeneration"):
            break
        assert time.monotonic() < end, "the server never checked the types"
        time.sleep(0.2)
    assert status.get("typeChecking", {}).get("expressionWarnings", []) == []


def test_a_plan_of_five_hundred_workloads_still_fits(guard: Api) -> None:
    """The tables of a large plan stay below the server's limits of size and cost."""
    names = [f"a-workload-with-a-rather-long-name-{number:03d}" for number in range(500)]
    resources = GUARDED.resources.model_copy(
        update={"servers": tuple(server(name, SYDNEY, INTERACTIVE) for name in names)}
    )
    decisions = tuple(
        decision_of(name, "interactive", "internal").model_copy(update={"countries": ("AU",)})
        for name in names
    )
    large = GUARDED.model_copy(update={"decisions": decisions, "resources": resources})
    for item in admission_manifests(large, "prod-sydney"):
        guard.apply(item)
    last = pod(names[-1], "interactive", "internal", "fast", INTERACTIVE)
    last["spec"]["priorityClassName"] = "llm-guarded-interactive"
    end = time.monotonic() + 30
    while (said := refusal(guard, last)) is not None:
        assert "no workload of the plan" in said
        assert time.monotonic() < end, said
        time.sleep(0.2)
    bad = changed(last, spec_of(nodeSelector={"llm-capacity.dev/gpu-pool": "night"}))
    assert "may not run on pool night" in (refusal(guard, bad) or "taken")


@pytest.mark.parametrize("stack", sorted(ON_OWN_METAL))
def test_what_a_stack_emits_passes_its_own_guard(
    plane: ControlPlane, stack: str, tmp_path: Path
) -> None:
    """The emitted workloads, and the pods that their controllers will make of them."""
    api = plane.api()
    for resources in clusters(copy_of(stack, tmp_path).plan()):
        name = guard_name(stack)
        servers = [item for placed in resources.servers for item in placed.manifests()]
        accounts = [item for item in servers if item["kind"] == "ServiceAccount"]
        shared = [*resources.namespaces(), *resources.priority_classes(), *resources.guards]
        first_of = [*shared, *accounts]
        made = [item for item in servers if item["kind"] in ("Deployment", "LeaderWorkerSet")]
        assert made
        for item in first_of:
            api.apply(item)
        try:
            wait_for(api, changed(pod_of(made[0]), label("workload", "nobody")), name)
            for item in made:
                assert refusal(api, item) is None
                assert refusal(api, pod_of(item)) is None
        finally:
            remove(api, first_of[::-1])


def pod_of(workload: Object) -> Object:
    """A pod of a Deployment or of a LeaderWorkerSet's worker."""
    spec = workload["spec"]
    group = spec.get("leaderWorkerTemplate")
    template = copy.deepcopy(group["workerTemplate"] if group else spec["template"])
    template["metadata"] |= {"name": "tried", "namespace": workload["metadata"]["namespace"]}
    return {"apiVersion": "v1", "kind": "Pod", **template}
