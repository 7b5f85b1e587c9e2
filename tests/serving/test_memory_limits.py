"""What does not fit into a GPU: refusals, and the way out."""

from __future__ import annotations

from typing import Any

import pytest

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings, resolved
from planner.serving.kv_pool import kv_plan
from planner.serving.memory import longest_request, vllm_ledger
from planner.serving.sizing_types import Layout
from planner.serving.weights import checkpoint_bytes, fullest_stage
from planner.units import GIB
from tests.serving.ledgers import ONE, TWO, ledger_of


def test_context_limit_and_chunked_prefill_decide_together(make_card: Any) -> None:
    """8B on a 24 GB card: 20,000 starts, 29,000 does not, 45,000 in chunks does (vllm#10517)."""
    card = make_card("RTX 3090", 24, 23.58, fp8=None)

    def fits(length: int, batched: int) -> bool:
        return ledger_of(
            "Llama-3.1-8B-Instruct",
            card,
            vllm_version="0.6.4",
            max_model_len=length,
            max_num_batched_tokens=batched,
        ).fits

    assert fits(20_000, 20_000)
    assert not fits(29_000, 29_000)
    assert fits(45_000, 512)


def test_forward_pass_of_a_whole_prompt(make_card: Any) -> None:
    card = make_card("RTX 3090", 24, 23.58, fp8=None)
    for tokens, gib in ((20_000, 17.06 - 14.99), (29_000, 17.98 - 14.99)):
        ledger = ledger_of(
            "Llama-3.1-8B-Instruct",
            card,
            vllm_version="0.6.4",
            max_model_len=tokens,
            max_num_batched_tokens=tokens,
        )
        assert ledger.activation_bytes / GIB == pytest.approx(gib, abs=0.02)


def test_longest_request_of_a_pool_matches_the_engines_suggestion(h100: Accelerator) -> None:
    for name, dtype, pool, length, longest in (
        ("Qwen3-8B", "bfloat16", 6.94, 262_144, 50_512),  # xorbitsai/inference#4926
        ("Qwen3-30B-A3B", "fp8", 5.59, 221_000, 122_080),  # vllm-project/vllm#25350
        ("Qwen3-30B-A3B", "bfloat16", 3.18, 262_144, 34_736),  # vllm-project/vllm#34076
    ):
        settings = VllmSettings(
            kv_cache_memory_bytes=round(pool * GIB),
            kv_dtype=dtype,  # type: ignore[arg-type]
            max_model_len=length,
        )
        filled = resolved(settings, h100, None)
        found = longest_request(kv_plan(load_shape(name), 1, filled), round(pool * GIB), length)
        assert found == pytest.approx(longest, rel=0.002)
        ledger = vllm_ledger(load_shape(name), ONE, h100, settings=settings)
        assert not ledger.fits


def test_a_pipeline_stage_is_charged_with_its_own_layers(h100: Accelerator) -> None:
    """16 of 48 layers in 3.18 GiB reach about 104 thousand tokens (vllm#34076)."""
    filled = resolved(VllmSettings(), h100, None)
    plan = kv_plan(load_shape("Qwen3-30B-A3B"), 1, filled, (0, 16))
    assert longest_request(plan, round(3.18 * GIB), 262_144) == pytest.approx(104_200, rel=0.001)


def test_models_that_do_not_fit_say_by_how_much(a100: Accelerator, make_card: Any) -> None:
    llama = ledger_of("Llama-2-70b-hf", a100, max_model_len=4096)  # vllm-project/vllm#636
    assert not llama.fits
    assert checkpoint_bytes(load_shape("Llama-2-70b-hf")) / GIB == pytest.approx(128.5, abs=0.1)
    assert "short on each GPU" in llama.reason
    small = make_card("A100-SXM4-40GB", 40, 39.38, fp8=None)
    vision = ledger_of(  # vllm-project/vllm#16570: weights 34.43 GiB at degree 4
        "Qwen2.5-72B-Instruct",
        small,
        Layout(tensor_parallel=4),
        gpu_memory_utilization=0.95,
        max_model_len=128_000,
    )
    assert not vision.fits


