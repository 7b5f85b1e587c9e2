from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape
from planner.serving.efficiency import EFFICIENCIES, efficiency_for, prefill_attention_share
from planner.serving.roofline import (
    arithmetic_intensity,
    arithmetic_seconds,
    compute_utilisation,
    decode_seconds_per_token,
    distinct_expert_share,
    prefill_flops,
    ridge_point,
    ring_bytes,
    weight_read_seconds,
)
from planner.serving.sizing_types import Layout
from planner.serving.steps import (
    StepModel,
    all_reduce_seconds,
    decode_bounds,
    decode_step_seconds,
    kv_read_bytes,
    mixed_stall_seconds,
    prefill_seconds,
    step_model,
)

WEIGHTS, BANDWIDTH, FLOPS = 140e9, 3.35e12, 989e12
KV_TOKEN = 327_680


def each_token(batch: float, context: float) -> float:
    return decode_seconds_per_token(
        weights_bytes=WEIGHTS,
        kv_read_bytes_per_sequence=context * KV_TOKEN,
        batch=batch,
        bandwidth_bytes_per_s=BANDWIDTH,
    )


def test_a_decode_step_is_42_ms_of_reading_and_0_14_of_arithmetic() -> None:
    assert weight_read_seconds(WEIGHTS, BANDWIDTH) == pytest.approx(0.0418, abs=0.0005)
    assert arithmetic_seconds(70e9, 1, FLOPS) == pytest.approx(0.14e-3, abs=0.005e-3)


def test_the_published_0_00003_ms_is_a_slip() -> None:
    assert arithmetic_seconds(70e9, 1, FLOPS) > 1000 * 0.00003e-3


def test_intensity_ridge_and_use_of_compute() -> None:
    assert arithmetic_intensity(1, 2) == 1
    ridge = ridge_point(FLOPS, BANDWIDTH)
    assert ridge == pytest.approx(295, abs=0.5)
    assert compute_utilisation(1, ridge) == pytest.approx(0.003, abs=0.0005)
    assert arithmetic_intensity(128, 2) < ridge


def test_doubling_the_batch_halves_a_token_only_without_context() -> None:
    assert each_token(64, 0) == each_token(32, 0) / 2
    assert each_token(64, 8_192) > each_token(32, 8_192) / 2


@pytest.mark.parametrize(("context", "factor"), [(2_400, 75), (0, 128)])
def test_batch_128_makes_a_token_cheaper_by(context: int, factor: int) -> None:
    assert each_token(1, context) / each_token(128, context) == pytest.approx(factor, abs=0.5)


def test_prefill_work_is_two_flops_for_each_parameter_and_token() -> None:
    assert prefill_flops(70e9, 1000) == 1.4e14


@pytest.mark.parametrize(("tokens", "share"), [(31, 0.63), (123, 0.98)])
def test_distinct_experts_of_a_step(tokens: int, share: float) -> None:
    assert distinct_expert_share(256, 8, tokens) == pytest.approx(share, abs=0.005)


@given(st.integers(2, 512), st.integers(1, 64), st.floats(0, 500))
def test_distinct_experts_stay_between_active_and_all(
    experts: int, active: int, tokens: float
) -> None:
    share = distinct_expert_share(experts, active, tokens)
    assert 0 <= share <= 1
    assert share <= distinct_expert_share(experts, active, tokens + 1)


def test_ring_volume() -> None:
    assert ring_bytes(100, 2) == 100
    assert ring_bytes(100, 8) == 175


# --- steps on real hardware ------------------------------------------------------------


def model_of(
    name: str, card: Accelerator, degree: int = 1, stages: int = 1, link: Any = "nvlink"
) -> StepModel:
    layout = Layout(tensor_parallel=degree, pipeline_parallel=stages)
    return step_model(load_shape(name), layout, card, link)


def test_efficiency_rows_have_sources_and_one_general_row_a_precision() -> None:
    general = [row.precision for row in EFFICIENCIES if not row.accelerator]
    assert sorted(general) == ["bf16", "fp4", "fp8"]
    assert all(row.source for row in EFFICIENCIES)


def test_the_cards_own_efficiency_row_wins(a100: Accelerator, h100: Accelerator) -> None:
    assert efficiency_for(a100, "bf16").bandwidth == 0.69
    assert efficiency_for(h100, "bf16").bandwidth == 0.80


def test_a_step_is_slower_than_the_roofline(h100: Accelerator) -> None:
    model = model_of("Llama-3.1-8B-Instruct", h100)
    ideal = weight_read_seconds(model.fixed_weight_bytes, h100.bandwidth_bytes_per_s)
    assert ideal < decode_step_seconds(model, 1, 0) < 2 * ideal


def test_first_token_follows_the_prompt_and_steps_follow_batch_and_context(
    h100: Accelerator,
) -> None:
    model = model_of("Qwen3-32B", h100, 2)
    assert prefill_seconds(model, 8000) > 1.9 * prefill_seconds(model, 4000)
    assert prefill_seconds(model, 2000, 6000) < prefill_seconds(model, 8000)
    assert decode_step_seconds(model, 64, 1000) > decode_step_seconds(model, 32, 1000)
    assert decode_step_seconds(model, 32, 8000) > decode_step_seconds(model, 32, 1000)
    assert prefill_seconds(model, 0) == 0


