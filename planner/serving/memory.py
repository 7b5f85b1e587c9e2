"""Does a model fit, and how many tokens can it hold: two budgets.

``textbook_budget`` is the hand calculation: memory less weights, less a tenth.
``vllm_ledger`` is the sum vLLM makes at start, GPU by GPU, and is what plans
use. The two disagree on purpose; a report may show both.
"""

from __future__ import annotations

import math

from planner.base import Frozen
from planner.catalog.rows import Accelerator
from planner.serving.activation import activation_bytes, graph_bytes, non_torch_bytes
from planner.serving.engine import Resolved, VllmSettings, resolved
from planner.serving.kv import fixed_bytes_per_sequence, growing_bytes_per_token
from planner.serving.kv_pool import KvPlan, kv_plan
from planner.serving.reserve import Terms, vllm_pool
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, MemoryLedger
from planner.serving.weights import stage_weights, stages
from planner.units import format_bytes

TEXTBOOK_RESERVE = 0.10
"""Share of what the weights leave that the hand calculation keeps back."""


class TextbookBudget(Frozen):
    """The simple memory budget over all GPUs of a replica, in bytes."""

    memory_bytes: int
    weights_bytes: float
    free_bytes: float
    kv_budget_bytes: float
    kv_bytes_per_sequence: int
    sequences: int


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, element_bytes: float) -> float:
    """Return 2 (K and V) x layers x KV heads x head dim x bytes: never attention heads."""
    return 2 * layers * kv_heads * head_dim * element_bytes


def textbook_budget(
    *,
    memory_bytes: int,
    parameters: float,
    bytes_per_parameter: float,
    kv_bytes_per_sequence: int,
    reserve: float = TEXTBOOK_RESERVE,
) -> TextbookBudget:
    """Return the budget (memory - weights) x (1 - reserve) and the sequences it holds.

    Weights are parameters x bytes, exactly; the budget is never below zero and
    sequences are floored.
    """
    weights = parameters * bytes_per_parameter
    free = max(0.0, memory_bytes - weights)
    budget = free * (1 - reserve)
    return TextbookBudget(
        memory_bytes=memory_bytes,
        weights_bytes=weights,
        free_bytes=free,
        kv_budget_bytes=budget,
        kv_bytes_per_sequence=kv_bytes_per_sequence,
        sequences=math.floor(budget / kv_bytes_per_sequence),
    )


class StageMemory(Frozen):
    """One pipeline stage's share of the sum, on one of its GPUs."""

    stage: int
    weights_bytes: int
    kv_pool_bytes: int
    plan: KvPlan


def stage_memories(
    shape: ModelShape, layout: Layout, accelerator: Accelerator, filled: Resolved
) -> tuple[StageMemory, ...]:
    """Return weights, KV pool and block layout of each pipeline stage."""
    found = []
    for number, bounds in enumerate(stages(shape.layer_count, layout.pipeline_parallel)):
        terms = _terms(shape, layout, accelerator, filled, number)
        pool = max(0, vllm_pool(terms, filled.gpu_memory_utilization))
        if filled.kv_cache_memory_bytes is not None:
            pool = filled.kv_cache_memory_bytes
        plan = kv_plan(shape, layout.tensor_parallel, filled, bounds)
        found.append(
            StageMemory(stage=number, weights_bytes=terms.weights, kv_pool_bytes=pool, plan=plan)
        )
    return tuple(found)


def _terms(
    shape: ModelShape, layout: Layout, accelerator: Accelerator, filled: Resolved, stage: int
) -> Terms:
    last = stage == layout.pipeline_parallel - 1
    return Terms(
        total=accelerator.cuda_visible_bytes,
        weights=stage_weights(shape, layout, stage).total,
        activation=activation_bytes(shape, layout, filled, last_stage=last),
        non_torch=non_torch_bytes(layout, filled.rules.non_torch_bytes),
        graph=graph_bytes(shape, layout, filled),
    )


