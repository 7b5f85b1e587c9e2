"""Seconds of an engine step on real hardware: weights, KV, links and overheads.

The closed form, per GPU: a decode step costs the larger of reading the weights
and computing the batch, plus reading the KV cache, plus two all-reduces a
layer, plus launch overheads; a prefill costs its arithmetic, attention and
communication. Efficiency factors are the rows of ``efficiency``.
"""

from __future__ import annotations

from planner.base import Frozen
from planner.catalog.rows import Accelerator
from planner.serving.efficiency import (
    INTER_NODE_BYTES_PER_S,
    INTER_NODE_LATENCY_S,
    LAYER_OVERHEAD_S,
    STEP_OVERHEAD_S,
    Efficiency,
    Link,
    efficiency_for,
    link_for,
    precision_of,
    prefill_attention_share,
)
from planner.serving.engine import KvDtype
from planner.serving.kv import state_bytes, token_bytes, window_of
from planner.serving.layers import Attention, LatentAttention, MoeMlp
from planner.serving.parallelism import Interconnect
from planner.serving.roofline import FLOPS_PER_PARAMETER, distinct_expert_share, ring_bytes
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.serving.weights import stage_weights

HIDDEN_BYTES = 2
"""Activations travel between GPUs at 16 bits."""


class StepModel(Frozen):
    """What a layout's step times follow from; bytes and rates are of one GPU.

    Weight bytes are summed over the stages a token passes one after another.
    """

    fixed_weight_bytes: float
    expert_weight_bytes: float
    experts: int
    active_experts: int
    matmul_parameters: float
    growing_kv_bytes: float
    windowed_kv: tuple[tuple[int, float], ...]
    state_bytes: float
    attention_flops: tuple[tuple[int | None, float], ...]
    layers: int
    hidden: int
    tensor_parallel: int
    pipeline_parallel: int
    bandwidth: float
    flops: float
    attention_peak: float
    efficiency: Efficiency
    link: Link


def step_model(
    shape: ModelShape,
    layout: Layout,
    accelerator: Accelerator,
    interconnect: Interconnect,
    kv_dtype: KvDtype = "bfloat16",
) -> StepModel:
    """Gather the sums a layout's step times need."""
    degree = layout.tensor_parallel
    stages = [stage_weights(shape, layout, n) for n in range(layout.pipeline_parallel)]
    head = sum(stage.head for stage in stages)
    moe = [layer.mlp for layer in shape.kinds if isinstance(layer.mlp, MoeMlp)]
    precision = precision_of(shape.quantisation.bits, shape.quantisation.method)
    windowed: dict[int, float] = {}
    growing = 0.0
    for layer, count in shape.counts():
        size = float(token_bytes(layer, degree, kv_dtype) * count)
        window = window_of(layer)
        if window is None:
            growing += size
        else:
            windowed[window] = windowed.get(window, 0.0) + size
    return StepModel(
        fixed_weight_bytes=float(sum(stage.layers for stage in stages) + head),
        expert_weight_bytes=float(sum(stage.routed_experts for stage in stages)),
        experts=max((mlp.experts for mlp in moe), default=0),
        active_experts=max((mlp.active for mlp in moe), default=0),
        matmul_parameters=float(shape.matmul_parameters),
        growing_kv_bytes=growing,
        windowed_kv=tuple(sorted(windowed.items())),
        state_bytes=float(sum(state_bytes(layer, degree) * n for layer, n in shape.counts())),
        attention_flops=_attention_flops(shape),
        layers=shape.layer_count,
        hidden=shape.hidden,
        tensor_parallel=degree,
        pipeline_parallel=layout.pipeline_parallel,
        bandwidth=accelerator.bandwidth_bytes_per_s,
        flops=_peak_flops(shape, accelerator),
        attention_peak=accelerator.bf16_flops,
        efficiency=efficiency_for(accelerator, precision),
        link=link_for(accelerator, interconnect, degree),
    )


def decode_step_seconds(model: StepModel, batch: float, context_tokens: float) -> float:
    """Return one decode step for ``batch`` sequences of a mean context.

    With pipeline stages each runs its share of the batch in turn, so a token
    passes all of them.
    """
    weights, arithmetic = decode_bounds(model, batch)
    share = batch / model.pipeline_parallel
    kv = share * kv_read_bytes(model, context_tokens)
    kv_seconds = kv / (model.bandwidth * model.efficiency.attention)
    return (
        max(weights, arithmetic)
        + kv_seconds
        + all_reduce_seconds(model, share)
        + _overheads(model, share)
    )


def decode_bounds(model: StepModel, batch: float) -> tuple[float, float]:
    """Return the seconds of reading the weights and of the arithmetic in a decode step."""
    share = batch / model.pipeline_parallel
    weights = weight_read_bytes(model, share) / (model.bandwidth * model.efficiency.bandwidth)
    return weights, _arithmetic_seconds(model, share)


