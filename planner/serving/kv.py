"""KV-cache bytes of one layer on one GPU, for each kind of token mixer.

Formulas follow vLLM ``v1/kv_cache_interface.py``. ``tensor_parallel`` divides
KV heads until one is left on each GPU, after that they are copies; a latent
(MLA) cache is never divided; recurrent states divide by heads.
"""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen
from planner.serving.engine import KvDtype
from planner.serving.layers import Attention, DeltaNet, LatentAttention, Layer, Mamba2
from planner.serving.shape import ModelShape

Kind = Literal["full", "sliding", "chunked", "state"]
"""How a layer's cache grows with a request: with every token, up to a window (which
slides or is cut in chunks), or not at all."""

KV_BITS: dict[KvDtype, float] = {"bfloat16": 16.0, "fp8": 8.0, "nvfp4": 4.5}
"""Bits of a cached element; NVFP4 has an 8-bit scale for every 16 of them."""

SPARSE_MLA_FP8_BYTES = 656
"""A token's latent in vLLM's ``fp8_ds_mla`` layout, used by sparse attention (V3.2)."""

INDEX_SCALE_BYTES_PER_128 = 4
"""The indexer's 8-bit key carries one float32 scale for every 128 elements."""

CONV_STATE_BYTES = 2
"""Convolution windows are kept at 16 bits whatever the recurrent state's precision."""

STATE_COPIES = {"mamba2": 3, "delta_net": 2}
"""States of a sequence under prefix caching ("align" mode): the running one, the one
at the last block's end, and for Mamba-2 one more that a prefill writes on its way
(vLLM 0.32, vllm-project/vllm#57329)."""


