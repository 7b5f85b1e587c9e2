"""How vLLM cuts a GPU's KV pool into blocks, and what a request takes of them.

Layers that cache alike form a group; where several kinds meet, every group is
padded to the same number of layers and all share one pool of equal blocks
(``v1/core/kv_cache_utils.py``). Capacity is therefore counted in requests of a
length, never as pool bytes over bytes per token: for hybrid models that
quotient, and vLLM's own "KV cache size" line, are wrong (vllm-project/vllm#40691).
"""

from __future__ import annotations

import math
from typing import Literal

from planner.base import Frozen
from planner.serving.engine import Resolved
from planner.serving.kv import state_bytes, token_bytes, window_of
from planner.serving.layers import Attention, Layer
from planner.serving.shape import ModelShape

GROUP_PADDING_LIMIT = 1.25
"""Kinds whose layer counts differ by less are padded to the larger count (vLLM)."""

STATE_BLOCKS_WITH_PREFIX_CACHING = 2
"""Prefix caching in "align" mode keeps a second copy of a recurrent state."""


class KvGroup(Frozen):
    """``copies`` groups of layers of one kind; a block holds ``block_tokens`` of each."""

    kind: Literal["full", "sliding", "chunked", "state"]
    copies: int
    block_tokens: int
    window: int | None = None
    state_blocks: int = 1

    def blocks(self, length: int, max_num_batched_tokens: int) -> int:
        """Return the blocks a request of ``length`` tokens takes in these groups."""
        if self.kind == "state":
            return self.copies * self.state_blocks
        if self.window is None:
            return self.copies * math.ceil(length / self.block_tokens)
        behind = self.window - 1 if self.kind == "sliding" else self.window
        kept = min(behind + max_num_batched_tokens, length)
        extra = 1 if self.kind == "sliding" else 0
        return self.copies * (math.ceil(kept / self.block_tokens) + extra)


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
        return self.pool_blocks(pool_bytes) / needed if needed else math.inf

    def tokens(self, pool_bytes: int, length: int) -> int:
        """Return the tokens held in requests of ``length``; exact where all layers grow."""
        if len(self.groups) == 1 and self.groups[0].kind == "full":
            return self.pool_blocks(pool_bytes) * self.groups[0].block_tokens
        concurrency = self.concurrency(pool_bytes, length)
        return math.floor(concurrency * length) if math.isfinite(concurrency) else 0


def kv_plan(
    shape: ModelShape,
    tensor_parallel: int,
    resolved: Resolved,
    stage: tuple[int, int | None] = (0, None),
) -> KvPlan:
    """Return the block layout of the layers of ``stage`` on one GPU."""
    pages: dict[tuple[str, int | None], list[tuple[int, int]]] = {}
    for layer, count in shape.counts(*stage):
        kind = _kind(layer)
        if kind is None:
            continue
        size = (
            state_bytes(layer, tensor_parallel)
            if kind == "state"
            else token_bytes(layer, tensor_parallel, resolved.kv_dtype)
        )
        pages.setdefault((kind, window_of(layer)), []).append((size, count))
    attention = {key: sizes for key, sizes in pages.items() if key[0] != "state"}
    token_sizes = {size for sizes in attention.values() for size, _ in sizes}
    if len(attention) > 1 and len(token_sizes) > 1 and resolved.rules.windows_need_equal_pages:
        merged = [item for sizes in attention.values() for item in sizes]
        pages = {key: sizes for key, sizes in pages.items() if key[0] == "state"}
        pages[("full", None)] = merged
    if len(pages) <= 1:
        return _uniform(pages, resolved)
    return _grouped(pages, resolved)


def _kind(layer: Layer) -> Literal["full", "sliding", "chunked", "state"] | None:
    if layer.mixer is None:
        return None
    if isinstance(layer.mixer, Attention):
        return layer.mixer.kind
    return "full" if layer.mixer.kind == "mla" else "state"


def _uniform(
    pages: dict[tuple[str, int | None], list[tuple[int, int]]], resolved: Resolved
) -> KvPlan:
    """Return the layout of one kind: a block holds ``block_size`` tokens of every layer."""
    groups, block_bytes = [], 0
    for (kind, window), sizes in pages.items():
        tokens = 1 if kind == "state" else resolved.block_size
        block_bytes = tokens * sum(size * count for size, count in sizes)
        groups.append(_group(kind, window, 1, tokens, resolved))
    return KvPlan(
        groups=tuple(groups),
        block_bytes=block_bytes,
        max_num_batched_tokens=resolved.max_num_batched_tokens,
    )


def _grouped(
    pages: dict[tuple[str, int | None], list[tuple[int, int]]], resolved: Resolved
) -> KvPlan:
    """Return the layout of several kinds: equal pages, groups of equal layer count.

    Pages are made equal by giving a layer with smaller tokens more of them; with
    recurrent states the attention block is raised until its page holds a state.
    """
    widest = {
        key: max(size for size, _ in sizes) for key, sizes in pages.items() if key[0] != "state"
    }
    state = max(
        (size for key, sizes in pages.items() if key[0] == "state" for size, _ in sizes), default=0
    )
    base = resolved.block_size
    page = base * max(widest.values(), default=0)
    if state > page:
        token = max(widest.values(), default=0)
        page = math.ceil(state / (base * token)) * base * token if token else state
    counts = {key: sum(count for _, count in sizes) for key, sizes in pages.items()}
    smallest, largest = min(counts.values()), max(counts.values())
    layers = largest if largest < smallest * GROUP_PADDING_LIMIT else smallest
    groups = [
        _group(
            kind,
            window,
            math.ceil(counts[kind, window] / layers),
            1 if kind == "state" else page // (base * widest[kind, window]) * base,
            resolved,
        )
        for kind, window in pages
    ]
    return KvPlan(
        groups=tuple(groups),
        block_bytes=page * layers,
        max_num_batched_tokens=resolved.max_num_batched_tokens,
    )


def _group(kind: str, window: int | None, copies: int, tokens: int, resolved: Resolved) -> KvGroup:
    blocks = STATE_BLOCKS_WITH_PREFIX_CACHING if resolved.prefix_caching else 1
    return KvGroup.model_validate(
        {
            "kind": kind,
            "copies": copies,
            "block_tokens": tokens,
            "window": window,
            "state_blocks": blocks,
        }
    )