def test_tensor_parallelism_scales_less_than_linearly(h100: Accelerator) -> None:
    times = {d: decode_step_seconds(model_of("Qwen3-32B", h100, d), 16, 2000) for d in (1, 2, 4, 8)}
    for degree in (2, 4, 8):
        assert times[1] / degree < times[degree] < times[degree // 2]


def test_all_reduces_over_pcie_are_a_trap(l40s: Accelerator, h100: Accelerator) -> None:
    """A 4,096-token chunk of a 70B moves 160 messages of 67 MB: seconds, above two cards."""
    pcie = all_reduce_seconds(model_of("Meta-Llama-3.1-70B", l40s, 8, link="pcie"), 4096)
    assert pcie > 5
    assert all_reduce_seconds(model_of("Meta-Llama-3.1-70B", h100, 8), 4096) < 0.1
    assert all_reduce_seconds(model_of("Meta-Llama-3.1-70B", h100, 1), 4096) == 0


def test_experts_are_read_by_what_a_batch_touches(h100: Accelerator) -> None:
    """109B in 8 bits over two cards: all experts at 67 running, near 16 ms, not the 2.5 ms
    of its active parameters alone."""
    model = model_of("Mixtral-8x7B-v0.1", h100, 2)
    few, _ = decode_bounds(model, 1)
    many, _ = decode_bounds(model, 64)
    assert many > 3 * few
    whole = model.fixed_weight_bytes + model.expert_weight_bytes
    assert many == pytest.approx(whole / (h100.bandwidth_bytes_per_s * 0.8), rel=0.01)


@pytest.mark.parametrize(("degree", "in_flight", "itl_ms"), [(2, 102, 20.7), (4, 57, 11.6)])
def test_mixtral_steps_at_a_measured_load(
    h100: Accelerator, degree: int, in_flight: int, itl_ms: float
) -> None:
    """20 requests a second of 547 in and 248 out, mostly cached prompts, vLLM 0.15.1 on H100
    (inference-sim/sim-to-real-accuracy-validation@7f3b270)."""
    model = model_of("Mixtral-8x7B-v0.1", h100, degree)
    step = decode_step_seconds(model, in_flight, 547 + 124) * 1000
    assert step == pytest.approx(itl_ms, rel=0.35)


def test_windows_and_states_bound_what_a_step_reads(h100: Accelerator) -> None:
    oss = model_of("gpt-oss-120b", h100)
    assert kv_read_bytes(oss, 10_000) == 36_864 * 10_000 + 36_864 * 128
    hybrid = model_of("Qwen3-Coder-Next", h100)
    assert kv_read_bytes(hybrid, 0) == 2 * 36 * 1_097_728


def test_stages_pass_a_token_in_turn(h100: Accelerator) -> None:
    one, two = model_of("Qwen3-32B", h100), model_of("Qwen3-32B", h100, 1, 2)
    assert decode_step_seconds(two, 2, 100) == pytest.approx(
        decode_step_seconds(one, 1, 100), rel=0.05
    )


@pytest.mark.parametrize(("tokens", "share"), [(1, 0.16), (1536, 0.33), (10**6, 0.62)])
def test_prefill_attention_share_is_interpolated(tokens: float, share: float) -> None:
    assert prefill_attention_share(tokens) == pytest.approx(share)


@given(st.integers(1, 512), st.integers(0, 30_000))
def test_steps_grow_with_batch_and_context(batch: int, context: int) -> None:
    model = _MODEL
    step = decode_step_seconds(model, batch, context)
    assert step <= decode_step_seconds(model, batch + 1, context)
    assert step <= decode_step_seconds(model, batch, context + 100)


_MODEL = step_model(
    load_shape("gpt-oss-20b"),
    Layout(tensor_parallel=2),
    Accelerator(
        name="any",
        aliases=(),
        memory_bytes=80 * 2**30,
        cuda_visible_bytes=80 * 2**30,
        bandwidth_bytes_per_s=3e12,
        bf16_flops=1e15,
        fp8_flops=None,
        fp4_flops=None,
        nvlink_bytes_per_s=900e9,
        source="test",
    ),
    "nvlink",
)


def test_a_mixed_step_reads_the_weights_once(h100: Accelerator) -> None:
    """Adding the two costs is the 1.5 to 3 times error of ai-dynamo/aiconfigurator#1150."""
    model = model_of("Qwen3-32B", h100, 2)
    short = mixed_stall_seconds(model, 8, 64, 0, 8192)
    assert short < 0.1 * prefill_seconds(model, 64)
    long = mixed_stall_seconds(model, 8, 4096, 0, 8192)
    assert 0.7 * prefill_seconds(model, 4096) < long < prefill_seconds(model, 4096)
    assert mixed_stall_seconds(model, 8, 0, 4096, 8192) == 0


def test_a_prompt_touches_the_experts_a_small_batch_does_not(h100: Accelerator) -> None:
    model = model_of("Qwen3-30B-A3B", h100)
    few, many = (mixed_stall_seconds(model, batch, 64, 0, 8192) for batch in (1, 256))
    assert few > 5 * many
