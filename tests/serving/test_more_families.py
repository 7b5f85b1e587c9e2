"""Families served beside the catalogued ones: parameter counts and KV bytes as published.

Configs are the fields of each release's config.json from general knowledge; counts are
those of the model cards (safetensors totals), in billions; KV bytes are 2 x layers x KV
heads x head dimension x 2, by hand, windowed layers left out.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError
from planner.serving.kv import fixed_bytes_per_sequence, growing_bytes_per_token
from planner.serving.shape import shape_from_config
from planner.serving.vision import vision_load


def config(
    model_type: str, sizes: tuple[int, ...], vocabulary: int, context: int = 32_768, **more: Any
) -> dict[str, Any]:
    """Return a config.json: hidden, layers, heads, KV heads, MLP width."""
    hidden, layers, heads, kv_heads, width = sizes
    return {
        "model_type": model_type,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": width,
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        **more,
    }


SIGLIP = {
    "hidden_size": 1152,
    "image_size": 896,
    "intermediate_size": 4304,
    "model_type": "siglip_vision_model",
    "num_attention_heads": 16,
    "num_hidden_layers": 27,
    "patch_size": 14,
}
QWEN2_VL_TOWER = {
    "depth": 32,
    "embed_dim": 1280,
    "mlp_ratio": 4,
    "num_heads": 16,
    "in_chans": 3,
    "hidden_size": 3584,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
}


def gemma3(**text: Any) -> dict[str, Any]:
    """Return a Gemma 3 file, which leaves to its class what does not differ from it."""
    inner = {"model_type": "gemma3_text", "sliding_window": 1024, **text}
    return {"model_type": "gemma3", "text_config": inner, "vision_config": SIGLIP}


UNTIED = {"tie_word_embeddings": False}
TIED = {"tie_word_embeddings": True}

PUBLISHED: list[tuple[str, dict[str, Any], float, int]] = [
    (
        "google/gemma-3-12b-it",
        gemma3(
            hidden_size=3840,
            intermediate_size=15360,
            num_attention_heads=16,
            num_hidden_layers=48,
            num_key_value_heads=8,
        ),
        12.187,
        8 * 2 * 8 * 256 * 2,
    ),
    (
        "google/gemma-3-4b-it",
        gemma3(hidden_size=2560, intermediate_size=10240, num_hidden_layers=34),
        4.300,
        5 * 2 * 4 * 256 * 2,
    ),
    ("google/gemma-7b", config("gemma", (3072, 28, 16, 16, 24576), 256_000), 8.538, 458_752),
    (
        "Qwen/Qwen2-VL-7B-Instruct",
        config(
            "qwen2_vl",
            (3584, 28, 28, 4, 18944),
            152_064,
            use_sliding_window=False,
            sliding_window=32_768,
            vision_config=QWEN2_VL_TOWER,
            **UNTIED,
        ),
        8.291,
        57_344,
    ),
    (
        "microsoft/Phi-3.5-MoE-instruct",
        config(
            "phimoe",
            (4096, 32, 32, 8, 6400),
            32_064,
            131_072,
            num_local_experts=16,
            num_experts_per_tok=2,
            attention_bias=True,
            sliding_window=131_072,
        ),
        41.873,
        131_072,
    ),
    (
        "microsoft/Phi-4-mini-instruct",
        config("phi3", (3072, 32, 24, 8, 8192), 200_064, 131_072, sliding_window=262_144, **TIED),
        3.836,
        131_072,
    ),
    (
        "THUDM/glm-4-9b-chat",
        {
            "model_type": "chatglm",
            "hidden_size": 4096,
            "num_layers": 40,
            "num_attention_heads": 32,
            "multi_query_attention": True,
            "multi_query_group_num": 2,
            "kv_channels": 128,
            "ffn_hidden_size": 13696,
            "padded_vocab_size": 151_552,
            "seq_length": 131_072,
        },
        9.400,
        40_960,
    ),
    (
        "THUDM/GLM-4-32B-0414",
        config("glm4", (6144, 61, 48, 2, 23040), 151_552, head_dim=128),
        32.566,
        62_464,
    ),
    (
        "ibm-granite/granite-3.1-3b-a800m-instruct",
        config(
            "granitemoe",
            (1536, 32, 24, 8, 512),
            49_155,
            num_local_experts=40,
            num_experts_per_tok=8,
            **TIED,
        ),
        3.299,
        65_536,
    ),
    (
        "allenai/OLMoE-1B-7B-0924",
        config("olmoe", (2048, 16, 16, 16, 1024), 50_304, num_experts=64, num_experts_per_tok=8),
        6.919,
        131_072,
    ),
    (
        "internlm/internlm2_5-20b-chat",
        config("internlm2", (6144, 48, 48, 8, 16384), 92_544),
        19.861,
        196_608,
    ),
    (
        "baidu/ERNIE-4.5-21B-A3B-PT",
        config(
            "ernie4_5_moe",
            (2560, 28, 20, 4, 12288),
            103_424,
            moe_num_experts=64,
            moe_k=6,
            moe_num_shared_experts=2,
            moe_intermediate_size=1536,
            moe_layer_start_index=1,
            moe_layer_interval=1,
            moe_layer_end_index=-1,
        ),
        21.825,
        57_344,
    ),
    (
        "baidu/ERNIE-4.5-300B-A47B-PT",
        config(
            "ernie4_5_moe",
            (8192, 54, 64, 8, 28672),
            103_424,
            moe_num_experts=64,
            moe_k=8,
            moe_num_shared_experts=0,
            moe_intermediate_size=3584,
            moe_layer_start_index=3,
            moe_layer_interval=1,
            moe_layer_end_index=53,
            **UNTIED,
        ),
        299.5,
        221_184,
    ),
    (
        "tencent/Hunyuan-A13B-Instruct",
        config(
            "hunyuan_v1_moe",
            (4096, 32, 32, 8, 3072),
            128_167,
            num_experts=64,
            moe_topk=[8] * 32,
            num_shared_expert=[1] * 32,
            moe_intermediate_size=[3072] * 32,
            use_cla=False,
            **TIED,
        ),
        80.393,
        131_072,
    ),
    (
        "LGAI-EXAONE/EXAONE-4.0-32B",
        config(
            "exaone4",
            (5120, 64, 40, 8, 27392),
            102_400,
            sliding_window=4096,
            sliding_window_pattern="LLLG",
            **UNTIED,
        ),
        32.003,
        16 * 2 * 8 * 128 * 2,
    ),
    (
        "Qwen/Qwen-7B-Chat",
        {
            "model_type": "qwen",
            "hidden_size": 4096,
            "intermediate_size": 22016,
            "num_attention_heads": 32,
            "num_hidden_layers": 32,
            "vocab_size": 151_936,
            "seq_length": 8192,
            "kv_channels": 128,
        },
        7.721,
        524_288,
    ),
    (
        "nvidia/Nemotron-Mini-4B-Instruct",
        config("nemotron", (3072, 32, 24, 8, 9216), 256_000, head_dim=128, **UNTIED),
        4.190,
        131_072,
    ),
]


@pytest.mark.parametrize(
    ("fields", "billions", "kv_bytes"),
    [row[1:] for row in PUBLISHED],
    ids=[row[0] for row in PUBLISHED],
)
def test_published_sizes(fields: dict[str, Any], billions: float, kv_bytes: int) -> None:
    shape = shape_from_config(fields, "model")
    assert shape.parameters / 1e9 == pytest.approx(billions, rel=0.002)
    assert growing_bytes_per_token(shape) == kv_bytes


def test_a_window_beyond_the_context_is_no_window() -> None:
    shape = shape_from_config(PUBLISHED[5][1], "Phi-4-mini")
    assert fixed_bytes_per_sequence(shape, length=8192, max_num_batched_tokens=2048) == 0


def test_qwen2_vl_tower_is_as_wide_as_embed_dim() -> None:
    shape = shape_from_config(PUBLISHED[3][1], "Qwen2-VL")
    assert shape.vision is not None
    assert shape.vision.width == 1280
    assert vision_load({**QWEN2_VL_TOWER}, {}, "raw").width == 3584  # the text model's


@pytest.mark.parametrize(
    "model_type",
    ["jamba", "falcon_h1", "zamba2", "kimi_linear", "minimax_m1", "gemma3n", "phi3small"],
)
def test_what_cannot_be_sized_is_refused_with_its_reason(model_type: str) -> None:
    with pytest.raises(InputError, match=f"{model_type}.*is not understood: "):
        shape_from_config(config(model_type, (4096, 32, 32, 8, 14336), 32_000), "model")


@pytest.mark.parametrize(
    ("field", "value"),
    [("moe_topk", [8] * 31 + [4]), ("moe_topk", [8] * 3), ("use_cla", True)],
)
def test_hunyuan_layers_that_differ_are_refused(field: str, value: Any) -> None:
    fields = next(row[1] for row in PUBLISHED if "Hunyuan" in row[0])
    with pytest.raises(InputError, match=field):
        shape_from_config({**fields, field: value}, "model")
