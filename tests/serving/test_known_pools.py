"""Pools whose size a log states: the tokens and requests they hold."""

from __future__ import annotations

import math
from typing import Any

import pytest

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings, resolved
from planner.serving.kv_pool import kv_plan
from planner.serving.layers import Attention, DenseMlp, Layer
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.units import GIB
from tests.serving.ledgers import any_card, ledger_of


@pytest.mark.parametrize(
    ("name", "degree", "pool_gib", "dtype", "length", "tokens", "within", "source"),
    [
        ("Qwen3-235B-A22B", 4, 8.11, "bfloat16", 16_384, 178_880, 0.015, "vllm#21348"),
        ("Qwen3-235B-A22B", 8, 10.65, "bfloat16", 32_768, 238_208, 0.01, "log of eight L40S"),
        ("Qwen3-30B-A3B", 1, 10.55, "fp8", 100_000, 230_528, 0.005, "vllm#25350"),
        ("Meta-Llama-3.1-8B", 1, 3.81, "bfloat16", 20_000, 31_232, 0.005, "vllm#10517"),
        ("Qwen2.5-7B-Instruct", 1, 8.0, "bfloat16", 32_768, 149_712, 0.005, "AWQ, 16 GB card"),
        ("Kimi-K2-Instruct", 8, 0.53, "bfloat16", 8_000, 8_050, 0.01, "sglang#13466"),
        ("Qwen3.5-27B", 1, 133.75, "bfloat16", 262_144, 2_167_931, 0.03, "vllm#35289"),
    ],
)
def test_tokens_of_a_known_pool(
    h100: Accelerator,
    name: str,
    degree: int,
    pool_gib: float,
    dtype: Any,
    length: int,
    tokens: int,
    within: float,
    source: str,
) -> None:
    ledger = ledger_of(
        name,
        h100,
        Layout(tensor_parallel=degree),
        kv_cache_memory_bytes=round(pool_gib * GIB),
        kv_dtype=dtype,
        max_model_len=length,
    )
    assert ledger.kv_tokens == pytest.approx(tokens, rel=within), source


def test_hybrid_capacity_is_the_concurrency_not_the_printed_tokens(h100: Accelerator) -> None:
    """8.27 requests of 262,144; the log's 547,200 tokens divide by every group (vllm#35289)."""
    ledger = ledger_of(
        "Qwen3.5-27B",
        h100,
        kv_cache_memory_bytes=round(133.75 * GIB),
        max_model_len=262_144,
        prefix_caching=False,
    )
    assert ledger.max_concurrency == pytest.approx(8.27, abs=0.01)


def test_hybrid_attention_pages_are_raised_to_hold_a_state(h100: Accelerator) -> None:
    shape = load_shape("Qwen3.5-27B")
    plan = kv_plan(shape, 1, resolved(VllmSettings(), h100, None))
    state = [group for group in plan.groups if group.kind == "state"]
    full = [group for group in plan.groups if group.kind == "full"]
    assert [group.copies for group in (*full, *state)] == [1, 3]
    assert full[0].block_tokens == 784
    assert full[0].block_tokens % 16 == 0


def test_hybrid_in_four_bits_with_an_8_bit_cache(h100: Accelerator) -> None:
    """10 of 40 layers grow: 10,240 bytes a token; 5.98 GiB print 567,978 (club-3090#612)."""
    base = load_shape("Qwen3-Coder-Next")
    shape = base.model_copy(update={"order": base.order[:40]})
    ledger = ledger_of(
        shape,
        h100,
        kv_dtype="fp8",
        kv_cache_memory_bytes=round(5.98 * GIB),
        max_model_len=131_072,
    )
    assert ledger.kv_bytes_per_token == 10_240
    assert 560_000 <= ledger.kv_tokens <= 628_000


def test_uneven_layer_groups_are_padded_to_the_larger() -> None:
    """Eight full and nine sliding layers share blocks as nine and nine."""
    attention = Attention(kind="full", heads=8, kv_heads=8, head_dim=64, value_dim=64)
    sliding = attention.model_copy(update={"kind": "sliding", "window": 512})
    mlp = DenseMlp(width=1024)
    shape = load_shape("gpt-oss-20b").model_copy(
        update={
            "kinds": (Layer(mixer=attention, mlp=mlp), Layer(mixer=sliding, mlp=mlp)),
            "order": (0,) * 8 + (1,) * 9,
        }
    )
    card_free = resolved(VllmSettings(max_num_batched_tokens=2048), any_card(), 8192)
    plan = kv_plan(shape, 1, card_free)
    assert [group.copies for group in plan.groups] == [1, 1]
    assert plan.block_bytes == 9 * 16 * 8 * 128 * 2
    assert plan.request_blocks(8192) == 512 + math.ceil((511 + 2048) / 16) + 1


def gemma_4_31b() -> ModelShape:
    full = Attention(kind="full", heads=32, kv_heads=4, head_dim=512, value_dim=512)
    sliding = Attention(
        kind="sliding", heads=32, kv_heads=16, head_dim=256, value_dim=256, window=1024
    )
    mlp = DenseMlp(width=21_504)
    return load_shape("gemma-3-27b-it").model_copy(
        update={
            "kinds": (Layer(mixer=sliding, mlp=mlp), Layer(mixer=full, mlp=mlp)),
            "order": (0, 0, 0, 0, 0, 1) * 10,
        }
    )


def test_unequal_pages_were_charged_in_full_until_0_21(a100: Accelerator) -> None:
    """About 55 thousand tokens on 0.20.0 and 525 thousand on 0.21.0 (vllm#43308)."""
    tokens = {
        version: ledger_of(
            gemma_4_31b(),
            a100,
            vllm_version=version,
            kv_cache_memory_bytes=50_000_000_000,
            max_model_len=262_144,
        ).kv_tokens
        for version in ("0.20.0", "0.21.0")
    }
    assert tokens["0.20.0"] == pytest.approx(55_000, rel=0.05)
    assert tokens["0.21.0"] == pytest.approx(525_000, rel=0.05)
