"""What one replica sustains: the largest running batch within memory and objectives.

The model, in order:

1. Memory: requests are admitted on their projected final length, so the batch
   is what the KV pool holds of prompt + output.
2. Inter-token latency: TPOT(B) = decode step at B + B x stall / output. Every
   running request pays for its neighbours' prefills, which share the steps'
   weight reads. All requests share the steps, so this mean is also what the
   95th percentile of requests sees at B; single tokens can stall for a chunk.
3. Rate: Little's law, mean running requests / time in the batch. With latency
   objectives the mean stays below B by square-root staffing; a batch tier
   keeps every slot full.
4. First token: prefill of the 95th-percentile prompt, one step in progress, and
   the wait of an M/G/1 queue of prefills. Grows with the rate; the rate is
   lowered until it meets its objective. TTFT under load is the least certain
   figure here: published closed forms miss by a factor of six at high load.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from planner.catalog.rows import Accelerator
from planner.serving.engine import VllmSettings, resolved
from planner.serving.memory import StageMemory, longest_request, stage_memories, vllm_ledger
from planner.serving.parallelism import Interconnect
from planner.serving.queueing import (
    MAX_PREFILL_UTILISATION,
    mean_occupancy,
    sequences_held,
    slots_needed,
)
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, MemoryLedger, Refusal, Replica
from planner.serving.speed import Load, RequestProfile, load_of
from planner.serving.steps import decode_bounds

Limit = Literal["kv_cache", "itl", "ttft", "compute", "bandwidth"]

SMALLEST_BATCH_LIMIT = 8
"""The lowest ``max_num_seqs`` tried when the engine's default leaves too little KV."""

BISECTIONS = 40


class Working(NamedTuple):
    """What stands behind a replica: its speed model, and the steps to its batch and rate.

    ``limit`` is the engine's ``max_num_seqs`` that was tried, ``kv_sequences`` what the KV
    pool holds under it, ``slots`` the batch before staffing, ``occupancy`` the mean number
    of running requests.
    """

    load: Load
    limit: int
    kv_sequences: int
    slots: int
    occupancy: float


def replica_at(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    interconnect: Interconnect,
    settings: VllmSettings,
    *,
    profile: RequestProfile,
    ttft_p95_ms: float | None = None,
    itl_p95_ms: float | None = None,
) -> Replica | Refusal:
    """Return the replica at the highest rate it sustains, or why it cannot serve.

    Both objectives None is the batch tier, whose TTFT leaves its queue out. When
    ``max_num_seqs`` is not given, lower limits than the engine's default are
    tried: they shrink the sampler's memory and so leave more for the KV cache.
    """
    found = working_at(
        shape,
        layout,
        accelerator,
        interconnect,
        settings,
        profile=profile,
        ttft_p95_ms=ttft_p95_ms,
        itl_p95_ms=itl_p95_ms,
    )
    return found if isinstance(found, Refusal) else found[0]


def working_at(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    interconnect: Interconnect,
    settings: VllmSettings,
    *,
    profile: RequestProfile,
    ttft_p95_ms: float | None = None,
    itl_p95_ms: float | None = None,
) -> tuple[Replica, Working] | Refusal:
    """Return what ``replica_at`` returns, with the working behind it."""
    asked = settings.model_copy(update={"max_model_len": settings.max_model_len or profile.longest})
    too_long = _too_long(shape, layout, asked, profile)
    if too_long is not None:
        return too_long
    load = load_of(shape, layout, accelerator, interconnect, asked, profile)
    best: tuple[Replica, Working] | None = None
    refusal: Refusal | None = None
    for limit in _limits(shape, accelerator, asked):
        limited = asked.model_copy(update={"max_num_seqs": limit})
        found = _replica(shape, layout, accelerator, limited, load, ttft_p95_ms, itl_p95_ms)
        if isinstance(found, Refusal):
            refusal = found
        elif best is None or found[0].requests_per_minute > best[0].requests_per_minute:
            best = found
    if best is not None:
        return best
    assert refusal is not None  # noqa: S101 - at least one limit is tried
    return refusal


