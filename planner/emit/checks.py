"""What must hold of a plan before anything of it is emitted: nine checks.

A plan that cannot be emitted is refused as a whole, with every reason: what, where and how to
mend it. Each check answers failures that real clusters have seen.

1. Layout: GPUs of a pod fit a node, heads are divisible.
2. Capacity: replicas and rollouts fit the pool, pools fit the declared nodes.
3. One set of numbers: arguments are those that the estimate used.
4. Times: startup within every timeout, grace enough to drain.
5. Metrics: what an autoscaler asks for exists, under the served name.
6. Supply: a pinned image, no secret in the open, no flag that is gone, no code from a model.
7. Residency: region and zones of the pool within what the workload allows.
8. Scheduling: pods tolerate their pool's taints and are found by its labels.
9. The set: unique names, a namespace where one is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner import faults
from planner.decision import Decision
from planner.emit import vllm
from planner.emit.fit import layout_problems
from planner.emit.metadata import Manifest
from planner.emit.placing import ServerOnPool
from planner.emit.pods import nodes_of
from planner.emit.pool_terms import SPOT_TAINT, pool_labels, pool_taints
from planner.emit.releases import parsed, unknown_flags, unknown_metrics
from planner.errors import Problem
from planner.features import ClusterSite
from planner.plan import NodePool, VllmServer
from planner.secrets import redact_text

LONGEST_NAME = 253
CLUSTER_WIDE = frozenset(
    {
        "ClusterQueue",
        "Namespace",
        "NodePool",
        "PriorityClass",
        "ResourceFlavor",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "WorkloadPriorityClass",
    }
)
_LABELLED = re.compile(r'(\w+)="([^"]*)"')


def placed_problems(
    placed: ServerOnPool, decision: Decision, workload: Manifest, others: Sequence[Manifest]
) -> Iterator[Problem]:
    """Yield what is wrong with one server: checks 1 and 3 to 8 of the module."""
    server, pool = placed.server, placed.pool
    where = f"server {server.cluster}/{server.name}"
    for problem in layout_problems(server, pool, placed.site):
        yield faults.SERVER_DOES_NOT_FIT.at(where, problem)
    yield from _numbers(where, server, decision)
    templates = pod_templates(workload)
    for template in templates:
        yield from _times(where, server, workload, template["spec"])
        yield from _supply(where, server, template["spec"])
        yield from _scheduling(where, server, pool, template["spec"])
    for manifest in others:
        if manifest["kind"] == "ScaledObject":
            yield from _metrics(where, server, manifest)
    yield from _residency(where, pool, decision)


def pod_templates(workload: Manifest) -> list[dict[str, Any]]:
    """Return the pod templates of a Deployment or a LeaderWorkerSet."""
    spec = workload["spec"]
    if workload["kind"] == "Deployment":
        return [spec["template"]]
    group = spec["leaderWorkerTemplate"]
    return [group["leaderTemplate"], group["workerTemplate"]]


def pool_room(pool: NodePool, servers: Sequence[VllmServer]) -> Iterator[Problem]:
    """Yield a problem where servers ask for more than their pool may have (check 2)."""
    asked = sum(server.most_replicas * server.gpus_per_replica for server in servers)
    held = pool.max_nodes * pool.gpus_per_node
    where = f"pool {pool.cluster}/{pool.name}"
    if asked > held:
        what = (
            f"servers ask for {asked} GPUs, {pool.max_nodes} nodes of {pool.gpus_per_node} "
            f"have {held}"
        )
        yield faults.POOL_TOO_SMALL.at(where, what)
        return
    whole = [server for server in servers if nodes_of(server, pool) > 1]
    taken = sum(server.most_replicas * nodes_of(server, pool) for server in whole)
    if taken > pool.max_nodes:
        what = f"replicas over several nodes take {taken} nodes of {pool.max_nodes}"
        yield faults.POOL_TOO_SMALL.at(where, what)


def node_quotas(pools: Iterable[NodePool], sites: Mapping[str, ClusterSite]) -> Iterator[Problem]:
    """Yield a problem where pools of one machine type together exceed its nodes (check 2)."""
    wanted: Counter[tuple[str, str]] = Counter()
    for pool in pools:
        wanted[pool.cluster, pool.instance] += pool.max_nodes
    for (cluster, instance), nodes in sorted(wanted.items()):
        site = sites.get(cluster)
        if site is None or not site.node_quotas:
            continue
        quota = site.node_quotas.get(instance, 0)
        if nodes > quota:
            yield faults.QUOTA_EXCEEDED.at(
                f"cluster {cluster}",
                f"the plan needs {nodes} nodes of {instance}, {quota} are declared to be there",
            )


def set_problems(cluster: str, manifests: Sequence[Manifest]) -> Iterator[Problem]:
    """Yield what is wrong with a cluster's objects as a set (check 9)."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for manifest in manifests:
        metadata = manifest["metadata"]
        kind, name = manifest["kind"], metadata["name"]
        namespace = metadata.get("namespace", "")
        where = f"cluster {cluster}, {kind} {namespace + '/' if namespace else ''}{name}"
        seen[kind, namespace, name] += 1
        if (kind in CLUSTER_WIDE) == bool(namespace):
            what = "has a namespace and is cluster-wide" if namespace else "has no namespace"
            yield faults.BAD_OBJECT_NAME.at(where, what, "Give each namespaced object its own.")
        if len(name) > LONGEST_NAME:
            what = f"a name of {len(name)} characters; Kubernetes takes {LONGEST_NAME}"
            yield faults.BAD_OBJECT_NAME.at(where, what)
    for (kind, namespace, name), count in sorted(seen.items()):
        if count > 1:
            where = f"cluster {cluster}, {kind} {namespace + '/' if namespace else ''}{name}"
            yield faults.BAD_OBJECT_NAME.at(
                where, f"occurs {count} times", "Rename one of the workloads."
            )


