"""Which tensor- and pipeline-parallel degrees a model can legally be split into.

Rules are those of vLLM's loaders and kernels; each refusal names the division
that fails and the nearest degree that passes. Legality is checked before
memory, so that no candidate is offered that the engine would refuse at start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from planner.serving.layers import Attention, DeltaNet, DenseMlp, LatentAttention, Layer, MoeMlp
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, Refusal
from planner.serving.weights import VOCABULARY_MULTIPLE

Interconnect = Literal["none", "pcie", "nvlink_pair", "nvlink"]

WIDEST_WITHOUT_NVLINK = 2
"""Above two GPUs an all-reduce over PCIe falls to 2.5 GB/s and less, seconds for a
prefill chunk of a large model (measured on L40S, vLLM's custom kernel)."""

PADDED_METHODS = frozenset({"mxfp4"})
"""Formats whose kernels pad the width, so that blocks may straddle GPUs."""


def check_layout(
    shape: ModelShape,
    layout: Layout,
    *,
    gpus_per_node: int,
    interconnect: Interconnect,
    expert_parallel: bool = False,
) -> Refusal | None:
    """Return why ``layout`` is illegal for the model on such nodes, or None.

    ``expert_parallel`` spreads whole experts instead of slicing each, which
    lifts the rule on expert width.
    """
    reason = _reason(shape, layout, gpus_per_node, interconnect, expert_parallel)
    if reason is None:
        return None
    near = _nearest(shape, layout, gpus_per_node, interconnect, expert_parallel)
    return Refusal(layout=layout, kind="illegal", shortfall=reason, nearest=near)


def legal_layouts(
    shape: ModelShape,
    *,
    gpus_per_node: int,
    interconnect: Interconnect,
    expert_parallel: bool = False,
    max_pipeline_parallel: int = 1,
) -> tuple[Layout, ...]:
    """Return every legal layout, by tensor- then pipeline-parallel degree."""
    found = []
    for tensor in range(1, gpus_per_node + 1):
        for pipeline in range(1, max_pipeline_parallel + 1):
            layout = Layout(tensor_parallel=tensor, pipeline_parallel=pipeline)
            if _reason(shape, layout, gpus_per_node, interconnect, expert_parallel) is None:
                found.append(layout)
    return tuple(found)


def _nearest(
    shape: ModelShape,
    layout: Layout,
    gpus_per_node: int,
    interconnect: Interconnect,
    expert_parallel: bool,
) -> str:
    legal = [
        candidate.tensor_parallel
        for candidate in legal_layouts(
            shape,
            gpus_per_node=gpus_per_node,
            interconnect=interconnect,
            expert_parallel=expert_parallel,
        )
    ]
    degree = layout.tensor_parallel
    below = [d for d in legal if d < degree]
    above = [d for d in legal if d > degree]
    near = [*below[-1:], *above[:1]]
    if degree in legal:
        return f"pipeline-parallel degree {min(layout.pipeline_parallel, shape.layer_count)}"
    return " or ".join(f"tensor-parallel degree {d}" for d in near)


def _reason(
    shape: ModelShape,
    layout: Layout,
    gpus_per_node: int,
    interconnect: Interconnect,
    expert_parallel: bool,
) -> str | None:
    degree = layout.tensor_parallel
    if degree > gpus_per_node:
        return f"tensor-parallel degree {degree} exceeds the {gpus_per_node} GPUs of a node"
    if interconnect != "nvlink" and degree > WIDEST_WITHOUT_NVLINK:
        return (
            f"tensor-parallel degree {degree} over {interconnect.replace('_', ' ')} links: "
            f"all-reduces above {WIDEST_WITHOUT_NVLINK} GPUs need NVLink"
        )
    if layout.pipeline_parallel > shape.layer_count:
        return f"{shape.layer_count} layers cannot fill {layout.pipeline_parallel} stages"
    for count, what in _divided(shape, degree):
        if count % degree:
            return f"{count:,} {what} not divisible by {degree}"
    for layer in shape.kinds:
        reason = _kv_reason(layer, degree) or _mlp_reason(shape, layer, degree, expert_parallel)
        if reason is not None:
            return reason
    return None


def _divided(shape: ModelShape, degree: int) -> Iterator[tuple[int, str]]:
    """Yield every count that a degree must divide, with its name."""
    for layer in shape.kinds:
        mixer = layer.mixer
        if isinstance(mixer, DeltaNet):
            yield mixer.key_heads, "linear-attention key heads are"
            yield mixer.value_heads, "linear-attention value heads are"
        elif mixer is not None:
            latent = isinstance(mixer, Attention | LatentAttention)
            yield mixer.heads, "attention heads are" if latent else "state heads are"
    padded = math.ceil(shape.vocabulary / VOCABULARY_MULTIPLE) * VOCABULARY_MULTIPLE
    yield padded, f"vocabulary entries (padded to {VOCABULARY_MULTIPLE}) are"
    if shape.vision_heads and degree > 1:
        yield shape.vision_heads, "vision heads are"


def _kv_reason(layer: Layer, degree: int) -> str | None:
    if not isinstance(layer.mixer, Attention):
        return None
    heads = layer.mixer.kv_heads
    if degree <= heads and heads % degree:
        return f"{heads} KV heads are not divisible by {degree}"
    if degree > heads and degree % heads:
        return f"{heads} KV heads cannot be copied evenly to {degree} GPUs: {degree} % {heads} > 0"
    return None


def _mlp_reason(shape: ModelShape, layer: Layer, degree: int, expert_parallel: bool) -> str | None:
    if isinstance(layer.mlp, DenseMlp):
        return _width_reason(shape, layer.mlp.width, "MLP width", degree, layer.mlp_bits)
    if not isinstance(layer.mlp, MoeMlp):
        return None
    if expert_parallel:
        experts = layer.mlp.experts
        return f"{experts} experts are not divisible by {degree}" if experts % degree else None
    return _width_reason(shape, layer.mlp.width, "expert width", degree, layer.expert_bits)


def _width_reason(shape: ModelShape, width: int, what: str, degree: int, bits: float) -> str | None:
    if shape.quantisation.method in PADDED_METHODS:
        return None
    if width % degree:
        return f"{what} {width:,} is not divisible by {degree}"
    block = shape.quantisation.block
    if block and bits < 16 and degree > 1 and (width // degree) % block:
        return (
            f"{what} {width:,} / {degree} = {width // degree:,} is not a multiple of the "
            f"{shape.quantisation.method} block of {block}"
        )
    return None
