"""From a decision to the vLLM server that it implies, every number from the same sizing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from planner.capacity import VllmServer
from planner.catalog.loader import Catalog
from planner.decision import Decision, Outcome, SelfHosted
from planner.declared.clusters import Cluster, ModelSource
from planner.features import ClusterSite, Scaling
from planner.serving.layers import Attention, LatentAttention
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Replica
from planner.units import GIB
from planner.workload import Workload

HOST_SHARE = 0.85
"""Share of a node's CPU and memory that its servers ask for; the rest runs the node."""

SHM_BYTES_PER_GPU = 2 * GIB
"""Shared memory for NCCL and worker messages, per GPU of a replica."""

ENGINE_START_SECONDS = 300
"""Engine start besides reading weights: compile, graph capture, profiling run."""

DRAIN_FACTOR = 1.2
"""The longest answer may take this much longer than planned while a server drains."""

SHORTEST_DRAIN_SECONDS = 30
LONGEST_DRAIN_SECONDS = 900

LONGEST_WINDOW_HOURS = 22
"""A batch window that is longer leaves no time to stop and start again."""

SPOT_NOTICE_SECONDS = {"aws": 120, "azure": 30, "gcp": 30}
"""What clouds give before they take a spot machine back."""


def site_of(cluster: Cluster) -> ClusterSite:
    """Return what the servers of ``cluster`` need to know of it."""
    gateway = cluster.features.gateway
    return ClusterSite(
        name=cluster.name,
        features=cluster.features,
        gateway_namespace=cluster.gateway_namespace or (gateway.namespace if gateway else None),
        monitoring_namespace=cluster.monitoring_namespace,
        batch_client_namespaces=cluster.batch_client_namespaces,
        node_quotas={item.instance: item.max_nodes for item in cluster.nodes},
    )


def server_of(
    decision: Decision,
    outcome: Outcome,
    cluster: Cluster,
    catalog: Catalog,
    *,
    node_pool: str,
    workload: Workload | None = None,
    shape_of: Callable[[str], ModelShape] | None = None,
) -> VllmServer:
    """Return the server of a self-hosted outcome.

    Without the ``workload`` it has no limit of queued tokens and drains for the longest
    request that fits; without ``shape_of`` its heads are not known.
    """
    hardware, size = outcome.option.hardware, outcome.self_hosted
    assert hardware is not None  # noqa: S101 - filtered by the caller
    assert size is not None  # noqa: S101 - filtered by the caller
    serving, replica = cluster.serving, size.replica
    gpus = replica.layout.gpus
    machine = catalog.instance(cluster.cloud, hardware.instance)
    nodes = math.ceil(gpus / machine.gpus)
    part = min(1.0, gpus / nodes / machine.gpus) * HOST_SHARE
    source = next(
        (item for item in serving.model_sources if item.model == outcome.option.model), None
    )
    weights_bytes = replica.ledger.weights_bytes * gpus
    load_seconds = math.ceil(weights_bytes / serving.load_bytes_per_s)
    spot = cluster.spot_batch and decision.tier == "batch"
    tokens, requests = _queue(decision, replica, workload)
    return VllmServer(
        name=decision.workload,
        workload=decision.workload,
        tier=decision.tier,
        cluster=cluster.name,
        namespace=f"{cluster.namespace}-{decision.tier}",
        node_pool=node_pool,
        model=outcome.option.model,
        image=serving.image,
        image_digest=serving.image_digest,
        **_places(source),
        vllm_version=serving.vllm_version,
        tensor_parallel=replica.layout.tensor_parallel,
        pipeline_parallel=replica.layout.pipeline_parallel,
        replicas=size.replicas + size.spare_replicas,
        gpus_per_replica=gpus,
        max_model_len=replica.ledger.max_model_len,
        max_num_seqs=replica.max_num_seqs,
        max_num_batched_tokens=replica.max_num_batched_tokens,
        gpu_memory_utilization=replica.ledger.gpu_memory_utilization,
        dtype="bfloat16",
        kv_cache_dtype=replica.kv_dtype,
        cpu=max(1, math.floor(machine.vcpu * part)),
        memory_bytes=math.floor(machine.memory_gib * part) * GIB,
        shm_bytes=SHM_BYTES_PER_GPU * gpus // nodes,
        startup_seconds=load_seconds + ENGINE_START_SECONDS,
        load_seconds=load_seconds,
        weights_bytes=weights_bytes,
        drain_seconds=_drain_seconds(replica, workload),
        notice_seconds=SPOT_NOTICE_SECONDS.get(cluster.cloud, 30) if spot else None,
        labels={"owner": decision.owner, "classification": decision.classification},
        **_heads(shape_of(outcome.option.model) if shape_of else None),
        scaling=_scaling(decision, outcome, size, cluster, workload),
        max_queued_requests=requests,
        max_queued_tokens=tokens,
        hf_token_secret=serving.hf_token_secret if source is None else None,
        api_key_secret=serving.api_key_secret,
        image_pull_secrets=serving.image_pull_secrets,
        service_account_annotations=serving.service_account_annotations,
    )