def token_bytes(layer: Layer, tensor_parallel: int, kv_dtype: KvDtype = "bfloat16") -> int:
    """Return the bytes one cached token takes in one attention layer on one GPU."""
    mixer = layer.mixer
    if isinstance(mixer, Attention):
        heads = max(1, mixer.kv_heads // tensor_parallel)
        return round(heads * (mixer.head_dim + mixer.value_dim) * KV_BITS[kv_dtype] / 8)
    if isinstance(mixer, LatentAttention):
        return _latent_bytes(mixer, kv_dtype)
    return 0


def _latent_bytes(mixer: LatentAttention, kv_dtype: KvDtype) -> int:
    latent = round((mixer.kv_rank + mixer.rope_dim) * KV_BITS[kv_dtype] / 8)
    if not mixer.index_heads:
        return latent
    if kv_dtype == "fp8":
        latent = SPARSE_MLA_FP8_BYTES
    return latent + mixer.index_dim + mixer.index_dim // 128 * INDEX_SCALE_BYTES_PER_128


def state_bytes(layer: Layer, tensor_parallel: int, at_least: int = 0) -> int:
    """Return the bytes of a sequence's recurrent state in one layer on one GPU.

    ``at_least`` is the fewest bytes an element of the recurrent matrix takes.
    Mamba groups that the degree does not divide are copied to every GPU.
    """
    mixer = layer.mixer
    if isinstance(mixer, Mamba2):
        groups = mixer.groups if mixer.groups % tensor_parallel == 0 else tensor_parallel
        channels = mixer.heads * mixer.head_dim + 2 * groups * mixer.state
        state = mixer.heads * mixer.head_dim * mixer.state
    elif isinstance(mixer, DeltaNet):
        channels = 2 * mixer.key_heads * mixer.key_dim + mixer.value_heads * mixer.value_dim
        state = mixer.value_heads * mixer.value_dim * mixer.key_dim
    else:
        return 0
    window = channels * (mixer.kernel - 1) * CONV_STATE_BYTES
    return (window + state * max(mixer.state_bytes, at_least)) // tensor_parallel


class LayerCache(Frozen):
    """What a layer caches on one GPU; layers with equal values can share a block.

    ``bytes`` is of one token, or of the whole state for kind "state", of which
    prefix caching keeps ``copies``. ``geometry`` tells apart caches of equal size
    and other dimensions.
    """

    kind: Kind
    window: int | None
    bytes: int
    geometry: tuple[int, ...]
    latent: bool = False
    copies: int = 1


def layer_cache(
    layer: Layer, tensor_parallel: int, kv_dtype: KvDtype, state_bytes_at_least: int = 0
) -> LayerCache | None:
    """Return what ``layer`` caches, None for a layer without a token mixer."""
    mixer = layer.mixer
    if mixer is None:
        return None
    if isinstance(mixer, Attention):
        heads = max(1, mixer.kv_heads // tensor_parallel)
        return LayerCache(
            kind=mixer.kind,
            window=mixer.window,
            bytes=token_bytes(layer, tensor_parallel, kv_dtype),
            geometry=(heads, mixer.head_dim, mixer.value_dim),
        )
    if isinstance(mixer, LatentAttention):
        size = token_bytes(layer, tensor_parallel, kv_dtype)
        return LayerCache(kind="full", window=None, bytes=size, geometry=(size,), latent=True)
    if isinstance(mixer, Mamba2):
        geometry = (mixer.heads, mixer.head_dim, mixer.state, mixer.groups, mixer.kernel)
    else:
        keys = (mixer.key_heads, mixer.key_dim)
        geometry = (*keys, mixer.value_heads, mixer.value_dim, mixer.kernel)
    return LayerCache(
        kind="state",
        window=None,
        bytes=state_bytes(layer, tensor_parallel, state_bytes_at_least),
        geometry=geometry,
        copies=STATE_COPIES[mixer.kind],
    )


def window_of(layer: Layer) -> int | None:
    """Return the tokens a windowed layer sees, None for any other layer."""
    return layer.mixer.window if isinstance(layer.mixer, Attention) else None


def grows(shape: ModelShape, layer: Layer) -> bool:
    """Return whether each further token of a sequence adds to a layer's cache.

    A window as long as the model's context (Phi-4-mini: 262,144 of 131,072) never binds.
    """
    window, limit = window_of(layer), shape.max_context_tokens
    return window is None or (limit is not None and window >= limit)


def kept_tokens(layer: Layer, length: int, max_num_batched_tokens: int) -> int:
    """Return the tokens of a request of ``length`` that a layer holds at its peak.

    A sliding window keeps window - 1 tokens plus the chunk being computed, a
    chunked layer its chunk plus that; never more than the request has.
    """
    window = window_of(layer)
    if window is None:
        return length
    assert isinstance(layer.mixer, Attention)  # noqa: S101 - only attention has a window
    behind = window - 1 if layer.mixer.kind == "sliding" else window
    return min(behind + max_num_batched_tokens, length)


def growing_bytes_per_token(
    shape: ModelShape,
    tensor_parallel: int = 1,
    kv_dtype: KvDtype = "bfloat16",
    stage: tuple[int, int | None] = (0, None),
) -> int:
    """Return the bytes each further token of a sequence adds on one GPU.

    Windowed layers and recurrent states do not grow, so they are not in it.
    """
    return sum(
        token_bytes(layer, tensor_parallel, kv_dtype) * count
        for layer, count in shape.counts(*stage)
        if grows(shape, layer)
    )


def windowed_bytes_per_token(
    shape: ModelShape,
    tensor_parallel: int = 1,
    kv_dtype: KvDtype = "bfloat16",
    stage: tuple[int, int | None] = (0, None),
) -> int:
    """Return the bytes a token inside the window takes over all windowed layers."""
    return sum(
        token_bytes(layer, tensor_parallel, kv_dtype) * count
        for layer, count in shape.counts(*stage)
        if not grows(shape, layer)
    )


def fixed_bytes_per_sequence(
    shape: ModelShape,
    tensor_parallel: int = 1,
    kv_dtype: KvDtype = "bfloat16",
    *,
    length: int,
    max_num_batched_tokens: int,
    stage: tuple[int, int | None] = (0, None),
) -> int:
    """Return what a sequence of ``length`` holds besides its growing cache, in bytes."""
    total = 0
    for layer, count in shape.counts(*stage):
        total += state_bytes(layer, tensor_parallel) * count
        if not grows(shape, layer):
            kept = kept_tokens(layer, length, max_num_batched_tokens)
            total += kept * token_bytes(layer, tensor_parallel, kv_dtype) * count
    return total