def vllm_ledger(
    shape: ModelShape, layout: Layout, accelerator: Accelerator, *, settings: VllmSettings
) -> MemoryLedger:
    """Return vLLM's memory sum for the GPU that holds fewest requests.

    KV pool = total x utilization - weights - activation - non-torch - graphs,
    where total is what CUDA reports. It fits when the pool holds at least one
    request of ``max_model_len``. Tokens and concurrency are of the whole replica:
    every attention data-parallel rank has a cache of its own.
    """
    filled = resolved(settings, accelerator, shape.max_context_tokens)
    length = filled.max_model_len
    memories = stage_memories(shape, layout, accelerator, filled)
    tightest = min(memories, key=lambda m: m.plan.concurrency(m.kv_pool_bytes, length))
    concurrency = tightest.plan.concurrency(tightest.kv_pool_bytes, length)
    if not math.isfinite(concurrency):  # nothing is cached: the batch limit is what counts
        concurrency = float(filled.max_num_seqs)
    terms = _terms(shape, layout, accelerator, filled, tightest.stage)
    ranks = layout.attention_data_parallel
    bounds = stages(shape.layer_count, layout.pipeline_parallel)[tightest.stage]
    degree = layout.tensor_parallel
    ledger = MemoryLedger(
        total_bytes=accelerator.cuda_visible_bytes,
        gpu_memory_utilization=filled.gpu_memory_utilization,
        weights_bytes=terms.weights,
        activation_bytes=terms.activation,
        non_torch_bytes=terms.non_torch,
        graph_bytes=terms.graph,
        kv_pool_bytes=tightest.kv_pool_bytes,
        kv_bytes_per_token=growing_bytes_per_token(shape, degree, filled.kv_dtype, bounds),
        kv_fixed_bytes_per_sequence=fixed_bytes_per_sequence(
            shape,
            degree,
            filled.kv_dtype,
            length=length,
            max_num_batched_tokens=filled.max_num_batched_tokens,
            stage=bounds,
        ),
        kv_tokens=tightest.plan.tokens(tightest.kv_pool_bytes, length) * ranks,
        max_model_len=length,
        max_concurrency=concurrency * ranks,
        fits=True,
        reason="",
    )
    reason = _why_not(ledger, tightest.plan, accelerator, filled, concurrency)
    return ledger.model_copy(update={"fits": not reason, "reason": reason})


def _why_not(
    ledger: MemoryLedger,
    plan: KvPlan,
    accelerator: Accelerator,
    filled: Resolved,
    concurrency: float,
) -> str:
    """Return why the ledger does not fit, in words with numbers, or "".

    ``concurrency`` is of one rank: no request is spread over several.
    """
    if filled.kv_dtype == "fp8" and accelerator.fp8_flops is None:
        return f"{accelerator.name} has no 8-bit floating point: an fp8 KV cache is refused"
    if filled.kv_dtype == "nvfp4" and accelerator.fp4_flops is None:
        return f"{accelerator.name} has no 4-bit floating point: an nvfp4 KV cache is refused"
    overhead = ledger.activation_bytes + ledger.non_torch_bytes + ledger.graph_bytes
    needed = ledger.weights_bytes + overhead
    budget = math.floor(ledger.total_bytes * ledger.gpu_memory_utilization)
    share = f"{ledger.gpu_memory_utilization:g} of {format_bytes(ledger.total_bytes)}"
    if filled.kv_cache_memory_bytes is not None:
        if needed + ledger.kv_pool_bytes > ledger.total_bytes:
            return (
                f"weights and overheads of {format_bytes(needed)} and the fixed KV pool of "
                f"{format_bytes(ledger.kv_pool_bytes)} exceed {format_bytes(ledger.total_bytes)}"
            )
    elif needed >= budget:
        return (
            f"weights of {format_bytes(ledger.weights_bytes)} and overheads of "
            f"{format_bytes(overhead)} leave nothing of {format_bytes(budget)} ({share}) "
            f"for the KV cache: {format_bytes(needed - budget)} short on each GPU"
        )
    if concurrency < 1:
        wanted = plan.request_blocks(ledger.max_model_len) * plan.block_bytes
        longest = longest_request(plan, ledger.kv_pool_bytes, ledger.max_model_len)
        return (
            f"one request of {ledger.max_model_len:,} tokens needs {format_bytes(wanted)} of KV "
            f"cache on each GPU and {format_bytes(ledger.kv_pool_bytes)} is left; the longest "
            f"that fits has {longest:,} tokens"
        )
    return ""


def longest_request(plan: KvPlan, pool_bytes: int, at_most: int) -> int:
    """Return the longest request, up to ``at_most`` tokens, that the pool holds."""
    blocks = plan.pool_blocks(pool_bytes)
    low, high = 0, at_most
    while low < high:
        middle = (low + high + 1) // 2
        if plan.request_blocks(middle) <= blocks:
            low = middle
        else:
            high = middle - 1
    return low
