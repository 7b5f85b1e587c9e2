"""How layers are cut into groups; the figures of whole models are in test_vllm_oracle."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.vllm_oracle_configs import CONFIGS, GIB
from planner.catalog.shapes import load_shape
from planner.serving.engine import Resolved, VllmSettings, resolved
from planner.serving.kv_pool import KvPlan, kv_plan
from planner.serving.layers import Attention, DeltaNet, DenseMlp, Layer, Mamba2
from planner.serving.shape import ModelShape, shape_from_config
from planner.serving.weights import stages
from tests.serving.conftest import card_of

MLP = DenseMlp(width=64)
FULL = Attention(kind="full", heads=8, kv_heads=8, head_dim=64, value_dim=64)
SLIDING = FULL.model_copy(update={"kind": "sliding", "window": 512})
PAGE = 16 * 8 * 128 * 2
"""Bytes of a block of 16 tokens in one layer of FULL."""


def filled(**more: Any) -> Resolved:
    given = {"max_num_batched_tokens": 2048, **more}
    return resolved(VllmSettings(**given), card_of(), 8192)


def shape_of(*mixers: Any) -> ModelShape:
    kinds = tuple(dict.fromkeys(Layer(mixer=mixer, mlp=MLP) for mixer in mixers))
    order = tuple(kinds.index(Layer(mixer=mixer, mlp=MLP)) for mixer in mixers)
    return load_shape("gpt-oss-20b").model_copy(update={"kinds": kinds, "order": order})


@pytest.mark.parametrize(
    ("full", "sliding", "copies", "layers"),
    [
        (8, 9, (1, 1), 9),
        (2, 3, (1, 2), 2),  # 3 is not less than 1.5 x 2
        (3, 4, (1, 1), 4),
        (10, 20, (1, 2), 10),
        (1, 5, (1, 5), 1),
        (9, 4, (3, 1), 4),
    ],
)
def test_group_sizes(full: int, sliding: int, copies: tuple[int, int], layers: int) -> None:
    plan = kv_plan(shape_of(*[FULL] * full, *[SLIDING] * sliding), 1, filled())
    assert tuple(group.copies for group in plan.groups) == copies
    assert plan.block_bytes == layers * PAGE


def test_a_narrower_page_holds_more_tokens_or_is_padded() -> None:
    half = SLIDING.model_copy(update={"kv_heads": 4})
    third = SLIDING.model_copy(update={"kv_heads": 3})
    for narrow, tokens in ((half, 32), (third, 16)):
        plan = kv_plan(shape_of(FULL, narrow), 1, filled())
        assert [group.block_tokens for group in plan.groups] == [16, tokens]
        assert plan.block_bytes == PAGE


def test_equal_pages_of_other_heads_are_groups_of_their_own() -> None:
    wide = FULL.model_copy(update={"kv_heads": 4, "head_dim": 128, "value_dim": 128})
    plan = kv_plan(shape_of(FULL, wide, SLIDING), 1, filled())
    assert [group.copies for group in plan.groups] == [1, 1, 1]
    assert kv_plan(shape_of(FULL, wide), 1, filled()).groups[0].copies == 1


def test_a_state_raises_the_block_and_prefix_caching_keeps_copies() -> None:
    delta = DeltaNet(
        key_heads=16, key_dim=128, value_heads=32, value_dim=128, kernel=4, state_bytes=2
    )
    mamba = Mamba2(heads=64, head_dim=64, groups=8, state=128, kernel=4, state_bytes=2)
    for mixer, copies in ((delta, 2), (mamba, 3)):
        shape = shape_of(FULL, mixer)
        on, off = kv_plan(shape, 1, filled()), kv_plan(shape, 1, filled(prefix_caching=False))
        assert on.groups[0].block_tokens % 16 == 0
        assert on.groups[0].block_tokens > 16
        assert on.request_blocks(1) == 1 + copies
        assert off.request_blocks(1) == 2
        assert on.block_bytes == on.groups[0].block_tokens * PAGE // 16


def test_states_are_float32_in_the_cpu_backends_blocks() -> None:
    mamba = Mamba2(heads=64, head_dim=64, groups=8, state=128, kernel=4, state_bytes=2)
    single = mamba.model_copy(update={"state_bytes": 4})
    on_cpu = filled(block_size=128)
    assert kv_plan(shape_of(mamba), 1, on_cpu) == kv_plan(shape_of(single), 1, on_cpu)
    assert kv_plan(shape_of(mamba), 1, filled()) != kv_plan(shape_of(single), 1, filled())


def test_a_stage_keeps_the_models_groups_and_its_own_layers() -> None:
    """Of 4 full and 8 sliding layers in three groups, each stage holds two of each."""
    shape = shape_of(*[FULL, SLIDING, SLIDING] * 4)
    whole = kv_plan(shape, 1, filled())
    assert whole.block_bytes == 4 * PAGE
    for stage in ((0, 6), (6, 12)):
        part = kv_plan(shape, 1, filled(), stage)
        assert part.groups == whole.groups
        assert part.block_bytes == 2 * PAGE


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("llama-mqa-61", (1074, 2114, 3120)),
        ("gemma2-5", (16_384, 32_768, 32_768)),
        ("gemma3-26", (8_192, 16_384, 16_384)),
        ("gemma3-7", (32_768, 32_768, 32_768)),
        ("llama4-48", (2_730, 5_461, 8_192)),
        ("nemotron-h-52", (124, 248, 248)),
        ("nemotron-nas", (3_640, 7_281, 9_362)),
        ("qwen3-next-odd", (165, 248, 496)),
        ("gemma4-60", (409, 819, 1_024)),
    ],
)
def test_blocks_of_one_two_and_three_stages(name: str, blocks: tuple[int, ...]) -> None:
    """Blocks of 1 GiB on the fullest stage, by vLLM 0.32's get_kv_cache_configs."""
    shape = shape_from_config(CONFIGS[name][1], name)
    on_cpu = filled(block_size=128)
    for count, expected in enumerate(blocks, start=1):
        parts = [kv_plan(shape, 1, on_cpu, bounds) for bounds in stages(shape.layer_count, count)]
        assert min(p.pool_blocks(GIB) for p in parts if p.block_bytes) == expected


