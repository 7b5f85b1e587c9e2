"""From decisions to the resources that they imply: names, sizes, bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.capacity import NodePool, Resources, VllmServer
from planner.catalog.loader import Catalog
from planner.decision import Decision, Outcome
from planner.economics.prices import PriceBook
from planner.orders import confirmation, purchases_of, quotas_of
from planner.platform import Platform
from planner.providers import accounts_of, deployments_of, routing_of
from planner.steps import steps_of
from planner.units import GIB

HOST_SHARE = 0.85
"""Share of a node's CPU and memory that its servers ask for; the rest runs the node."""

SHM_BYTES_PER_GPU = 2 * GIB
"""Shared memory for NCCL and worker messages, per GPU of a replica."""

ENGINE_START_SECONDS = 300
"""Engine start besides reading weights: compile, graph capture, profiling run."""

LONGEST_DRAIN_SECONDS = 900


def resources_of(
    decisions: Sequence[Decision], platform: Platform, catalog: Catalog, book: PriceBook
) -> Resources:
    """Return what will exist for ``decisions``; nothing where nothing was decided."""
    decided = [(decision, decision.chosen) for decision in decisions if decision.chosen]
    hosted = [(d, o) for d, o in decided if o.self_hosted is not None]
    deployments = deployments_of(decided, platform, catalog)
    quotas = quotas_of(deployments, platform)
    found = Resources(
        node_pools=_node_pools(hosted, platform),
        servers=tuple(_server(d, o, platform, catalog) for d, o in hosted),
        deployments=deployments,
        purchases=purchases_of(decided, deployments, quotas, platform, book),
        accounts=accounts_of(deployments, platform),
        quotas=quotas,
    )
    confirmed = {
        item.name: word
        for item in deployments
        if (word := confirmation(platform, item.account, item.deployment_type, item.model))
    }
    steps = steps_of(found, confirmed, routing_of(decided, catalog))
    return found.model_copy(update={"steps": steps})


def pool_name(outcome: Outcome, tier: str) -> str:
    """Return the node pool's name: tier and machine type, one pool for each pair."""
    machine = outcome.option.deployment_type.removeprefix("Standard_").lower()
    return f"{tier}-{''.join(ch if ch.isalnum() else '-' for ch in machine)}"


def _node_pools(
    hosted: Sequence[tuple[Decision, Outcome]], platform: Platform
) -> tuple[NodePool, ...]:
    clusters = {cluster.name: cluster for cluster in platform.clusters}
    pools: dict[tuple[str, str], NodePool] = {}
    for decision, outcome in hosted:
        hardware, size = outcome.option.hardware, outcome.self_hosted
        assert hardware is not None  # noqa: S101 - filtered by the caller
        assert size is not None  # noqa: S101 - filtered by the caller
        cluster = clusters[hardware.cluster]
        name = pool_name(outcome, decision.tier)
        held = pools.get((cluster.name, name))
        nodes = size.nodes + size.spare_nodes
        pools[(cluster.name, name)] = NodePool(
            name=name,
            cluster=cluster.name,
            cloud=cluster.cloud,
            region=cluster.region,
            kind=cluster.node_pools,
            resource_group=cluster.resource_group,
            tier=decision.tier,
            instance=hardware.instance,
            accelerator=hardware.accelerator,
            gpus_per_node=hardware.gpus_per_node,
            min_nodes=(held.min_nodes if held else 0)
            + (nodes if decision.tier == "interactive" else 0),
            max_nodes=(held.max_nodes if held else 0) + nodes,
            zones=cluster.zones,
        )
    return tuple(pools[key] for key in sorted(pools))


def _server(
    decision: Decision, outcome: Outcome, platform: Platform, catalog: Catalog
) -> VllmServer:
    hardware, size = outcome.option.hardware, outcome.self_hosted
    assert hardware is not None  # noqa: S101 - filtered by the caller
    assert size is not None  # noqa: S101 - filtered by the caller
    cluster = next(item for item in platform.clusters if item.name == hardware.cluster)
    serving, replica = cluster.serving, size.replica
    gpus = replica.layout.gpus
    machine = catalog.instance(cluster.cloud, hardware.instance)
    part = min(1.0, gpus / machine.gpus) * HOST_SHARE
    source = next(
        (item for item in serving.model_sources if item.model == outcome.option.model), None
    )
    weights_bytes = replica.ledger.weights_bytes * gpus
    return VllmServer(
        name=decision.workload,
        workload=decision.workload,
        tier=decision.tier,
        cluster=cluster.name,
        namespace=cluster.namespace,
        node_pool=pool_name(outcome, decision.tier),
        model=outcome.option.model,
        image=serving.image,
        image_digest=serving.image_digest,
        model_claim=source.persistent_volume_claim if source else None,
        model_revision=source.revision if source else None,
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
        shm_bytes=SHM_BYTES_PER_GPU * gpus,
        startup_seconds=math.ceil(weights_bytes / serving.load_bytes_per_s) + ENGINE_START_SECONDS,
        drain_seconds=_drain_seconds(replica.ledger.max_model_len, replica.itl_p95_ms),
        labels={"owner": decision.owner, "classification": decision.classification},
    )


def _drain_seconds(longest_output_tokens: int, itl_ms: float) -> int:
    longest = math.ceil(longest_output_tokens * itl_ms / 1000)
    return max(30, min(LONGEST_DRAIN_SECONDS, longest))
