"""The small configurations that real vLLM is asked about, one attention kind each.

Weights are random, so a config only has to be loadable: widths are small, but
layer patterns, head counts, windows, latent ranks and states cover the kinds
that released models have. ``STARTS`` start whole engines; ``VARIATIONS`` asks
the functions of the same engine about many more settings.
"""

from __future__ import annotations

from typing import Any

GIB = 1024**3

COMMON: dict[str, Any] = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 1024,
    "max_position_embeddings": 131_072,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10_000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
GEMMA = {
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 32,
    "tie_word_embeddings": True,
}


def config(architecture: str, model_type: str, **more: Any) -> dict[str, Any]:
    return {**COMMON, "architectures": [architecture], "model_type": model_type, **more}


def llama(**more: Any) -> dict[str, Any]:
    return config("LlamaForCausalLM", "llama", **more)


def mistral(**more: Any) -> dict[str, Any]:
    return config("MistralForCausalLM", "mistral", **{"sliding_window": 4096, **more})


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


def deepseek_v2(**more: Any) -> dict[str, Any]:
    return config("DeepseekV2ForCausalLM", "deepseek_v2", **{**latent(), **more})


def deepseek_v3(**more: Any) -> dict[str, Any]:
    fields = {
        **latent(),
        "q_lora_rank": 48,
        "topk_method": "noaux_tc",
        "scoring_func": "sigmoid",
        "n_group": 2,
        "topk_group": 1,
        **more,
    }
    return config("DeepseekV3ForCausalLM", "deepseek_v3", **fields)


def deepseek_v32(**more: Any) -> dict[str, Any]:
    fields = {
        "architectures": ["DeepseekV32ForCausalLM"],
        "model_type": "deepseek_v32",
        "index_n_heads": 4,
        "index_head_dim": 128,
        "index_topk": 64,
        **more,
    }
    return deepseek_v3(**fields)


def latent() -> dict[str, Any]:
    return {
        "num_key_value_heads": 4,
        "head_dim": None,
        "kv_lora_rank": 64,
        "qk_rope_head_dim": 16,
        "qk_nope_head_dim": 32,
        "v_head_dim": 32,
        "q_lora_rank": None,
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "first_k_dense_replace": 1,
        "moe_layer_freq": 1,
        "n_group": 1,
        "topk_group": 1,
        "topk_method": "greedy",
        "scoring_func": "softmax",
        "norm_topk_prob": False,
        "routed_scaling_factor": 1.0,
    }


DELTA = {
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 8,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "linear_conv_kernel_dim": 4,
}


def qwen3_next(**more: Any) -> dict[str, Any]:
    fields = {
        **DELTA,
        **EXPERTS,
        "shared_expert_intermediate_size": 64,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "norm_topk_prob": True,
        "full_attention_interval": 4,
        "partial_rotary_factor": 0.5,
        **more,
    }
    return config("Qwen3NextForCausalLM", "qwen3_next", **fields)


def qwen3_5(layers: int = 4, every: int = 4, **more: Any) -> dict[str, Any]:
    kinds = [
        "full_attention" if (index + 1) % every == 0 else "linear_attention"
        for index in range(layers)
    ]
    text = {
        **COMMON,
        **DELTA,
        "model_type": "qwen3_5_text",
        "num_hidden_layers": layers,
        "layer_types": kinds,
        "full_attention_interval": every,
        "attn_output_gate": True,
        "mamba_ssm_dtype": "float32",
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "partial_rotary_factor": 0.5,
            "mrope_section": [3, 3, 2],
            "mrope_interleaved": True,
        },
        **more,
    }
    del text["rope_theta"]
    vision = {
        "model_type": "qwen3_5",
        "depth": 1,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "in_channels": 3,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": 128,
        "num_position_embeddings": 64,
        "hidden_act": "gelu_pytorch_tanh",
        "deepstack_visual_indexes": [],
    }
    return {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "text_config": text,
        "vision_config": vision,
        "image_token_id": 1000,
        "video_token_id": 1001,
        "vision_start_token_id": 1002,
        "vision_end_token_id": 1003,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    }


def nemotron_h(pattern: str = "M-M*M-ME", **more: Any) -> dict[str, Any]:
    fields = {
        "num_hidden_layers": len(pattern),
        "hybrid_override_pattern": pattern,
        "attention_head_dim": 32,
        "mamba_num_heads": 8,
        "mamba_head_dim": 16,
        "n_groups": 2,
        "ssm_state_size": 32,
        "conv_kernel": 4,
        "chunk_size": 128,
        "use_conv_bias": True,
        "use_bias": False,
        "mamba_proj_bias": False,
        "mamba_hidden_act": "silu",
        "mlp_hidden_act": "relu2",
        "mlp_bias": False,
        "attention_bias": False,
        "layer_norm_epsilon": 1e-5,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "moe_shared_expert_intermediate_size": 64,
        "n_shared_experts": 1,
        "n_group": 1,
        "topk_group": 1,
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
        "residual_in_fp32": False,
        **more,
    }
    return config("NemotronHForCausalLM", "nemotron_h", **fields)


def falcon(**more: Any) -> dict[str, Any]:
    fields = {
        "multi_query": True,
        "new_decoder_architecture": False,
        "parallel_attn": True,
        "bias": False,
        "alibi": False,
        "layer_norm_epsilon": 1e-5,
        **more,
    }
    made = config("FalconForCausalLM", "falcon", **fields)
    for absent in ("num_key_value_heads", "head_dim", "intermediate_size"):
        made.pop(absent)
    return made


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


def qwen(kind: str, **more: Any) -> dict[str, Any]:
    names = {
        "qwen2": "Qwen2ForCausalLM",
        "qwen3": "Qwen3ForCausalLM",
        "qwen3_moe": "Qwen3MoeForCausalLM",
    }
    fields = dict(more)
    if kind == "qwen3_moe":
        extra = {"decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": True}
        fields = {**EXPERTS, **extra, **fields}
    return config(names[kind], kind, **fields)


def settings(length: int, batched: int = 2048, seqs: int = 64, **more: Any) -> dict[str, Any]:
    return {
        "max_model_len": length,
        "max_num_batched_tokens": batched,
        "max_num_seqs": seqs,
        "dtype": "bfloat16",
        "kv_cache_memory_bytes": GIB,
        **more,
    }