def _numbers(where: str, server: VllmServer, decision: Decision) -> Iterator[Problem]:
    size = decision.chosen.self_hosted if decision.chosen else None
    if size is None:
        return
    replica = size.replica
    estimated = {
        "tensor_parallel": replica.layout.tensor_parallel,
        "pipeline_parallel": replica.layout.pipeline_parallel,
        "max_model_len": replica.ledger.max_model_len,
        "max_num_seqs": replica.max_num_seqs,
        "max_num_batched_tokens": replica.max_num_batched_tokens,
        "gpu_memory_utilization": replica.ledger.gpu_memory_utilization,
        "kv_cache_dtype": replica.kv_dtype,
    }
    for name, value in estimated.items():
        if getattr(server, name) != value:
            what = f"{name} is {getattr(server, name)}, the estimate used {value}"
            yield faults.NOT_AS_ESTIMATED.at(where, what)


def _times(
    where: str, server: VllmServer, workload: Manifest, pod: Mapping[str, Any]
) -> Iterator[Problem]:
    (container,) = pod["containers"]
    grace, leave = pod["terminationGracePeriodSeconds"], container["lifecycle"]["preStop"]
    fix = "Lower the longest answer (traffic.max_tokens), or choose a faster machine."
    needed = vllm.pre_stop_seconds(server) + vllm.drain_seconds(server)
    if grace <= max(needed, leave["sleep"]["seconds"]):
        yield faults.TIMES_CLASH.at(
            where, f"{grace} s of grace do not cover {needed} s of draining", fix
        )
    if server.notice_seconds is not None and grace > server.notice_seconds:
        what = f"{grace} s of grace, but a spot node goes {server.notice_seconds} s after notice"
        yield faults.TIMES_CLASH.at(where, what, "Turn the cluster's spot_batch off.")
    if "startupProbe" not in container:
        return
    probe = container["startupProbe"]
    budget = probe["periodSeconds"] * probe["failureThreshold"]
    fix = "Raise the cluster's serving.load_bytes_per_s only if the store is that fast."
    if budget < max(server.startup_seconds, server.load_seconds * vllm.LOAD_FACTOR):
        yield faults.TIMES_CLASH.at(
            where, f"{budget} s of startup probes are shorter than the load", fix
        )
    deadline = workload["spec"].get("progressDeadlineSeconds")
    if deadline is not None and deadline <= budget:
        yield faults.TIMES_CLASH.at(
            where, f"a rollout gives up after {deadline} s, a start takes {budget}", fix
        )
    ready = next(
        item["value"] for item in container["env"] if item["name"] == "VLLM_ENGINE_READY_TIMEOUT_S"
    )
    if int(ready) < budget:
        yield faults.TIMES_CLASH.at(
            where, f"the engine gives up after {ready} s, a start takes {budget}", fix
        )


