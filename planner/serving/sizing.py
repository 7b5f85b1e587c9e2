"""The replicas a machine type can run for a workload, one for each legal degree.

Which of them to buy is a question of cost and is decided elsewhere; the
smallest degree comes first, and breaks ties there.
"""

from __future__ import annotations

import math
from functools import lru_cache

from planner.catalog.rows import Accelerator, Instance
from planner.serving.engine import VllmSettings
from planner.serving.parallelism import check_layout
from planner.serving.performance import replica_at
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, Refusal, Replica
from planner.serving.speed import RequestProfile
from planner.workload import Objectives, Traffic


def profile_of(traffic: Traffic, token_multiplier: float = 1.0) -> RequestProfile:
    """Return the request profile of a workload's traffic.

    ``token_multiplier`` is a model's tokens for the same work.
    """
    factor = token_multiplier
    return RequestProfile(
        prompt_mean=traffic.prompt_tokens.mean * factor,
        prompt_p95=traffic.prompt_tokens.p95 * factor,
        output_mean=traffic.output_tokens.mean * factor,
        output_p95=traffic.output_tokens.p95 * factor,
        max_tokens=math.ceil(traffic.max_tokens * factor),
        cached_fraction=traffic.cached_fraction,
    )


def replica_candidates(
    shape: ModelShape,
    instance: Instance,
    accelerator: Accelerator,
    settings: VllmSettings,
    traffic: Traffic,
    objectives: Objectives,
    *,
    token_multiplier: float = 1.0,
    pipeline_stages: int = 1,
) -> tuple[list[Replica], list[Refusal]]:
    """Return a replica for each degree that serves, and a refusal for each that does not.

    Degrees are the powers of two that divide the machine's GPUs.
    ``pipeline_stages`` above one spreads a replica over as many whole nodes.
    """
    replicas: list[Replica] = []
    refusals: list[Refusal] = []
    profile = profile_of(traffic, token_multiplier)
    for degree in tensor_degrees(instance.gpus):
        layout = Layout(tensor_parallel=degree, pipeline_parallel=pipeline_stages)
        illegal = check_layout(
            shape,
            layout,
            gpus_per_node=instance.gpus,
            interconnect=instance.interconnect,
            expert_parallel=settings.expert_parallel,
        )
        if illegal is not None:
            refusals.append(illegal)
            continue
        found = sized_replica(
            shape,
            layout,
            accelerator,
            instance.interconnect,
            settings,
            profile=profile,
            ttft_p95_ms=objectives.ttft_p95_ms,
            itl_p95_ms=objectives.itl_p95_ms,
        )
        if isinstance(found, Replica):
            replicas.append(found)
        else:
            refusals.append(found)
    return replicas, refusals


sized_replica = lru_cache(maxsize=4096)(replica_at)
"""``replica_at``, remembered: it does not depend on how much is asked of a pool, so the same
replica is wanted again at every volume, and by every workload of the same requests."""


def tensor_degrees(gpus_per_node: int) -> tuple[int, ...]:
    """Return the powers of two that divide a node's GPUs, so that none is left over."""
    degrees = []
    degree = 1
    while degree <= gpus_per_node:
        if gpus_per_node % degree == 0:
            degrees.append(degree)
        degree *= 2
    return tuple(degrees)


def replicas_for(requests_per_minute: float, replica: Replica) -> int:
    """Return the whole replicas that serve a demand; none for no demand."""
    if requests_per_minute <= 0:
        return 0
    return math.ceil(requests_per_minute / replica.requests_per_minute - 1e-9)


def replicas_holding(sequences: int, sequences_each: int) -> int:
    """Return the replicas that hold ``sequences`` at once, each holding ``sequences_each``."""
    return math.ceil(sequences / sequences_each)


def nodes_for(replicas: int, layout: Layout, gpus_per_node: int) -> int:
    """Return the whole nodes that hold ``replicas``.

    A tensor-parallel group never straddles nodes; neither does a replica,
    unless it has pipeline stages that do not fit on one.
    """
    if replicas <= 0:
        return 0
    if layout.gpus <= gpus_per_node:
        return math.ceil(replicas / (gpus_per_node // layout.gpus))
    stages_per_node = gpus_per_node // layout.tensor_parallel
    return replicas * math.ceil(layout.pipeline_parallel / stages_per_node)
