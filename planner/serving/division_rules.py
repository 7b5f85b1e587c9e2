"""What a layout must divide: heads, KV heads, vocabulary, widths, blocks, experts.

As vLLM's loaders check them (``config/model.py`` verify_with_parallel_config, the
model classes, ``quantization/utils/fp8_utils.py`` validate_fp8_block_shape and
its MoE twin, ``mamba_mixer2.py``). Layers need not divide by pipeline stages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.serving.layers import (
    Attention,
    DeltaNet,
    DenseMlp,
    LatentAttention,
    Layer,
    Mamba2,
    MoeMlp,
)
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.serving.weights import VOCABULARY_MULTIPLE

PADDED_METHODS = frozenset({"mxfp4"})
"""Formats whose kernels pad the width, so that blocks may straddle GPUs."""

REGROUPED_METHODS = frozenset({"awq", "gptq"})
SMALLEST_GROUP = 32
"""Groups of experts in these formats are halved, down to 32, until they fit
(``quantization/moe_wna16.py``); those of dense layers are not."""

COLUMN_BLOCK_METHODS = frozenset({"fp8"})
"""Formats with scales per square block: output rows must hold whole blocks as well."""


def failing_division(shape: ModelShape, layout: Layout) -> str | None:
    """Return the first division that leaves a remainder, in words, or None."""
    degree = layout.tensor_parallel
    for count, what in _divided(shape, degree):
        if count % degree:
            return f"{count:,} {what} not divisible by {degree}"
    for layer in shape.kinds:
        reason = (
            _kv_reason(layer, degree)
            or _attention_blocks(shape, layer, degree)
            or _mlp_reason(shape, layer, layout)
        )
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
        elif isinstance(mixer, Mamba2):
            yield mixer.heads, "state heads are"
            if mixer.groups > 1:  # a single group is copied
                yield mixer.groups, "state groups are"
        elif mixer is not None:
            yield mixer.heads, "attention heads are"
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


def _attention_blocks(shape: ModelShape, layer: Layer, degree: int) -> str | None:
    """Return why a GPU's part of the attention matrices would cut a block of scales."""
    block = shape.quantisation.block
    mixer = layer.mixer
    if not block or degree == 1 or layer.mixer_bits >= 16 or mixer is None:
        return None
    if shape.quantisation.method in PADDED_METHODS:
        return None
    parts: list[tuple[int, str]] = []
    if isinstance(mixer, Attention | LatentAttention):
        parts.append((mixer.heads * mixer.value_dim // degree, "attention output width"))
    if isinstance(mixer, Attention) and shape.quantisation.method in COLUMN_BLOCK_METHODS:
        parts.append((mixer.heads * mixer.head_dim // degree, "query width"))
        parts.append((max(1, mixer.kv_heads // degree) * mixer.head_dim, "key width"))
    for size, what in parts:
        if size % block:
            return (
                f"{what} of {size:,} on each of {degree} GPUs is not a multiple of the "
                f"{shape.quantisation.method} block of {block}"
            )
    return None


def _mlp_reason(shape: ModelShape, layer: Layer, layout: Layout) -> str | None:
    degree = layout.tensor_parallel
    if isinstance(layer.mlp, DenseMlp):
        return _width_reason(shape, layer.mlp.width, "MLP width", degree, layer.mlp_bits)
    if not isinstance(layer.mlp, MoeMlp):
        return None
    ranks = layout.expert_ranks
    if layout.expert_parallel:
        experts = layer.mlp.experts
        return f"{experts} experts are not divisible by {ranks}" if experts % ranks else None
    width = layer.mlp.width
    reason = None
    if not _regrouped(shape, width, ranks):
        reason = _width_reason(shape, width, "expert width", ranks, layer.expert_bits)
    if reason is None and layer.mlp.shared_width:
        reason = _width_reason(
            shape, layer.mlp.shared_width, "shared-expert width", degree, layer.mlp_bits
        )
    return reason


def _regrouped(shape: ModelShape, width: int, ranks: int) -> bool:
    """Return whether the experts' groups can be halved until a GPU holds whole ones."""
    group = shape.quantisation.block or 0
    if shape.quantisation.method not in REGROUPED_METHODS or width % ranks:
        return False
    while group >= SMALLEST_GROUP:
        if width // ranks % group == 0:
            return True
        group //= 2
    return False


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
