from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings, resolved, rules_for
from planner.serving.kv_pool import kv_plan
from planner.serving.layers import Attention, DenseMlp, Layer
from planner.serving.memory import longest_request, textbook_budget, vllm_ledger
from planner.serving.shape import ModelShape
from planner.serving.sizing import replicas_holding
from planner.serving.sizing_types import Layout, MemoryLedger
from planner.serving.weights import checkpoint_bytes, fullest_stage, stages
from planner.units import GIB

ONE = Layout(tensor_parallel=1)
TWO = Layout(tensor_parallel=2)
SEQUENCE = 327_680 * 8_192


def of_70b(cards: int, kv_bytes: int = SEQUENCE) -> Any:
    return textbook_budget(
        memory_bytes=cards * 80 * GIB,
        parameters=70e9,
        bytes_per_parameter=2,
        kv_bytes_per_sequence=kv_bytes,
    )


def ledger_of(
    name: str | ModelShape, card: Accelerator, layout: Layout = ONE, **settings: Any
) -> MemoryLedger:
    shape = load_shape(name) if isinstance(name, str) else name
    return vllm_ledger(shape, layout, card, settings=VllmSettings(**settings))


# --- the textbook budget ----------------------------------------------------------


def test_70b_at_16_bits_is_140_gb_and_fits_no_80_gib_card() -> None:
    budget = of_70b(1)
    assert budget.weights_bytes == 140e9
    assert budget.weights_bytes / GIB == pytest.approx(130, abs=0.5)
    assert (budget.kv_budget_bytes, budget.sequences) == (0, 0)


def test_eight_cards_hold_183_sequences() -> None:
    budget = of_70b(8)
    assert budget.free_bytes / GIB == pytest.approx(510, abs=0.5)
    assert budget.kv_budget_bytes / GIB == pytest.approx(459, abs=0.5)
    assert budget.sequences == 183


