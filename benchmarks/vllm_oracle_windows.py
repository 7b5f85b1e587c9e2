"""Small configs of families whose layers see a window or a chunk, all of them or some."""

from __future__ import annotations

from typing import Any

from benchmarks.vllm_oracle_families import COMMON, config

GEMMA = {
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 32,
    "tie_word_embeddings": True,
}


def gemma2(**more: Any) -> dict[str, Any]:
    fields = {
        "sliding_window": 512,
        "attn_logit_softcapping": 50.0,
        "final_logit_softcapping": 30.0,
        **GEMMA,
        **more,
    }
    return config("Gemma2ForCausalLM", "gemma2", **fields)


def gemma3(**more: Any) -> dict[str, Any]:
    fields = {
        "num_hidden_layers": 6,
        "sliding_window": 128,
        "sliding_window_pattern": 6,
        "rope_local_base_freq": 10_000.0,
        **GEMMA,
        **more,
    }
    return config("Gemma3ForCausalLM", "gemma3_text", **fields)


def gemma3_vision(**more: Any) -> dict[str, Any]:
    text = {**gemma3(**more)}
    text.pop("architectures")
    vision = {
        "model_type": "siglip_vision_model",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 56,
        "patch_size": 14,
        "num_channels": 3,
    }
    return {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "text_config": text,
        "vision_config": vision,
        "mm_tokens_per_image": 4,
        "torch_dtype": "bfloat16",
    }


def gemma4(full: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return layers of which ``full`` see all tokens, with heads of their own."""
    fields = {
        "num_hidden_layers": 6,
        "layer_types": sliding_types(6, full),
        "sliding_window": 128,
        "global_head_dim": 64,
        "num_global_key_value_heads": 2,
        "attention_k_eq_v": True,
        "hidden_size_per_layer_input": 0,
        "num_kv_shared_layers": 0,
        "final_logit_softcapping": 30.0,
        **GEMMA,
        **more,
    }
    made = config("Gemma4ForCausalLM", "gemma4_text", **fields)
    del made["rope_theta"]
    return made


def gpt_oss(layers: int = 4, **more: Any) -> dict[str, Any]:
    kinds = ["full_attention" if index % 2 else "sliding_attention" for index in range(layers)]
    fields = {
        "num_hidden_layers": layers,
        "layer_types": kinds,
        "sliding_window": 128,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "attention_bias": True,
        "swiglu_limit": 7.0,
        **more,
    }
    return config("GptOssForCausalLM", "gpt_oss", **fields)


def llama4(layers: int = 4, **more: Any) -> dict[str, Any]:
    text = {
        **COMMON,
        "model_type": "llama4_text",
        "num_hidden_layers": layers,
        "attention_chunk_size": 512,
        "intermediate_size_mlp": 256,
        "num_local_experts": 4,
        "num_experts_per_tok": 1,
        "interleave_moe_layer_step": 1,
        "no_rope_layers": [int((index + 1) % 4 != 0) for index in range(layers)],
        "use_qk_norm": True,
        "attn_temperature_tuning": False,
        **more,
    }
    vision = {
        "model_type": "llama4_vision_model",
        "hidden_size": 64,
        "intermediate_size": 256,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 56,
        "patch_size": 14,
        "num_channels": 3,
        "pixel_shuffle_ratio": 0.5,
        "projector_input_dim": 64,
        "projector_output_dim": 64,
        "vision_output_dim": 64,
    }
    return {
        "architectures": ["Llama4ForConditionalGeneration"],
        "model_type": "llama4",
        "text_config": text,
        "vision_config": vision,
        "torch_dtype": "bfloat16",
    }


def listed(architecture: str, family: str, full: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return a family that lists its layers; ``full`` of 8 have no window."""
    fields = {
        "num_hidden_layers": 8,
        "layer_types": sliding_types(8, full),
        "sliding_window": 500,
        "layer_norm_eps": 1e-5,
        "logit_scale": 0.25,
        **more,
    }
    return config(architecture, family, **fields)


def sliding_types(layers: int, full: tuple[int, ...]) -> list[str]:
    return ["full_attention" if n in full else "sliding_attention" for n in range(layers)]


def mistral(**more: Any) -> dict[str, Any]:
    return config("MistralForCausalLM", "mistral", **{"sliding_window": 4096, **more})


def starcoder2(**more: Any) -> dict[str, Any]:
    fields = {
        "sliding_window": 700,
        "use_bias": True,
        "norm_epsilon": 1e-5,
        "hidden_act": "gelu_pytorch_tanh",
        "head_dim": None,
        "tie_word_embeddings": True,
        **more,
    }
    return config("Starcoder2ForCausalLM", "starcoder2", **fields)


def phi3(**more: Any) -> dict[str, Any]:
    fields = {"pad_token_id": 0, "original_max_position_embeddings": 131_072, **more}
    return config("Phi3ForCausalLM", "phi3", **fields)
