"""Families whose configs are read in ways of their own."""

from __future__ import annotations

from typing import Any

import pytest

from planner.catalog.shapes import config_of, load_shape
from planner.errors import InputError
from planner.serving.kv import growing_bytes_per_token, windowed_bytes_per_token
from planner.serving.layers import LatentAttention, MoeMlp
from planner.serving.shape import shape_from_config
from planner.serving.weights import checkpoint_bytes
from planner.units import GIB

# transformers 5.17.0 (PyPI), MiMoV2FlashConfig and MiMo's released heads: windowed layers
# have eight KV heads, full ones four; values are narrower than keys.
MIMO: dict[str, Any] = {
    "architectures": ["MiMoV2FlashForCausalLM"],
    "model_type": "mimo_v2_flash",
    "hidden_size": 4096,
    "num_hidden_layers": 6,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 192,
    "v_head_dim": 128,
    "swa_num_attention_heads": 64,
    "swa_num_key_value_heads": 8,
    "swa_head_dim": 192,
    "swa_v_head_dim": 128,
    "sliding_window": 128,
    "hybrid_layer_pattern": [0, 1, 1, 1, 1, 0],
    "moe_layer_freq": [0, 1, 1, 1, 1, 1],
    "intermediate_size": 16_384,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "vocab_size": 152_576,
}


def test_mimo_windowed_layers_have_heads_of_their_own() -> None:
    shape = shape_from_config(MIMO, "mimo")
    assert growing_bytes_per_token(shape) == 2 * 4 * (192 + 128) * 2
    assert windowed_bytes_per_token(shape) == 4 * 8 * (192 + 128) * 2
    assert sum(n for layer, n in shape.counts() if isinstance(layer.mlp, MoeMlp)) == 5


@pytest.mark.parametrize(
    "change", [{"hybrid_layer_pattern": None}, {"hybrid_layer_pattern": [0, 1, 2, 0, 0, 0]}]
)
def test_mimo_needs_its_pattern(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="hybrid_layer_pattern"):
        shape_from_config({**MIMO, **change}, "mimo")


def test_gemma_4_full_layers_are_wider() -> None:
    """880 KiB a token in all, 80 of them growing (vllm-project/vllm#43308); 31B parameters."""
    shape = load_shape("gemma-4-31b-it")
    both = growing_bytes_per_token(shape) + windowed_bytes_per_token(shape)
    assert both == 901_120
    assert shape.parameters / 1e9 == pytest.approx(31, rel=0.02)


def test_caches_shared_between_layers_are_refused() -> None:
    config = config_of("gemma-4-31b-it")
    text = {**config["text_config"], "num_kv_shared_layers": 20}
    with pytest.raises(InputError, match="num_kv_shared_layers"):
        shape_from_config({**config, "text_config": text}, "gemma-4-e4b")


def test_mistral_small_4_is_latent() -> None:
    """119B; 23,040 bytes a token on every GPU (kaito-project/kaito#2132)."""
    shape = load_shape("Mistral-Small-4-119B")
    assert isinstance(shape.kinds[0].mixer, LatentAttention)
    assert growing_bytes_per_token(shape, 2) == 23_040
    assert shape.parameters / 1e9 == pytest.approx(119, rel=0.01)


def test_glm_5_caches_a_latent_and_an_index() -> None:
    """Class defaults of transformers 5.17.0 (PyPI) GlmMoeDsaConfig."""
    config = {
        "model_type": "glm_moe_dsa",
        "hidden_size": 6144,
        "num_hidden_layers": 78,
        "num_attention_heads": 64,
        "kv_lora_rank": 512,
        "q_lora_rank": 2048,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 192,
        "v_head_dim": 256,
        "index_n_heads": 32,
        "index_head_dim": 128,
        "intermediate_size": 12_288,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
        "first_k_dense_replace": 3,
        "vocab_size": 154_880,
    }
    shape = shape_from_config(config, "glm-5")
    assert growing_bytes_per_token(shape) == 78 * (576 * 2 + 132)
    assert shape.parameters / 1e9 == pytest.approx(744, rel=0.01)


def test_kimi_k2_5_in_its_wrapper_with_its_own_quantisation() -> None:
    """Text model and weight format are nested; 35,136 bytes a token at 8 bits."""
    inner = config_of("Kimi-K2-Instruct")
    inner["quantization_config"] = {
        "quant_method": "compressed-tensors",
        "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*"],
        "config_groups": {"group_0": {"weights": {"type": "int", "num_bits": 4, "group_size": 32}}},
    }
    config = {
        "architectures": ["KimiK25ForConditionalGeneration"],
        "model_type": "kimi_k25",
        "text_config": inner,
    }
    shape = shape_from_config(config, "kimi-k2.5")
    assert shape.quantisation.method == "int4"
    assert growing_bytes_per_token(shape, 8, "fp8") == 35_136
    assert 500 < checkpoint_bytes(shape) / GIB < 600


def test_experts_of_a_latent_width() -> None:
    config = {
        **config_of("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
        "moe_latent_size": 1024,
    }
    narrow = shape_from_config(config, "super")
    (mlp,) = {layer.mlp for layer in narrow.kinds if isinstance(layer.mlp, MoeMlp)}
    assert mlp.expert_parameters(narrow.hidden) == 2 * 1024 * 1856
    assert dict(mlp.projections(narrow.hidden))["mlp.fc1_latent_proj"] == 2688 * 1024


def test_a_tower_of_free_image_size_takes_its_peak(make_card: Any) -> None:
    """2.51 GiB of activation at degree 4 (vllm-project/vllm#16570), 1.4 without the tower."""
    from planner.serving.activation import activation_bytes
    from planner.serving.engine import VllmSettings, resolved
    from planner.serving.sizing_types import Layout

    config = {
        "model_type": "qwen2_5_vl",
        "hidden_size": 8192,
        "num_hidden_layers": 80,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "intermediate_size": 29_568,
        "vocab_size": 152_064,
        "vision_config": {
            "model_type": "qwen2_5_vl",
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3456,
            "num_heads": 16,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "out_hidden_size": 8192,
        },
    }
    card = make_card("A100-SXM4-40GB", 40, 39.38, fp8=None)
    filled = resolved(VllmSettings(vllm_version="0.8.4"), card, None)
    shape = shape_from_config(config, "vl")
    found = activation_bytes(shape, Layout(tensor_parallel=4), filled)
    assert found / GIB == pytest.approx(2.51, abs=0.02)
    blind = shape.model_copy(update={"vision": None})
    assert activation_bytes(blind, Layout(tensor_parallel=4), filled) / GIB < 1.5


def test_heads_that_kv_heads_do_not_divide_are_named() -> None:
    config = {**config_of("Meta-Llama-3.1-8B"), "num_key_value_heads": 6}
    with pytest.raises(InputError, match="does not divide 32 attention heads"):
        shape_from_config(config, "odd")


def test_more_active_experts_than_there_are_is_named() -> None:
    config = {**config_of("Qwen3-30B-A3B"), "num_experts_per_tok": 200}
    with pytest.raises(InputError, match="above 128 experts"):
        shape_from_config(config, "odd")