@pytest.mark.parametrize(("kv_heads", "sequences"), [(8, 183), (64, 22), (1, 1467)])
def test_kv_heads_decide_concurrency(kv_heads: int, sequences: int) -> None:
    assert of_70b(8, SEQUENCE // 8 * kv_heads).sequences == sequences


@pytest.mark.parametrize(("degree", "each", "replicas"), [(2, 10, 19), (4, 68, 3), (8, 183, 1)])
def test_useful_is_decided_by_the_cards_bought(degree: int, each: int, replicas: int) -> None:
    assert of_70b(degree).sequences == each
    assert replicas_holding(183, each) == replicas
    assert replicas * degree == {2: 38, 4: 12, 8: 8}[degree]


@given(st.integers(1, 64), st.floats(1e9, 1e12), st.floats(0.5, 4))
def test_more_memory_never_holds_fewer_sequences(cards: int, size: float, width: float) -> None:
    def held(count: int) -> int:
        return textbook_budget(
            memory_bytes=count * 80 * GIB,
            parameters=size,
            bytes_per_parameter=width,
            kv_bytes_per_sequence=SEQUENCE,
        ).sequences

    assert 0 <= held(cards) <= held(cards + 1)


# --- vLLM's ledger ----------------------------------------------------------------

# GiB measured at start on one type of H100 (79.18 GiB seen), context 16,000:
# weights, activation, non-torch, KV. llm-d-incubation/llm-d-planner@e50305a
# docs/empirical-vllm-memory-results.md. The second row prints utilisation 0.9,
# at which its pool would be negative; it closes at 0.95.
STARTS = [
    ("gpt-oss-20b", 1, 0.90, (13.47, 7.38, 0.13, 50.28)),
    ("gpt-oss-120b", 1, 0.95, (64.38, 7.38, 0.13, 3.33)),
    ("Llama-3.3-70B-Instruct-FP8-dynamic", 2, 0.90, (33.88, 4.84, 0.55, 32.00)),
    ("Llama-3.1-8B-Instruct", 1, 0.90, (14.99, 4.76, 0.13, 51.38)),
    ("Qwen3-0.6B", 1, 0.90, (1.12, 5.56, 0.13, 64.45)),
    ("Qwen3-32B", 1, 0.90, (61.03, 5.64, 0.14, 4.45)),
    ("Qwen3-32B", 2, 0.90, (30.59, 5.64, 0.54, 34.49)),
]


@pytest.mark.parametrize(("name", "degree", "share", "measured"), STARTS)
def test_measured_starts_are_reproduced_without_their_own_figures(
    h100: Accelerator,
    name: str,
    degree: int,
    share: float,
    measured: tuple[float, float, float, float],
) -> None:
    ledger = ledger_of(
        name,
        h100,
        Layout(tensor_parallel=degree),
        vllm_version="0.11.0",
        gpu_memory_utilization=share,
        max_model_len=16_000,
    )
    weights, activation, non_torch, pool = measured
    assert ledger.weights_bytes / GIB == pytest.approx(weights, rel=0.01)
    assert ledger.activation_bytes / GIB == pytest.approx(activation, abs=0.12)
    assert ledger.non_torch_bytes / GIB == pytest.approx(non_torch, abs=0.02)
    assert ledger.kv_pool_bytes / GIB == pytest.approx(pool, abs=0.30)
    assert ledger.fits


@pytest.mark.parametrize(("name", "degree", "share", "measured"), STARTS)
def test_the_identity_closes_on_measured_figures(
    name: str, degree: int, share: float, measured: tuple[float, float, float, float]
) -> None:
    weights, activation, non_torch, pool = measured
    assert share * 79.18 - weights - activation - non_torch == pytest.approx(pool, abs=0.02)


def test_the_identity_closes_on_every_recorded_ledger(shared: Path) -> None:
    table = shared / "data" / "measured_vllm_memory.csv"
    closed = 0
    for row in csv.DictReader(table.open(encoding="utf-8")):
        parts = ["gpu_total_gib", "weights_gib", "peak_activation_gib", "non_torch_gib"]
        if row["outcome"] != "served" or not all(row[key] for key in parts):
            continue
        share = 0.95 if "0.95" in row["note"] else float(row["gpu_memory_utilization"])
        total, *taken = (float(row[key]) for key in parts)
        assert share * total - sum(taken) == pytest.approx(float(row["kv_cache_gib"]), abs=0.02)
        closed += 1
    assert closed >= 8


def test_ledger_is_the_identity(h100: Accelerator) -> None:
    ledger = ledger_of("Qwen3-32B", h100, TWO, max_model_len=8192)
    budget = math.floor(ledger.total_bytes * ledger.gpu_memory_utilization)
    taken = ledger.weights_bytes + ledger.activation_bytes + ledger.non_torch_bytes
    assert ledger.kv_pool_bytes == budget - taken - ledger.graph_bytes
    assert ledger.total_bytes == round(79.18 * GIB)


@pytest.mark.parametrize(
    ("version", "share", "graphs"),
    [
        ("0.11.0", 0.90, False),
        ("0.20.1", 0.92, False),
        ("0.21.0", 0.92, True),
        ("0.33.0rc1", 0.92, True),
    ],
)
def test_defaults_by_version(version: str, share: float, graphs: bool) -> None:
    rules = rules_for(version)
    assert (rules.gpu_memory_utilization, rules.graphs_in_budget) == (share, graphs)


@pytest.mark.parametrize(
    ("name", "gib", "seqs", "tokens"),
    [
        ("H100-SXM5-80GB", 80, 1024, 8192),
        ("B200-SXM", 180, 1024, 16384),
        ("A100-SXM4-80GB", 80, 256, 2048),
        ("L40S", 44.99, 256, 2048),
    ],
)
def test_batch_limits_by_card(
    make_card: Any, name: str, gib: float, seqs: int, tokens: int
) -> None:
    filled = resolved(VllmSettings(), make_card(name, gib), 4096)
    assert (filled.max_num_seqs, filled.max_num_batched_tokens) == (seqs, tokens)


def test_fewer_sequences_free_the_samplers_memory(h100: Accelerator) -> None:
    settings: dict[str, Any] = {"vllm_version": "0.11.0", "max_model_len": 8192}
    many = ledger_of("Qwen3-32B", h100, **settings)
    few = ledger_of("Qwen3-32B", h100, **settings, max_num_seqs=256)
    assert 3.5 * GIB < few.kv_pool_bytes - many.kv_pool_bytes < 5.5 * GIB


def test_expert_parallel_235b_on_eight_l40s(l40s: Accelerator) -> None:
    """Loaded 27.72, activation 1.4, pool 10.65 GiB, 238,208 tokens, 7.27 requests."""
    shape = load_shape("Qwen3-235B-A22B").model_copy(
        update={"quantisation": load_shape("Qwen3-32B-FP8").quantisation}
    )
    kinds = tuple(
        kind.model_copy(update={"mixer_bits": 8.0, "expert_bits": 8.0}) for kind in shape.kinds
    )
    ledger = ledger_of(
        shape.model_copy(update={"kinds": kinds}),
        l40s,
        Layout(tensor_parallel=8),
        vllm_version="0.11.0",
        max_model_len=32_768,
        expert_parallel=True,
    )
    assert ledger.weights_bytes / GIB == pytest.approx(27.72, rel=0.01)
    assert ledger.activation_bytes / GIB == pytest.approx(1.4, abs=0.05)
    assert ledger.kv_tokens == pytest.approx(238_208, rel=0.05)


# --- pools whose size a log states: the tokens and requests they hold ----------------


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
    card_free = resolved(VllmSettings(max_num_batched_tokens=2048), _any_card(), 8192)
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


# --- refusals, and the way out ------------------------------------------------------


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


# --- properties ----------------------------------------------------------------------


def _any_card() -> Accelerator:
    return Accelerator(
        name="any",
        aliases=(),
        memory_bytes=80 * GIB,
        cuda_visible_bytes=80 * GIB,
        bandwidth_bytes_per_s=3e12,
        bf16_flops=1e15,
        fp8_flops=None,
        fp4_flops=None,
        nvlink_bytes_per_s=None,
        source="test",
    )


NAMES = ["Qwen3-8B", "gpt-oss-20b", "gemma-3-27b-it", "Qwen3.5-27B", "DeepSeek-V2-Lite"]


@given(st.sampled_from(NAMES), st.integers(20, 400), st.integers(1, 40), st.integers(64, 100_000))
def test_a_larger_card_never_holds_fewer_tokens(
    name: str, gib: int, more: int, length: int
) -> None:
    def tokens(size: int) -> float:
        card = _any_card().model_copy(update={"cuda_visible_bytes": size * GIB})
        return ledger_of(name, card, max_model_len=length, max_num_seqs=64).max_concurrency

    assert tokens(gib) <= tokens(gib + more)


@given(st.sampled_from(NAMES), st.integers(1, 200_000), st.integers(1, 5_000))
def test_a_longer_request_never_takes_fewer_blocks(name: str, length: int, more: int) -> None:
    plan = kv_plan(load_shape(name), 1, resolved(VllmSettings(), _any_card(), None))
    assert 0 < plan.request_blocks(length) <= plan.request_blocks(length + more)


@given(st.integers(1, 200), st.integers(1, 16))
def test_stages_cover_every_layer_once(layers: int, count: int) -> None:
    bounds = stages(layers, count)
    assert [bounds[0][0], bounds[-1][1]] == [0, layers]
    assert all(a[1] == b[0] for a, b in pairwise(bounds))
    assert max(b - a for a, b in bounds) - min(b - a for a, b in bounds) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_gpus_together_hold_at_least_the_checkpoint(name: str) -> None:
    shape = load_shape(name)
    whole = checkpoint_bytes(shape)
    for layout in (ONE, TWO, Layout(tensor_parallel=2, pipeline_parallel=2)):
        held = fullest_stage(shape, layout).total * layout.gpus
        assert held >= whole * 0.999
        assert fullest_stage(shape, layout).total <= fullest_stage(shape, ONE).total