def _metrics(where: str, server: VllmServer, scaled: Manifest) -> Iterator[Problem]:
    release = parsed(server.vllm_version)
    for trigger in scaled["spec"]["triggers"]:
        query = trigger["metadata"].get("query")
        if query is None:
            continue
        for unknown in unknown_metrics(query, release):
            what = f"vLLM {server.vllm_version} exports no metric {unknown.name}"
            fix = f"Ask for {unknown.instead}." if unknown.instead else "Ask for another one."
            yield faults.UNKNOWN_METRIC.at(where, what, fix)
        labels = dict(_LABELLED.findall(query))
        wanted = {"model_name": server.model, "namespace": server.namespace}
        for name, value in wanted.items():
            if labels.get(name) != value:
                what = f"a query asks for {name} {labels.get(name)!r}, the server has {value!r}"
                yield faults.UNKNOWN_METRIC.at(where, what, "Ask for what the server is called.")


def _supply(where: str, server: VllmServer, pod: Mapping[str, Any]) -> Iterator[Problem]:
    (container,) = pod["containers"]
    image = container["image"]
    last = image.rpartition("/")[2]
    if "@sha256:" not in image and (":" not in last or last.endswith(":latest")):
        what = f"image {image} may be another one tomorrow"
        yield faults.NOT_PINNED.at(where, what, "Give the cluster's serving.image_digest.")
    if server.model_image is not None and "@sha256:" not in server.model_image:
        what = f"the model image {server.model_image} has no digest"
        yield faults.NOT_PINNED.at(where, what, "Give it as NAME@sha256:DIGEST.")
    if server.model_url is not None and server.model_revision is None:
        yield faults.NOT_PINNED.at(
            where, "streamed weights have no revision", "Give the source's revision."
        )
    for flag in unknown_flags(container["args"], parsed(server.vllm_version)):
        what = f"vLLM {server.vllm_version} has no flag {flag}"
        if flag == "--trust-remote-code":
            what = "--trust-remote-code would run code that comes with the model"
        yield faults.NOT_PINNED.at(where, what, "Take it out.")
    for item in container["env"]:
        name, value = item["name"], item.get("value")
        if value is not None and (name in _SECRET_NAMES or redact_text(value) != value):
            yield faults.HOLDS_SECRET_VALUE.at(where, f"{name} holds a secret")


_SECRET_NAMES = frozenset({"HF_TOKEN", "VLLM_API_KEY"})


def _residency(where: str, pool: NodePool, decision: Decision) -> Iterator[Problem]:
    if pool.country not in decision.countries:
        allowed = ", ".join(decision.countries) or "no known country"
        what = (
            f"pool {pool.name} is in {pool.country or 'an unknown country'} ({pool.region}), the "
            f"workload's residency is {allowed}"
        )
        yield faults.OUTSIDE_RESIDENCY.at(where, what)


def _scheduling(
    where: str, server: VllmServer, pool: NodePool, pod: Mapping[str, Any]
) -> Iterator[Problem]:
    selector = pod["nodeSelector"]
    if not selector.items() <= pool_labels(pool).items():
        what = f"pods select {selector}, nodes of {pool.name} are labelled {pool_labels(pool)}"
        yield faults.WRONG_NODES.at(where, what, "Take both from one pool.")
    tolerated = {(item["key"], item.get("effect")) for item in pod["tolerations"]}
    for taint in pool_taints(pool):
        if (taint.key, taint.effect) not in tolerated:
            yield faults.WRONG_NODES.at(
                where, f"pods do not tolerate {taint.key} of {pool.name}", "Tolerate it."
            )
    if server.tier != pool.tier:
        what = f"a {server.tier} server on {pool.name}, a pool of the {pool.tier} tier"
        yield faults.WRONG_NODES.at(where, what, "Tiers never share nodes: give each its own pool.")
    spot = {SPOT_TAINT, "kubernetes.azure.com/scalesetpriority"} & {key for key, _ in tolerated}
    if server.tier == "interactive" and (spot or pool.spot):
        what = "an interactive server would run on nodes that the cloud may take back"
        yield faults.WRONG_NODES.at(where, what, "Use on-demand or reserved nodes for it.")
