from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.shapes import config_of, load_shape
from planner.serving.kv import (
    fixed_bytes_per_sequence,
    growing_bytes_per_token,
    token_bytes,
    windowed_bytes_per_token,
)
from planner.serving.layers import Attention
from planner.serving.memory import kv_bytes_per_token
from planner.serving.shape import shape_from_config

# Growing bytes for each token, 16-bit cache, one GPU; derived from the released
# configs and confirmed by vLLM logs where one exists.
GROWING = {
    "Llama-2-7b-hf": 524_288,
    "Meta-Llama-3.1-8B": 131_072,
    "Mixtral-8x7B-v0.1": 131_072,
    "Llama-2-70b-hf": 327_680,
    "Meta-Llama-3.1-70B": 327_680,
    "Llama-3.3-70B-Instruct": 327_680,
    "Qwen2.5-72B-Instruct": 327_680,
    "Meta-Llama-3.1-405B": 516_096,
    "Qwen3-32B": 262_144,
    "Qwen3-235B-A22B": 192_512,
    "phi-4": 204_800,
    "DeepSeek-V3": 70_272,
    "DeepSeek-R1": 70_272,
    "Kimi-K2-Instruct": 70_272,
    "DeepSeek-V2-Lite": 31_104,
    "gpt-oss-120b": 36_864,
    "gpt-oss-20b": 24_576,
    "gemma-3-27b-it": 81_920,
    "Qwen3-Coder-Next": 24_576,
    "Qwen3.5-27B": 65_536,
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": 6_144,
    "Nemotron-H-56B-Base-8K": 40_960,
    "falcon-7b": 8_192,
}

NAIVE = {
    "gpt-oss-120b": 73_728,
    "gpt-oss-20b": 49_152,
    "gemma-3-27b-it": 507_904,
}


@pytest.mark.parametrize("name", GROWING)
def test_growing_bytes_of_the_check_table(name: str) -> None:
    assert growing_bytes_per_token(load_shape(name)) == GROWING[name]


@pytest.mark.parametrize("name", NAIVE)
def test_windowed_layers_are_the_rest_of_the_naive_figure(name: str) -> None:
    shape = load_shape(name)
    both = growing_bytes_per_token(shape) + windowed_bytes_per_token(shape)
    assert both == NAIVE[name]


def test_mistral_small_3_2_by_its_geometry(make_dense: Any) -> None:
    shape = make_dense(
        layers=40, heads=32, kv_heads=8, head_dim=128, hidden=5120, intermediate=32768
    )
    assert growing_bytes_per_token(shape) == 163_840


def test_reference_70b_shape_is_320_kib_a_token() -> None:
    each = kv_bytes_per_token(layers=80, kv_heads=8, head_dim=128, element_bytes=2)
    assert each == 327_680 == 320 * 1024
    assert each * 8192 / 2**30 == 2.5
    assert growing_bytes_per_token(load_shape("Meta-Llama-3.1-70B")) == each


def test_attention_heads_would_be_eight_times_too_many() -> None:
    """An estimator that multiplies by query heads: jranaraki/vllm-fit#2."""
    right = kv_bytes_per_token(80, 8, 128, 2)
    assert kv_bytes_per_token(80, 64, 128, 2) == 8 * right


@given(st.integers(1, 200), st.sampled_from([1, 2, 4, 8, 64]), st.integers(1, 10**6))
def test_kv_is_linear_in_length_and_batch(layers: int, heads: int, tokens: int) -> None:
    one = kv_bytes_per_token(layers, heads, 128, 2)
    assert one * tokens * 2 == kv_bytes_per_token(2 * layers, heads, 128, 2) * tokens
    assert one * (2 * tokens) == 2 * (one * tokens)


@pytest.mark.parametrize(
    ("name", "megabytes"), [("Qwen3-Coder-Next", 39.5), ("Nemotron-H-56B-Base-8K", 459.6)]
)
def test_fixed_state_of_hybrid_models(name: str, megabytes: float) -> None:
    held = fixed_bytes_per_sequence(load_shape(name), length=10**6, max_num_batched_tokens=8192)
    assert held / 1e6 == pytest.approx(megabytes, abs=0.05)


def test_state_precision_follows_the_config() -> None:
    """Nemotron 3 Nano keeps float32 states: 49 MB a sequence, 25 MB at 16 bits."""
    config = config_of("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")
    for dtype, megabytes in (("float32", 49.1), ("bfloat16", 25.0)):
        shape = shape_from_config({**config, "mamba_ssm_cache_dtype": dtype}, "nano")
        held = fixed_bytes_per_sequence(shape, length=1000, max_num_batched_tokens=0)
        assert held / 1e6 == pytest.approx(megabytes, abs=0.05)