def test_a_stage_without_caches_holds_any_number() -> None:
    plan = kv_plan(shape_of(FULL, None), 1, filled(), (1, 2))
    assert plan.concurrency(10**9, 100) == math.inf
    assert plan.tokens(10**9, 100) == 0


@st.composite
def plans(draw: st.DrawFn) -> KvPlan:
    heads = st.sampled_from([1, 2, 3, 8])
    mixers = []
    for _ in range(draw(st.integers(1, 12))):
        base = FULL.model_copy(update={"kv_heads": draw(heads)})
        window = draw(st.sampled_from([None, 1, 100, 512]))
        kind = "full" if window is None else draw(st.sampled_from(["sliding", "chunked"]))
        mixers.append(base.model_copy(update={"kind": kind, "window": window}))
    if draw(st.booleans()):
        state = Mamba2(heads=8, head_dim=64, groups=1, state=64, kernel=4, state_bytes=2)
        mixers += [state] * draw(st.integers(1, 5))
    return kv_plan(shape_of(*mixers), draw(st.sampled_from([1, 2, 4])), filled())


@given(plans(), st.integers(1, 10**6), st.integers(0, 10**11))
def test_longer_requests_never_fit_more_often(plan: KvPlan, length: int, pool: int) -> None:
    assert plan.concurrency(pool, length) >= plan.concurrency(pool, length + 1)
    assert plan.concurrency(pool, length) <= plan.concurrency(pool + plan.block_bytes, length)
    assert plan.tokens(pool, length) <= plan.concurrency(pool, length) * length + 1
