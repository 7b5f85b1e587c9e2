"""The KV capacity of many models, cards, degrees and lengths at once, as arrays.

A model at a tensor-parallel degree is compiled once into a row of integers:
weight bytes, overheads, block layout. Every cell of the sweep is then array
arithmetic on those rows, and equals what ``vllm_ledger`` says of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.catalog.rows import Accelerator
from planner.serving.activation import activation_bytes, graph_bytes, non_torch_bytes
from planner.serving.engine import Resolved, VllmSettings, resolved
from planner.serving.kv_pool import KvPlan, kv_plan
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.serving.weights import stage_weights

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

UNBOUNDED = 2**62
"""Stands for the window of attention that has none, in tokens."""


class Sweep(NamedTuple):
    """Arrays of [model, card, degree, length]; the pool has no length axis.

    ``kv_pool_bytes`` is of one GPU; ``max_concurrency`` counts requests of the
    length; ``fits`` is whether a replica would start.
    """

    kv_pool_bytes: Integers
    kv_tokens: Integers
    max_concurrency: Floats
    fits: Flags


class _Layouts(NamedTuple):
    """Block layouts as arrays of [model, degree], groups on a third axis.

    A group takes ``copies`` x (ceil(min(kept, length) / tokens) + extra) blocks,
    where kept is ``behind`` plus the batched tokens, or UNBOUNDED; ``fixed``
    blocks come on top whatever the length.
    """

    block_bytes: Integers
    fixed: Integers
    copies: Integers
    tokens: Integers
    behind: Integers
    extra: Integers


def sweep(
    shapes: Sequence[ModelShape],
    accelerators: Sequence[Accelerator],
    degrees: Sequence[int],
    lengths: Sequence[int],
    settings: VllmSettings | None = None,
) -> Sweep:
    """Return vLLM's KV capacity for every combination.

    ``settings`` apply to all; their ``max_model_len`` is replaced by each length.
    Whether a degree is legal for a model is not asked (see ``check_layout``).
    """
    base = (settings or VllmSettings()).model_copy(update={"max_model_len": lengths[0]})
    filled = [resolved(base, card, None) for card in accelerators]
    budgets = np.array(
        [
            math.floor(card.cuda_visible_bytes * each.gpu_memory_utilization)
            for card, each in zip(accelerators, filled, strict=True)
        ],
        dtype=np.int64,
    )
    needed = _needed_bytes(shapes, filled, degrees)
    pool = np.maximum(0, budgets[None, :, None] - needed)
    starts = needed < budgets[None, :, None]
    if base.kv_cache_memory_bytes is not None:
        pool = np.full_like(pool, base.kv_cache_memory_bytes)
        totals = np.array([card.cuda_visible_bytes for card in accelerators], dtype=np.int64)
        starts = needed + pool <= totals[None, :, None]
    starts = starts & np.array([_holds_dtype(card, base) for card in accelerators])[:, None]
    layouts = _layouts(shapes, degrees, filled[0])
    batched = np.array([each.max_num_batched_tokens for each in filled], dtype=np.int64)
    request = _request_blocks(layouts, batched, np.array(lengths, dtype=np.int64))
    blocks = pool // np.maximum(1, layouts.block_bytes)[:, None, :]
    cached = (request > 0) & (layouts.block_bytes > 0)[:, None, :, None]
    seqs = np.array([each.max_num_seqs for each in filled], dtype=np.float64)
    ratio = blocks[..., None] / np.maximum(1, request)
    concurrency = np.where(cached, ratio, seqs[None, :, None, None])
    held = np.floor(np.where(cached, concurrency, 0.0) * np.array(lengths, dtype=np.int64))
    return Sweep(
        kv_pool_bytes=pool,
        kv_tokens=held.astype(np.int64),
        max_concurrency=concurrency,
        fits=starts[..., None] & (concurrency >= 1),
    )


def _holds_dtype(card: Accelerator, settings: VllmSettings) -> bool:
    if settings.kv_dtype == "fp8":
        return card.fp8_flops is not None
    return settings.kv_dtype != "nvfp4" or card.fp4_flops is not None


def _needed_bytes(
    shapes: Sequence[ModelShape], filled: Sequence[Resolved], degrees: Sequence[int]
) -> Integers:
    """Return weights and overheads of [model, card, degree]; cards of equal limits share."""
    limits = [(each.max_num_seqs, each.max_num_batched_tokens) for each in filled]
    classes = {limit: filled[limits.index(limit)] for limit in limits}
    column = [list(classes).index(limit) for limit in limits]
    needed = np.empty((len(shapes), len(classes), len(degrees)), dtype=np.int64)
    for m, shape in enumerate(shapes):
        for t, degree in enumerate(degrees):
            layout = Layout(tensor_parallel=degree)
            fixed = stage_weights(shape, layout, 0).total + non_torch_bytes(layout)
            for c, each in enumerate(classes.values()):
                overhead = graph_bytes(shape, layout, each)
                needed[m, c, t] = fixed + overhead + activation_bytes(shape, layout, each)
    return needed[:, column, :]


def _layouts(shapes: Sequence[ModelShape], degrees: Sequence[int], filled: Resolved) -> _Layouts:
    plans = [[kv_plan(shape, degree, filled) for degree in degrees] for shape in shapes]
    widest = max((len(plan.groups) for row in plans for plan in row), default=0)
    size = (len(shapes), len(degrees))
    grown = (*size, max(1, widest))
    made = _Layouts(
        block_bytes=np.zeros(size, dtype=np.int64),
        fixed=np.zeros(size, dtype=np.int64),
        copies=np.zeros(grown, dtype=np.int64),
        tokens=np.ones(grown, dtype=np.int64),
        behind=np.zeros(grown, dtype=np.int64),
        extra=np.zeros(grown, dtype=np.int64),
    )
    for m, row in enumerate(plans):
        for t, plan in enumerate(row):
            _fill(made, (m, t), plan)
    return made


def _fill(made: _Layouts, at: tuple[int, int], plan: KvPlan) -> None:
    made.block_bytes[at] = plan.block_bytes
    for g, group in enumerate(plan.groups):
        if group.kind == "state":
            made.fixed[at] += group.copies * group.state_blocks
            continue
        sliding = group.kind == "sliding"
        made.copies[*at, g] = group.copies
        made.tokens[*at, g] = group.block_tokens
        window = UNBOUNDED if group.window is None else group.window
        made.behind[*at, g] = window - (1 if sliding else 0)
        made.extra[*at, g] = 1 if sliding else 0


def _request_blocks(layouts: _Layouts, batched: Integers, lengths: Integers) -> Integers:
    """Return the blocks a request takes, [model, card, degree, length]."""
    kept = layouts.behind[:, None, :, :, None] + batched[None, :, None, None, None]
    kept = np.minimum(kept, lengths)
    tokens = layouts.tokens[:, None, :, :, None]
    each = -(-kept // tokens) + layouts.extra[:, None, :, :, None]
    grown: Integers = (layouts.copies[:, None, :, :, None] * each).sum(axis=3)
    return grown + layouts.fixed[:, None, :, None]