def _places(source: ModelSource | None) -> Mapping[str, Any]:
    if source is None:
        return {"model_claim": None, "model_revision": None}
    return {
        "model_claim": source.persistent_volume_claim,
        "model_image": source.image,
        "model_url": source.url,
        "model_cidrs": source.cidrs,
        "model_revision": source.revision,
    }


def _heads(shape: ModelShape | None) -> Mapping[str, Any]:
    """Return the attention heads that a layer's GPUs share, and the fewest KV heads.

    Latent attention (MLA) has no KV heads: every GPU holds the whole latent vector.
    """
    mixers = [layer.mixer for layer in shape.kinds] if shape else []
    softmax = [mixer for mixer in mixers if isinstance(mixer, Attention)]
    latent = [mixer for mixer in mixers if isinstance(mixer, LatentAttention)]
    heads = [mixer.heads for mixer in softmax] + [mixer.heads for mixer in latent]
    return {
        "attention_heads": math.gcd(*heads) if heads else None,
        "kv_heads": min((mixer.kv_heads for mixer in softmax), default=None),
    }


def _queue(
    decision: Decision, replica: Replica, workload: Workload | None
) -> tuple[int | None, int | None]:
    """Return the prompt tokens and the requests that an interactive server takes in.

    Prompts that wait longer than the time to the first token allows are better refused at
    once: target x prefill rate, but never less than the longest request. The rate is what the
    planned load prefills, over the share of time that it takes.
    """
    target = workload.objectives.ttft_p95_ms if workload else None
    if decision.tier != "interactive":
        return None, None
    mean = replica.tokens_per_minute / replica.requests_per_minute
    prompt = max(1.0, mean * (1 - decision.mix.output_fraction))
    if target is None or replica.prefill_share <= 0:
        return None, 2 * replica.max_num_seqs
    rate = replica.requests_per_minute / 60 * prompt / replica.prefill_share
    tokens = max(math.floor(target / 1000 * rate), replica.ledger.max_model_len)
    return tokens, replica.max_num_seqs + max(1, math.ceil(tokens / prompt))


def _scaling(
    decision: Decision,
    outcome: Outcome,
    size: SelfHosted,
    cluster: Cluster,
    workload: Workload | None,
) -> Scaling | None:
    """Return the bounds of an autoscaler, None where none may act.

    Interactive: from what holds the demand that is declared as always held, with the spare
    replicas, up to all that the plan's nodes hold. Batch: nothing outside of its window.
    """
    keda = cluster.features.keda
    planned = size.replicas + size.spare_replicas
    if keda is None:
        return None
    if decision.tier == "batch":
        window = workload.traffic.window if workload else None
        if window is None or window.hours_per_day > LONGEST_WINDOW_HOURS:
            return None
        return Scaling(min_replicas=0, max_replicas=planned, window=window)
    held = {
        "p50": decision.mix.tokens_per_minute_p50,
        "p90": decision.mix.tokens_per_minute_p90,
        "peak": decision.mix.tokens_per_minute_peak,
    }[keda.hold]
    each = outcome.floor_tokens_per_minute / size.replicas
    least = size.replicas if each <= 0 else min(size.replicas, max(1, math.ceil(held / each)))
    per_node = max(1, size.gpus_per_node // size.replica.layout.gpus)
    room = (size.nodes + size.spare_nodes) * per_node
    most = max(planned, room if size.replica.layout.gpus <= size.gpus_per_node else planned)
    least += size.spare_replicas
    return Scaling(min_replicas=least, max_replicas=most) if least < most else None


def _drain_seconds(replica: Replica, workload: Workload | None) -> int:
    tokens = replica.ledger.max_model_len
    if workload is not None:
        multiplier = max(choice.token_multiplier for choice in workload.models)
        tokens = min(tokens, math.ceil(workload.traffic.max_tokens * multiplier))
    longest = math.ceil(tokens * replica.itl_p95_ms / 1000 * DRAIN_FACTOR)
    return max(SHORTEST_DRAIN_SECONDS, min(LONGEST_DRAIN_SECONDS, longest))