def test_full_multi_head_caches_do_not_fit(make_card: Any, make_dense: Any) -> None:
    """Qwen1.5 14B and 7B GPTQ at 32,768 tokens (QwenLM/Qwen3#12, #16)."""
    large = make_dense(
        layers=40, heads=40, kv_heads=40, hidden=5120, intermediate=13_696, vocabulary=152_064
    )
    v100 = make_card("V100-32GB", 32, 31.7, fp8=None)
    ledger = ledger_of(
        large, v100, vllm_version="0.4.0", gpu_memory_utilization=0.95, max_model_len=32_768
    )
    assert ledger.kv_bytes_per_token == 819_200
    assert ledger.weights_bytes / GIB == pytest.approx(26.4, rel=0.03)
    assert not ledger.fits
    small = make_dense(
        layers=32,
        heads=32,
        kv_heads=32,
        hidden=4096,
        intermediate=11_008,
        vocabulary=151_936,
        quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 128},
    )
    ledger = ledger_of(
        small,
        make_card("RTX 3090", 24, 23.58, fp8=None),
        vllm_version="0.4.0",
        max_model_len=32_768,
        max_num_batched_tokens=32_768,
    )
    assert ledger.kv_tokens == pytest.approx(24_320, rel=0.15)
    assert not ledger.fits


def test_awq_keeps_its_tables_at_16_bits(make_dense: Any) -> None:
    """5.29 GiB loaded, not 7.6 billion half bytes."""
    shape = make_dense(
        layers=28,
        heads=28,
        kv_heads=4,
        hidden=3584,
        intermediate=18_944,
        vocabulary=152_064,
        quantization_config={"quant_method": "awq", "bits": 4, "group_size": 128},
    )
    assert checkpoint_bytes(shape) / GIB == pytest.approx(5.29, rel=0.03)


def test_a_prefill_worker_is_not_given_a_context_it_cannot_hold(h100: Accelerator) -> None:
    """A 70B in 8 bits on one card, context 131,072, crash-looped (ai-dynamo/dynamo#10104)."""
    ledger = ledger_of(
        "nvidia/Llama-3.1-70B-Instruct-FP8", h100, max_model_len=131_072, max_num_seqs=64
    )
    assert not ledger.fits
    assert ledger.max_model_len * ledger.kv_bytes_per_token > ledger.kv_pool_bytes


def test_gpt_oss_120b_fits_one_node_of_two_a100(a100: Accelerator) -> None:
    """An estimator asked for two nodes (kaito-project/kaito#2302)."""
    assert ledger_of("gpt-oss-120b", a100, TWO, max_model_len=131_072).fits


def test_gpt_oss_120b_is_marginal_on_one_h100(h100: Accelerator) -> None:
    """Weights alone differ by 1.6 GiB between releases (vllm-project/vllm#23278, #33155)."""
    shape = load_shape("gpt-oss-120b")
    weights = fullest_stage(shape, ONE).total / GIB
    assert 64.38 * 0.97 < weights < 65.97 * 1.03
    settings: dict[str, Any] = {"vllm_version": "0.14.1", "max_model_len": 16_000}
    assert not ledger_of(shape, h100, gpu_memory_utilization=0.90, **settings).fits
    assert ledger_of(shape, h100, gpu_memory_utilization=0.95, **settings).fits


def test_8_bit_caches_need_a_card_that_has_them(a100: Accelerator, h100: Accelerator) -> None:
    """Refused before Ada (vllm-project/vllm#26646)."""
    refused = ledger_of("Qwen3-8B", a100, kv_dtype="fp8", max_model_len=8192)
    assert not refused.fits
    assert "fp8" in refused.reason
    assert ledger_of("Qwen3-8B", h100, kv_dtype="fp8", max_model_len=8192).fits
    assert "nvfp4" in ledger_of("Qwen3-8B", h100, kv_dtype="nvfp4", max_model_len=8192).reason


def test_a_fixed_pool_must_leave_room_for_the_weights(h100: Accelerator) -> None:
    ledger = ledger_of("Qwen3-32B", h100, max_model_len=8192, kv_cache_memory_bytes=40 * GIB)
    assert not ledger.fits
    assert "fixed KV pool" in ledger.reason
