"""How vLLM cuts a GPU's KV pool into blocks, and what a request takes of them.

Layers that cache alike form a bucket; where several buckets meet, each is cut
into groups of one size and all groups share one pool of equal blocks
(``v1/core/kv_cache_utils.py``, vLLM 0.32). Capacity is therefore counted in
requests of a length, never as pool bytes over bytes per token: for hybrid models
that quotient is wrong (vllm-project/vllm#40691).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from planner.base import Frozen
from planner.serving.engine import Resolved
from planner.serving.kv import Kind, LayerCache, layer_cache
from planner.serving.shape import ModelShape

GROUP_PADDING_LIMIT = 1.5
"""Buckets whose layer counts differ by less are all padded to the largest count."""

CPU_BLOCK_TOKENS = 128
"""The block size of vLLM's CPU backend, and no GPU's default: it tells that recurrent
states are held in float32, whatever the config says (``platforms/cpu.py``, on processors
with bfloat16 instructions). Asked for on a GPU, it errs on the safe side."""

LATENT_HYBRID_BLOCK_TOKENS = 128
"""Latent attention beside recurrent states takes blocks of a multiple of this."""


class KvGroup(Frozen):
    """``copies`` groups of layers of one kind; a block holds ``block_tokens`` of each."""

    kind: Kind
    copies: int
    block_tokens: int
    window: int | None = None
    state_blocks: int = 1

    def blocks(self, length: int, max_num_batched_tokens: int) -> int:
        """Return the blocks a request of ``length`` tokens takes in these groups."""
        if self.kind == "state":
            return self.copies * self.state_blocks
        if self.window is None:
            return self.copies * -(-length // self.block_tokens)
        behind = self.window - 1 if self.kind == "sliding" else self.window
        kept = min(behind + max_num_batched_tokens, length)
        extra = 1 if self.kind == "sliding" else 0
        return self.copies * (-(-kept // self.block_tokens) + extra)


class KvPlan(Frozen):
    """The block layout of a stage: ``block_bytes`` of the pool is one block."""

    groups: tuple[KvGroup, ...]
    block_bytes: int
    max_num_batched_tokens: int

    def pool_blocks(self, pool_bytes: int) -> int:
        """Return the whole blocks a pool holds."""
        return pool_bytes // self.block_bytes if self.block_bytes else 0

    def request_blocks(self, length: int) -> int:
        """Return the blocks a request of ``length`` tokens takes."""
        return sum(group.blocks(length, self.max_num_batched_tokens) for group in self.groups)

    def concurrency(self, pool_bytes: int, length: int) -> float:
        """Return how many requests of ``length`` tokens the pool holds at once."""
        needed = self.request_blocks(length)
        if not needed or not self.block_bytes:
            return math.inf
        return self.pool_blocks(pool_bytes) / needed

    def tokens(self, pool_bytes: int, length: int) -> int:
        """Return the tokens held in requests of ``length``, as vLLM prints them.

        It prints requests x length, so a last block that is not full counts as
        if it were; 0 where nothing is cached.
        """
        concurrency = self.concurrency(pool_bytes, length)
        return math.floor(concurrency * length) if math.isfinite(concurrency) else 0


class Bucket(Frozen):
    """Layers that cache alike, by position in the model, and their page.

    ``page`` is the bytes one layer puts into a block of ``block_tokens``.
    """

    cache: LayerCache
    positions: tuple[int, ...]
    block_tokens: int
    page: int


@lru_cache(maxsize=1024)
def kv_plan(
    shape: ModelShape,
    tensor_parallel: int,
    resolved: Resolved,
    stage: tuple[int, int | None] = (0, None),
) -> KvPlan:
    """Return the block layout on one GPU of the stage that holds layers [start, stop).

    Groups are those of the whole model, as every stage shares one scheduler;
    ``block_bytes`` is what the layers of the stage put into a block.
    """
    start = stage[0]
    stop = shape.layer_count if stage[1] is None else stage[1]
    buckets = _aligned(_buckets(shape, tensor_parallel, resolved), resolved)
    kinds = {(bucket.cache.kind, bucket.cache.window) for bucket in buckets}
    if len(kinds) <= 1:
        groups, block_bytes = _one_kind(buckets, resolved, start, stop)
    else:
        groups, block_bytes = _several_kinds(_equal_pages(buckets), resolved, start, stop)
    return KvPlan(
        groups=groups,
        block_bytes=block_bytes,
        max_num_batched_tokens=resolved.max_num_batched_tokens,
    )


def _buckets(shape: ModelShape, tensor_parallel: int, resolved: Resolved) -> list[Bucket]:
    """Return the layers that cache alike, in order of their first layer."""
    by_kind: dict[int, list[int]] = {}
    for position, index in enumerate(shape.order):
        by_kind.setdefault(index, []).append(position)
    positions: dict[LayerCache, list[int]] = {}
    state_bytes_at_least = 4 if resolved.block_size == CPU_BLOCK_TOKENS else 0
    for index, held in by_kind.items():
        layer = shape.kinds[index]
        cache = layer_cache(layer, tensor_parallel, resolved.kv_dtype, state_bytes_at_least)
        if cache is not None:
            positions.setdefault(cache, []).extend(held)
    if resolved.rules.windows_need_equal_pages:
        positions = _all_full(positions)
    return [
        Bucket(
            cache=cache,
            positions=tuple(sorted(held)),
            block_tokens=resolved.block_size,
            page=cache.bytes * (1 if cache.kind == "state" else resolved.block_size),
        )
        for cache, held in positions.items()
    ]


def _all_full(positions: dict[LayerCache, list[int]]) -> dict[LayerCache, list[int]]:
    """Charge windows as full attention where pages differ, as vLLM did before 0.21."""
    attention = [cache for cache in positions if cache.kind != "state"]
    kinds = {(cache.kind, cache.window) for cache in attention}
    if len(kinds) <= 1 or len({cache.bytes for cache in attention}) <= 1:
        return positions
    merged: dict[LayerCache, list[int]] = {}
    for cache, held in positions.items():
        if cache.kind != "state":
            cache = cache.model_copy(update={"kind": "full", "window": None})
        merged.setdefault(cache, []).extend(held)
    return merged


def _aligned(buckets: list[Bucket], resolved: Resolved) -> list[Bucket]:
    """Raise the attention block until its page holds a state, and pad states to it."""
    states = [bucket for bucket in buckets if bucket.cache.kind == "state"]
    attention = [bucket for bucket in buckets if bucket.cache.kind != "state"]
    if not states or not attention:
        return buckets
    token = attention[0].cache.bytes
    state = max(bucket.page for bucket in states)
    step = resolved.block_size
    if any(bucket.cache.latent for bucket in attention):
        step = max(step, LATENT_HYBRID_BLOCK_TOKENS)
    block = max(resolved.block_size, step * math.ceil(state / (step * token)))
    return [
        bucket.model_copy(update={"page": block * token})
        if bucket.cache.kind == "state"
        else bucket.model_copy(update={"block_tokens": block, "page": block * bucket.cache.bytes})
        for bucket in buckets
    ]


def _equal_pages(buckets: list[Bucket]) -> list[Bucket]:
    """Make all pages as large as the largest.

    Attention whose page divides it takes more tokens a block; any other page is
    padded.
    """
    page = max(bucket.page for bucket in buckets)
    return [
        bucket.model_copy(
            update={
                "page": page,
                "block_tokens": bucket.block_tokens * (page // bucket.page)
                if bucket.cache.kind != "state" and page % bucket.page == 0
                else bucket.block_tokens,
            }
        )
        for bucket in buckets
    ]


def _one_kind(
    buckets: list[Bucket], resolved: Resolved, start: int, stop: int
) -> tuple[tuple[KvGroup, ...], int]:
    """Return one group of all layers: a block holds the pages of each of them."""
    block_bytes = sum(bucket.page * _within(bucket.positions, start, stop) for bucket in buckets)
    return tuple(_group(bucket, 1, resolved) for bucket in buckets[:1]), block_bytes


def _several_kinds(
    buckets: list[Bucket], resolved: Resolved, start: int, stop: int
) -> tuple[tuple[KvGroup, ...], int]:
    """Return groups of equal layer count; the i-th of n takes every n-th layer from i on."""
    counts = [len(bucket.positions) for bucket in buckets]
    smallest, largest = min(counts), max(counts)
    size = largest if largest < smallest * GROUP_PADDING_LIMIT else smallest
    groups, layers = [], 0
    for bucket in buckets:
        copies = math.ceil(len(bucket.positions) / size)
        groups.append(_group(bucket, copies, resolved))
        for first in range(copies):
            layers = max(layers, _within(bucket.positions[first::copies], start, stop))
    return tuple(groups), layers * buckets[0].page


def _within(positions: Sequence[int], start: int, stop: int) -> int:
    return sum(start <= position < stop for position in positions)


def _group(bucket: Bucket, copies: int, resolved: Resolved) -> KvGroup:
    return KvGroup(
        kind=bucket.cache.kind,
        copies=copies,
        block_tokens=bucket.block_tokens,
        window=bucket.cache.window,
        state_blocks=bucket.cache.copies if resolved.prefix_caching else 1,
    )