def test_states_do_not_grow_and_windows_stop_growing() -> None:
    nano, gemma = load_shape("Nemotron-H-56B-Base-8K"), load_shape("gemma-3-27b-it")

    def held(shape: Any, length: int) -> int:
        return fixed_bytes_per_sequence(shape, length=length, max_num_batched_tokens=0)

    assert held(nano, 10) == held(nano, 10**6)
    assert held(gemma, 500) < held(gemma, 5_000) == held(gemma, 50_000)
    assert held(gemma, 10**6) == 52 * 8_192 * 1_023


def test_a_window_holds_the_chunk_being_computed_as_well() -> None:
    shape = load_shape("gpt-oss-120b")
    held = fixed_bytes_per_sequence(shape, length=10**5, max_num_batched_tokens=2048)
    assert held == 18 * 2_048 * (127 + 2048)


def test_gpt_oss_sequence_at_65536_tokens_is_1_13_gib_not_2_26() -> None:
    """Sliding layers charged in full: ai-dynamo/aiconfigurator#1537 (8-bit cache)."""
    shape = load_shape("gpt-oss-120b")
    growing = growing_bytes_per_token(shape, 1, "fp8") * 65_536
    fixed = fixed_bytes_per_sequence(shape, 1, "fp8", length=65_536, max_num_batched_tokens=128)
    assert (growing + fixed) / 2**30 == pytest.approx(1.1341, rel=0.01)


@pytest.mark.parametrize(
    ("name", "degree", "dtype", "expected", "source"),
    [
        ("Qwen3-235B-A22B", 4, "bfloat16", 48_128, "vllm-project/vllm#21348"),
        ("Qwen3-235B-A22B", 8, "bfloat16", 48_128, "four KV heads are copied to eight GPUs"),
        ("Qwen3-30B-A3B", 1, "fp8", 49_152, "vllm-project/vllm#25350"),
        ("Qwen3.5-27B", 1, "bfloat16", 65_536, "vllm-project/vllm#35289"),
        ("Kimi-K2-Instruct", 8, "bfloat16", 70_272, "sgl-project/sglang#13466"),
        ("Kimi-K2-Instruct", 8, "fp8", 35_136, "SemiAnalysisAI/InferenceX#1587"),
        ("Qwen2.5-7B-Instruct", 1, "bfloat16", 57_344, "AWQ on a 16 GB card"),
        ("Qwen3-8B", 1, "bfloat16", 147_456, "xorbitsai/inference#4926"),
        ("Meta-Llama-3.1-8B", 1, "bfloat16", 131_072, "vllm-project/vllm#10517"),
        ("Meta-Llama-3.1-8B", 1, "nvfp4", 36_864, "4.5 bits an element"),
    ],
)
def test_bytes_on_each_gpu(name: str, degree: int, dtype: Any, expected: int, source: str) -> None:
    assert growing_bytes_per_token(load_shape(name), degree, dtype) == expected, source


def test_latent_cache_of_mistral_small_4_is_not_divided(make_dense: Any) -> None:
    """36 layers of 320 latent elements: 23,040 bytes on both GPUs (kaito-project/kaito#2132)."""
    config = {
        "model_type": "deepseek_v3",
        "hidden_size": 4096,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "kv_lora_rank": 256,
        "q_lora_rank": 1024,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 64,
        "v_head_dim": 128,
        "vocab_size": 131072,
        "intermediate_size": 12288,
    }
    shape = shape_from_config(config, "declared")
    assert growing_bytes_per_token(shape, 2) == 23_040
    assert growing_bytes_per_token(shape, 2) * 1_048_576 / 2**30 == pytest.approx(22.5)


@pytest.mark.parametrize(
    ("layers", "heads", "kv", "tensor", "stages", "expected"),
    [(40, 40, 8, 1, 2, 81_920), (62, 48, 8, 2, 2, 63_488)],
)
def test_bytes_of_a_pipeline_stage(
    make_dense: Any, layers: int, heads: int, kv: int, tensor: int, stages: int, expected: int
) -> None:
    """Qwen3-14B over two stages; MiniMax-M2.7 over two by two (kaito-project/kaito PR 2156)."""
    shape = make_dense(
        layers=layers, heads=heads, kv_heads=kv, head_dim=128, hidden=5120, intermediate=17408
    )
    stage = (0, layers // stages)
    assert growing_bytes_per_token(shape, tensor, "bfloat16", stage) == expected


def test_the_sparse_indexer_caches_a_key_of_its_own() -> None:
    shape = load_shape("DeepSeek-V3.2")
    assert growing_bytes_per_token(shape) == 61 * (576 * 2 + 132)
    assert growing_bytes_per_token(shape, 8, "fp8") == 61 * (656 + 132)


def test_different_key_and_value_widths() -> None:
    layer = load_shape("Qwen3-8B").kinds[0]
    assert isinstance(layer.mixer, Attention)
    narrow = layer.model_copy(update={"mixer": layer.mixer.model_copy(update={"value_dim": 64})})
    assert token_bytes(narrow, 1) == 8 * (128 + 64) * 2