def prefill_seconds(model: StepModel, new_tokens: float, cached_tokens: float = 0.0) -> float:
    """Return the time to prefill ``new_tokens`` behind ``cached_tokens``, alone."""
    if new_tokens <= 0:
        return 0.0
    products = max(
        _arithmetic_seconds(model, new_tokens),
        weight_read_bytes(model, new_tokens) / (model.bandwidth * model.efficiency.bandwidth),
    )
    return (
        products
        + _prefill_attention_seconds(model, new_tokens, cached_tokens)
        + all_reduce_seconds(model, new_tokens)
        + _overheads(model, new_tokens)
    )


def mixed_stall_seconds(
    model: StepModel, batch: float, new_tokens: float, cached_tokens: float, chunk_tokens: int
) -> float:
    """Return how much one prefill lengthens the decode steps it is chunked into.

    A step that carries a chunk reads the weights once for both, so a chunk costs
    only what its arithmetic exceeds that read, the experts a decode batch alone
    would not have touched, its attention, and its share of the links.
    """
    if new_tokens <= 0:
        return 0.0
    chunks = max(1.0, new_tokens / chunk_tokens)
    weights, arithmetic = decode_bounds(model, batch)
    chunk = new_tokens / chunks
    mixed = max(
        weight_read_bytes(model, chunk + batch) / (model.bandwidth * model.efficiency.bandwidth),
        arithmetic + _arithmetic_seconds(model, chunk),
    )
    volume = all_reduce_seconds(model, new_tokens) - all_reduce_seconds(model, 0)
    attention = _prefill_attention_seconds(model, new_tokens, cached_tokens)
    return chunks * (mixed - max(weights, arithmetic)) + attention + volume


def weight_read_bytes(model: StepModel, tokens: float) -> float:
    """Return what a pass of ``tokens`` reads of the weights on one GPU: experts as touched."""
    touched = distinct_expert_share(model.experts, model.active_experts, tokens)
    return model.fixed_weight_bytes + model.expert_weight_bytes * touched


def product_flops(model: StepModel, tokens: float) -> float:
    """Return the FLOPs of the weights' matrix products on one GPU for ``tokens``."""
    return FLOPS_PER_PARAMETER * model.matmul_parameters * tokens / model.tensor_parallel


def kv_read_bytes(model: StepModel, context_tokens: float) -> float:
    """Return what one sequence's step reads of its cache on one GPU, states twice."""
    windowed = sum(min(context_tokens, window) * size for window, size in model.windowed_kv)
    return model.growing_kv_bytes * context_tokens + windowed + 2 * model.state_bytes


def all_reduce_seconds(model: StepModel, tokens: float) -> float:
    """Return two all-reduces a layer and one for the embedding, over ``tokens``."""
    if model.tensor_parallel == 1:
        return 0.0
    message = tokens * model.hidden * HIDDEN_BYTES
    moved = ring_bytes(message, model.tensor_parallel) / model.link.bus_bytes_per_s
    return (2 * model.layers + 1) * (model.link.latency_s + moved)


def _arithmetic_seconds(model: StepModel, tokens: float) -> float:
    return product_flops(model, tokens) / (model.flops * model.efficiency.compute)


def _overheads(model: StepModel, tokens: float) -> float:
    hops = model.pipeline_parallel - 1
    message = tokens * model.hidden * HIDDEN_BYTES
    between = hops * (INTER_NODE_LATENCY_S + message / INTER_NODE_BYTES_PER_S)
    return LAYER_OVERHEAD_S * model.layers + STEP_OVERHEAD_S + between


def _prefill_attention_seconds(model: StepModel, new_tokens: float, cached: float) -> float:
    """Return causal attention: each new token sees what stands before it, or its window."""
    total = 0.0
    for window, per_pair in model.attention_flops:
        seen = cached + new_tokens / 2
        total += per_pair * new_tokens * (seen if window is None else min(seen, window))
    share = prefill_attention_share(new_tokens)
    return total / model.tensor_parallel / (model.attention_peak * share)


def _attention_flops(shape: ModelShape) -> tuple[tuple[int | None, float], ...]:
    """Return FLOPs for each pair of tokens, by window: queries x keys and weights x values."""
    found: dict[int | None, float] = {}
    for layer, count in shape.counts():
        mixer = layer.mixer
        if isinstance(mixer, Attention):
            width = mixer.head_dim + mixer.value_dim
        elif isinstance(mixer, LatentAttention):
            width = mixer.nope_dim + mixer.rope_dim + mixer.value_dim
        else:
            continue
        window = window_of(layer)
        flops = FLOPS_PER_PARAMETER * mixer.heads * width * count
        found[window] = found.get(window, 0.0) + flops
    return tuple(found.items())


def _peak_flops(shape: ModelShape, accelerator: Accelerator) -> float:
    """Return the arithmetic peak the weights' format can use on the card."""
    if not shape.quantisation.fast or shape.quantisation.method == "none":
        return accelerator.bf16_flops
    if shape.quantisation.bits < 8:
        return accelerator.fp4_flops or accelerator.bf16_flops
    return accelerator.fp8_flops or accelerator.bf16_flops
