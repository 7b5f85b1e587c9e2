"""Four engines, four meanings of one fraction."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings
from planner.serving.other_engines import default_fraction, engine_ledger
from planner.serving.reserve import (
    Terms,
    sglang_fraction,
    sglang_pool,
    tgi_pool,
    trtllm_pool,
    vllm_pool,
)
from planner.serving.sizing_types import Layout
from planner.units import GIB

ONE = Layout(tensor_parallel=1)


def terms(**gib: float) -> Terms:
    base = {"total": 80.0, "weights": 30.0, "activation": 5.0, "non_torch": 1.0, "graph": 0.0}
    return Terms(**{key: round(value * GIB) for key, value in {**base, **gib}.items()})


@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        (vllm_pool, 80 * 0.9 - 30 - 5 - 1),
        (trtllm_pool, (80 - 30 - 5 - 1) * 0.9),
        (sglang_pool, (80 - 1) * 0.9 - 30),
        (tgi_pool, 80 * 0.9 * 0.9 - 30 - 5 - 1),
    ],
)
def test_the_same_fraction_is_four_pools(pool: Any, expected: float) -> None:
    assert pool(terms(), 0.9) / GIB == pytest.approx(expected, abs=1e-6)


def test_vllms_own_ledgers_follow() -> None:
    """79.18 x 0.9 - 14.99 - 4.76 - 0.13 = 51.38 GiB (llm-d-planner@e50305a)."""
    found = vllm_pool(terms(total=79.18, weights=14.99, activation=4.76, non_torch=0.13), 0.9)
    assert found / GIB == pytest.approx(51.38, abs=0.01)


def test_sglang_keeps_what_its_pool_was_measured_with() -> None:
    """0.93 on H100 with 55.1 GiB of weights left 16.46 GiB (vllm-project/vllm#21348)."""
    found = sglang_pool(terms(total=79.18, weights=55.12, non_torch=0.55), 0.93) / GIB
    assert found == pytest.approx(16.46, rel=0.10)


@given(st.floats(0.05, 1.0), st.floats(0.05, 1.0))
def test_more_fraction_is_never_less_pool(one: float, other: float) -> None:
    low, high = sorted((one, other))
    for pool in (vllm_pool, trtllm_pool, sglang_pool, tgi_pool):
        assert pool(terms(), low) <= pool(terms(), high)


def test_sglangs_automatic_fraction_on_h100(h100: Accelerator) -> None:
    """0.828, not the documented 0.9 (sgl-project/sglang#29092)."""
    assert sglang_fraction(h100, ONE) == pytest.approx(0.828, abs=0.002)
    assert default_fraction("sglang", h100, ONE) == sglang_fraction(h100, ONE)
    assert default_fraction("trtllm", h100, ONE) == 0.9


@pytest.mark.parametrize("engine", ["trtllm", "sglang", "tgi"])
def test_ledgers_of_other_engines(engine: Any, h100: Accelerator) -> None:
    settings = VllmSettings(max_model_len=8_192)
    found = engine_ledger(load_shape("Qwen3-32B"), ONE, h100, engine, settings=settings)
    assert found.kv_bytes_per_token == 262_144
    assert found.kv_tokens * 262_144 <= found.kv_pool_bytes
    assert found.max_concurrency == pytest.approx(found.kv_pool_bytes / 262_144 / 8_192, rel=0.01)
    long = VllmSettings(max_model_len=40_960_000)
    refused = engine_ledger(load_shape("Qwen3-32B"), ONE, h100, engine, settings=long)
    assert not refused.fits
    assert "longest that fits" in refused.reason


def test_a_model_larger_than_the_card_leaves_nothing(h100: Accelerator) -> None:
    found = engine_ledger(
        load_shape("Llama-3.3-70B-Instruct"),
        ONE,
        h100,
        "trtllm",
        settings=VllmSettings(max_model_len=8_192),
    )
    assert (found.fits, found.kv_pool_bytes) == (False, 0)
    assert "leave nothing" in found.reason


def test_70b_in_8_bits_on_one_card_holds_a_handful_of_requests(h100: Accelerator) -> None:
    """TensorRT-LLM served 912 tokens/s there and 4,166 on H200: the cache is the limit."""
    found = engine_ledger(
        load_shape("nvidia/Llama-3.1-70B-Instruct-FP8"),
        ONE,
        h100,
        "trtllm",
        settings=VllmSettings(max_model_len=2_176, kv_dtype="fp8"),
    )
    assert found.fits
    assert 10 < math.floor(found.max_concurrency) < 30


def test_hybrids_are_counted_in_requests(h100: Accelerator) -> None:
    settings = VllmSettings(max_model_len=8_192)
    found = engine_ledger(load_shape("Qwen3.5-27B"), ONE, h100, "sglang", settings=settings)
    each = found.kv_bytes_per_token * 8_192 + found.kv_fixed_bytes_per_sequence
    assert found.max_concurrency == pytest.approx(found.kv_pool_bytes / each)
