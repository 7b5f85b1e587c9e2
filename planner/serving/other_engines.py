"""The memory ledger of TensorRT-LLM, SGLang and TGI, in vLLM's terms.

Weights and bytes a token are the model's, whatever serves it; what differs is the
reserve (``reserve``), the page, and the peaks. Nothing here has been measured
start by start as vLLM's ledger has: one pool of SGLang is (vllm-project/vllm#21348).
"""

from __future__ import annotations

import math

from planner.base import Frozen
from planner.catalog.rows import Accelerator
from planner.serving.activation import forward_bytes, non_torch_bytes
from planner.serving.engine import Resolved, VllmSettings, resolved
from planner.serving.kv import fixed_bytes_per_sequence, growing_bytes_per_token
from planner.serving.layers import Attention, LatentAttention
from planner.serving.reserve import (
    TGI_FRACTION,
    TRTLLM_FRACTION,
    Engine,
    Terms,
    sglang_fraction,
    sglang_pool,
    tgi_pool,
    trtllm_pool,
)
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, MemoryLedger
from planner.serving.weights import stage_weights, stages
from planner.units import GIB, MIB, format_bytes

PAGE_TOKENS: dict[Engine, int] = {"trtllm": 32, "sglang": 1, "tgi": 1}
"""Tokens of a KV page by default (tokens_per_block, page_size, block size)."""

TRTLLM_BATCHED_TOKENS = 8_192
TRTLLM_OTHER_BYTES = round(3.5 * GIB)
TRTLLM_NCCL_BYTES = {1: 0, 2: 342 * MIB, 4: 392 * MIB}
TRTLLM_COPIES = {"dense": {1: 11.0, 2: 6.5, 4: 5.0}, "moe": {1: 22.0, 2: 13.0, 4: 10.0}}
"""Activation = 2 bytes x tokens x heads x head_dim x copies, at least 70 MiB; NCCL and
other memory beside it (ai-dynamo/aiconfigurator@095f58a); a degree uses the row below."""


class _Stage(Frozen):
    bounds: tuple[int, int]
    terms: Terms
    pool: int
    token_bytes: int
    fixed_bytes: int

    def request_bytes(self, length: int, page: int) -> int:
        return self.fixed_bytes + self.token_bytes * math.ceil(length / page) * page


def engine_ledger(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    engine: Engine,
    *,
    settings: VllmSettings,
) -> MemoryLedger:
    """Return the ledger of an engine other than vLLM for its tightest stage.

    ``settings.gpu_memory_utilization`` is read as that engine's own fraction.
    """
    filled = resolved(settings, accelerator, shape.max_context_tokens)
    fraction = settings.gpu_memory_utilization or default_fraction(engine, accelerator, layout)
    page = PAGE_TOKENS[engine]
    length = filled.max_model_len
    found = [
        _stage(shape, layout, accelerator, engine, filled, fraction, number, bounds)
        for number, bounds in enumerate(stages(shape.layer_count, layout.pipeline_parallel))
    ]
    tightest = min(found, key=lambda one: one.pool / max(1, one.request_bytes(length, page)))
    pool = max(0, tightest.pool)
    needed = max(1, tightest.request_bytes(length, page))
    held = pool / needed
    growing = tightest.token_bytes
    reason = ""
    if tightest.pool <= 0:
        reason = (
            f"weights of {format_bytes(tightest.terms.weights)} leave nothing for the KV cache at "
            f"a fraction of {fraction:g}"
        )
    elif held < 1:
        longest = max(0, pool - tightest.fixed_bytes) // growing if growing else 0
        reason = (
            f"one request of {length:,} tokens needs {format_bytes(needed)} of KV cache on each "
            f"GPU and {format_bytes(pool)} is left; the longest that fits has {longest:,} tokens"
        )
    only_grows = tightest.fixed_bytes == 0 and growing > 0
    tokens = pool // growing // page * page if only_grows else math.floor(held * length)
    ranks = layout.attention_data_parallel
    return MemoryLedger(
        total_bytes=tightest.terms.total,
        gpu_memory_utilization=fraction,
        weights_bytes=tightest.terms.weights,
        activation_bytes=tightest.terms.activation,
        non_torch_bytes=tightest.terms.non_torch,
        graph_bytes=0,
        kv_pool_bytes=pool,
        kv_bytes_per_token=growing,
        kv_fixed_bytes_per_sequence=tightest.fixed_bytes,
        kv_tokens=tokens * ranks,
        max_model_len=length,
        max_concurrency=held * ranks,
        fits=not reason,
        reason=reason,
    )


def default_fraction(engine: Engine, accelerator: Accelerator, layout: Layout) -> float:
    """Return the fraction an engine takes when none is given."""
    if engine == "sglang":
        return sglang_fraction(accelerator, layout)
    return TRTLLM_FRACTION if engine == "trtllm" else TGI_FRACTION


def _stage(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    engine: Engine,
    filled: Resolved,
    fraction: float,
    number: int,
    bounds: tuple[int, int],
) -> _Stage:
    activation, other = _peaks(shape, layout, engine, filled)
    terms = Terms(
        total=accelerator.cuda_visible_bytes,
        weights=stage_weights(shape, layout, number).total,
        activation=activation,
        non_torch=other,
    )
    pool = {"trtllm": trtllm_pool, "sglang": sglang_pool, "tgi": tgi_pool}[engine](terms, fraction)
    if filled.kv_cache_memory_bytes is not None:
        pool = filled.kv_cache_memory_bytes
    degree = layout.tensor_parallel
    return _Stage(
        bounds=bounds,
        terms=terms,
        pool=pool,
        token_bytes=growing_bytes_per_token(shape, degree, filled.kv_dtype, bounds),
        fixed_bytes=fixed_bytes_per_sequence(
            shape,
            degree,
            filled.kv_dtype,
            length=filled.max_model_len,
            max_num_batched_tokens=filled.max_num_batched_tokens,
            stage=bounds,
        ),
    )


def _peaks(shape: ModelShape, layout: Layout, engine: Engine, filled: Resolved) -> tuple[int, int]:
    """Return the activation and the runtime's memory beside it, in bytes."""
    if engine != "trtllm":
        return forward_bytes(shape, layout, filled.max_num_batched_tokens), non_torch_bytes(layout)
    step = max(key for key in TRTLLM_NCCL_BYTES if key <= layout.tensor_parallel)
    copies = TRTLLM_COPIES["moe" if shape.is_moe else "dense"][step]
    mixers = [layer.mixer for layer in shape.kinds]
    widths = [m.heads * m.head_dim for m in mixers if isinstance(m, Attention)]
    widths += [m.heads * m.value_dim for m in mixers if isinstance(m, LatentAttention)]
    width = max(widths, default=shape.hidden)
    activation = max(70 * MIB, round(2 * TRTLLM_BATCHED_TOKENS * width * copies))
    return activation, TRTLLM_NCCL_BYTES[step] + TRTLLM_OTHER_BYTES
