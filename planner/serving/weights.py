"""Weight bytes: of the whole checkpoint, and of the fullest GPU of a layout."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

from planner.base import Frozen
from planner.serving.layers import Attention, LatentAttention, Layer, MoeMlp
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout

SIXTEEN_BITS = 2
"""Bytes of a weight that is never quantised."""

MXFP4_WIDTH_MULTIPLE = 256
"""vLLM's MXFP4 kernels pad an expert's width on each GPU to this: gpt-oss's 2,880
becomes 3,072, which is why 60.8 GiB of checkpoint load as 64.4 (llm-d-planner@e50305a,
docs/empirical-vllm-memory-results.md; another release pads more: 65.97 GiB,
vllm-project/vllm#23278). Over eight GPUs 360 becomes 512: 9.98 GiB loaded on each
instead of 7.9 (vllm-project/vllm#51590)."""

REPLICATED_LATENT = ("q_a_proj", "kv_a_proj_with_mqa", "indexer.wq_b", "indexer.wk")
"""Matrices of latent attention that every tensor-parallel rank holds whole."""

VOCABULARY_MULTIPLE = 64
"""vLLM pads the vocabulary to a multiple of 64 before it is divided."""


class StageWeights(Frozen):
    """Bytes on one GPU of a pipeline stage; ``embedding`` is the lookup table alone."""

    layers: int
    routed_experts: int
    embedding: int
    head: int
    vision: int

    @property
    def total(self) -> int:
        """All weight bytes resident on the GPU."""
        return self.layers + self.routed_experts + self.embedding + self.head + self.vision


def stages(layers: int, pipeline_parallel: int) -> tuple[tuple[int, int], ...]:
    """Return [start, stop) of each pipeline stage, as vLLM splits unequal counts.

    The remainder goes one layer each to the stages before the last, counted
    backwards (``vllm/distributed/utils.py`` get_pp_indices).
    """
    sizes = [layers // pipeline_parallel] * pipeline_parallel
    for back in range(2, layers % pipeline_parallel + 2):
        sizes[-back] += 1
    bounds = [0]
    for size in sizes:
        bounds.append(bounds[-1] + size)
    return tuple(itertools.pairwise(bounds))


def checkpoint_bytes(shape: ModelShape) -> int:
    """Return the bytes of all weights: quantised matrices at their bits, the rest at 16."""
    layers = sum(
        (_fixed_bytes(layer, shape.hidden) + _expert_bytes(layer, shape.hidden)) * count
        for layer, count in shape.counts()
    )
    tables = shape.embedding_parameters * (1 if shape.tied_embeddings else 2)
    return round(layers + (tables + shape.hidden + shape.vision_parameters) * SIXTEEN_BITS)


@lru_cache(maxsize=1024)
def stage_weights(shape: ModelShape, layout: Layout, stage: int) -> StageWeights:
    """Return the bytes on each GPU of pipeline stage ``stage``.

    Matrices divide by the tensor-parallel degree; routed experts by that times the
    attention data-parallel ranks, whether sliced or dealt; norms, routers and
    latent projections are copies; KV projections become copies once the degree
    exceeds the KV heads.
    """
    degree = layout.tensor_parallel
    bounds = stages(shape.layer_count, layout.pipeline_parallel)
    counts = shape.counts(*bounds[stage])
    last = stage == layout.pipeline_parallel - 1
    table = _table_bytes(shape, degree)
    first = stage == 0
    shares_table = shape.tied_embeddings and layout.pipeline_parallel == 1
    fixed = sum(_rank_bytes(layer, shape.hidden, degree) * n for layer, n in counts)
    experts = sum(_loaded_expert_bytes(shape, layer, layout) * n for layer, n in counts)
    return StageWeights(
        layers=round(fixed) + (shape.hidden * SIXTEEN_BITS if last else 0),
        routed_experts=round(experts / layout.expert_ranks),
        embedding=table if first and not shares_table else 0,
        head=table if last else 0,
        vision=math.ceil(shape.vision_parameters * SIXTEEN_BITS / degree) if first else 0,
    )


def fullest_stage(shape: ModelShape, layout: Layout) -> StageWeights:
    """Return the weights of the stage that holds most."""
    each = (stage_weights(shape, layout, n) for n in range(layout.pipeline_parallel))
    return max(each, key=lambda weights: weights.total)


def _table_bytes(shape: ModelShape, degree: int) -> int:
    rows = math.ceil(shape.vocabulary / VOCABULARY_MULTIPLE) * VOCABULARY_MULTIPLE
    return math.ceil(rows / degree) * shape.hidden * SIXTEEN_BITS


def _fixed_bytes(layer: Layer, hidden: int) -> float:
    total = float(layer.norms * hidden * SIXTEEN_BITS)
    for part, bits in ((layer.mixer, layer.mixer_bits), (layer.mlp, layer.mlp_bits)):
        if part is not None:
            total += sum(size for _, size in part.projections(hidden)) * bits / 8
            total += part.small(hidden) * SIXTEEN_BITS
    return total


def _expert_bytes(layer: Layer, hidden: int) -> float:
    if not isinstance(layer.mlp, MoeMlp):
        return 0.0
    one = layer.mlp.expert_parameters(hidden) * layer.expert_bits / 8
    return layer.mlp.experts * (one + layer.mlp.expert_small(hidden) * SIXTEEN_BITS)


def _loaded_expert_bytes(shape: ModelShape, layer: Layer, layout: Layout) -> float:
    """Return the bytes all GPUs of a stage hold of a layer's routed experts, padding included."""
    if shape.quantisation.method != "mxfp4" or not isinstance(layer.mlp, MoeMlp):
        return _expert_bytes(layer, shape.hidden)
    slices = 1 if layout.expert_parallel else layout.expert_ranks
    each = math.ceil(layer.mlp.width / slices / MXFP4_WIDTH_MULTIPLE) * MXFP4_WIDTH_MULTIPLE
    return _expert_bytes(layer, shape.hidden) * each * slices / layer.mlp.width


def _rank_bytes(layer: Layer, hidden: int, degree: int) -> float:
    """Return the bytes of one layer on one GPU, routed experts left out."""
    total = float(layer.norms * hidden * SIXTEEN_BITS)
    for part, bits in ((layer.mixer, layer.mixer_bits), (layer.mlp, layer.mlp_bits)):
        if part is None:
            continue
        for name, size in part.projections(hidden):
            total += size * bits / 8 / gpus_sharing(layer, name, degree)
        total += part.small(hidden) * SIXTEEN_BITS
    return total


def gpus_sharing(layer: Layer, projection: str, degree: int) -> int:
    """Return over how many GPUs of a tensor-parallel group a matrix is divided."""
    mixer = layer.mixer
    if isinstance(mixer, Attention) and projection in ("self_attn.k_proj", "self_attn.v_proj"):
        return min(degree, mixer.kv_heads)
    if isinstance(mixer, LatentAttention) and projection.endswith(REPLICATED_LATENT):
        return 1
    if projection.endswith("_latent_proj"):
        return 1
    return degree