def _limits(shape: ModelShape, accelerator: Accelerator, settings: VllmSettings) -> list[int]:
    """Return the batch limits to try: the one given, or the default and its halves."""
    if settings.max_num_seqs is not None:
        return [settings.max_num_seqs]
    limit = resolved(settings, accelerator, shape.max_context_tokens).max_num_seqs
    found = [limit]
    while found[-1] // 2 >= SMALLEST_BATCH_LIMIT:
        found.append(found[-1] // 2)
    return found


def _replica(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    settings: VllmSettings,
    load: Load,
    ttft_p95_ms: float | None,
    itl_p95_ms: float | None,
) -> tuple[Replica, Working] | Refusal:
    ledger = vllm_ledger(shape, layout, accelerator, settings=settings)
    filled = resolved(settings, accelerator, shape.max_context_tokens)
    memories = stage_memories(shape, layout, accelerator, filled)
    if not ledger.fits:
        return _does_not_fit(layout, ledger, memories)
    held = min(_sequences(memory, load.profile) for memory in memories)
    slots, limit = filled.max_num_seqs, _bound(load, filled.max_num_seqs)
    if held < slots:
        slots, limit = held, "kv_cache"
    if itl_p95_ms is not None:
        within = _largest_batch(load, slots, itl_p95_ms / 1000)
        if within < 1:
            return _misses(layout, "inter-token latency of a batch of 1", load.tpot(1), itl_p95_ms)
        if within < slots:
            slots, limit = within, "itl"
    interactive = ttft_p95_ms is not None or itl_p95_ms is not None
    occupancy = mean_occupancy(slots) if interactive else float(slots)
    if interactive:
        calm = _largest_occupancy(load, occupancy, None)
        if calm < occupancy:
            occupancy, limit = calm, "compute"
    if ttft_p95_ms is not None:
        alone = load.ttft_p95(0.0)
        if alone * 1000 > ttft_p95_ms:
            return _misses(layout, "time to the first token without load", alone, ttft_p95_ms)
        quick = _largest_occupancy(load, occupancy, ttft_p95_ms / 1000)
        if quick < occupancy:
            occupancy, limit = quick, "ttft"
    working = Working(load, filled.max_num_seqs, held, slots, occupancy)
    if interactive:
        slots = min(slots, slots_needed(occupancy))
    rate = load.rate(occupancy)
    final = settings.model_copy(update={"max_num_seqs": slots})
    profile = load.profile
    replica = Replica(
        layout=layout,
        precision=shape.precision,
        kv_dtype=filled.kv_dtype,
        ledger=vllm_ledger(shape, layout, accelerator, settings=final),
        max_num_seqs=slots,
        max_num_batched_tokens=filled.max_num_batched_tokens,
        requests_per_minute=rate * 60,
        tokens_per_minute=rate * 60 * (profile.prompt_mean + profile.output_mean),
        ttft_p95_ms=load.ttft_p95(occupancy if interactive else 0.0) * 1000,
        itl_p95_ms=load.tpot(slots) * 1000,
        prefill_share=min(
            1.0, rate * load.stall(occupancy, load.mean_prompt) / layout.pipeline_parallel
        ),
        limited_by=limit,
    )
    return replica, working


def _bound(load: Load, batch: int) -> Limit:
    weights, arithmetic = decode_bounds(load.model, batch)
    stalls = batch * load.stall(batch, load.mean_prompt) / load.profile.output_mean
    return "compute" if max(arithmetic, stalls) > weights else "bandwidth"


def _sequences(memory: StageMemory, profile: RequestProfile) -> int:
    """Return the requests a stage's pool holds, each at its projected final length."""
    mean = memory.plan.request_blocks(math.ceil(profile.prompt_mean + profile.output_mean))
    long = memory.plan.request_blocks(math.ceil(profile.prompt_p95 + profile.output_p95))
    blocks = memory.plan.pool_blocks(memory.kv_pool_bytes)
    if not mean:
        return 2**31
    return sequences_held(blocks, mean, long)


def _largest_batch(load: Load, at_most: int, itl_s: float) -> int:
    low, high = 0, at_most
    while low < high:
        middle = (low + high + 1) // 2
        if load.tpot(middle) <= itl_s:
            low = middle
        else:
            high = middle - 1
    return low


def _largest_occupancy(load: Load, at_most: float, ttft_s: float | None) -> float:
    """Return the highest occupancy within the utilisation cap and the TTFT objective."""

    def within(occupancy: float) -> bool:
        if load.use(occupancy) > MAX_PREFILL_UTILISATION:
            return False
        return ttft_s is None or load.ttft_p95(occupancy) <= ttft_s

    if within(at_most):
        return at_most
    low, high = 0.0, at_most
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


def _too_long(
    shape: ModelShape, layout: Layout, settings: VllmSettings, profile: RequestProfile
) -> Refusal | None:
    assert settings.max_model_len is not None  # noqa: S101 - the caller has set it
    limits = [settings.max_model_len]
    if shape.max_context_tokens is not None:
        limits.append(shape.max_context_tokens)
    if profile.longest <= min(limits) and settings.max_model_len <= limits[-1]:
        return None
    longest = max(profile.longest, settings.max_model_len)
    return Refusal(
        layout=layout,
        kind="request_too_long",
        shortfall=f"a request of {longest:,} tokens exceeds the limit of {min(limits):,}",
        nearest=f"prompt and max_tokens of {min(limits):,} tokens together",
    )


def _does_not_fit(
    layout: Layout, ledger: MemoryLedger, memories: tuple[StageMemory, ...]
) -> Refusal:
    longest = min(
        longest_request(memory.plan, memory.kv_pool_bytes, ledger.max_model_len)
        for memory in memories
    )
    if longest > 0 and ledger.max_concurrency < 1:
        return Refusal(
            layout=layout,
            kind="request_too_long",
            shortfall=ledger.reason,
            nearest=f"requests of at most {longest:,} tokens, a higher tensor-parallel degree, "
            "or an 8-bit KV cache",
        )
    return Refusal(
        layout=layout,
        kind="does_not_fit",
        shortfall=ledger.reason,
        nearest="a higher tensor-parallel degree, a larger card, or smaller weights",
    )


def _misses(layout: Layout, what: str, seconds: float, objective_ms: float) -> Refusal:
    return Refusal(
        layout=layout,
        kind="misses_objective",
        shortfall=f"{what} is {seconds * 1000:,.1f} ms against {objective_ms:,.1f} ms",
        nearest=f"an objective of {math.ceil(seconds * 1000):,} ms, or a higher degree",
    )
