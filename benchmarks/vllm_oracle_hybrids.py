"""Small configs of families with recurrent states, and of those that also see images."""

from __future__ import annotations

from typing import Any

from benchmarks.vllm_oracle_families import COMMON, EXPERTS, config

MAMBA = {
    "mamba_n_heads": 8,
    "mamba_d_head": 32,
    "mamba_n_groups": 1,
    "mamba_d_state": 32,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "mamba_chunk_size": 128,
    "mamba_conv_bias": True,
    "mamba_proj_bias": False,
    "head_dim": None,
}

DELTA = {
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 8,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "linear_conv_kernel_dim": 4,
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


def granite_hybrid(layers: int, attention: tuple[int, ...], **more: Any) -> dict[str, Any]:
    kinds = ["attention" if index in attention else "mamba" for index in range(layers)]
    fields = {
        **MAMBA,
        "num_hidden_layers": layers,
        "layer_types": kinds,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "shared_intermediate_size": 128,
        "position_embedding_type": "nope",
        "embedding_multiplier": 12,
        "logits_scaling": 6,
        "residual_multiplier": 0.22,
        "attention_multiplier": 0.125,
        "attention_bias": False,
        "normalization_function": "rmsnorm",
        **more,
    }
    return config("GraniteMoeHybridForCausalLM", "granitemoehybrid", **fields)


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
    half = more.get("head_dim", COMMON["head_dim"]) // 4  # half of the heads is rotated, in pairs
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
            "mrope_section": [(half + 2) // 3, (half + 1) // 3, half // 3],
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


def qwen3_vl() -> dict[str, Any]:
    text = {
        **COMMON,
        "model_type": "qwen3_vl_text",
        "rope_scaling": {"rope_type": "default", "mrope_section": [6, 5, 5]},
    }
    vision = {**qwen3_5()["vision_config"], "model_type": "qwen3_vl"}
    return {
        **qwen3_5(),
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        "text_config": text,
        "vision_config": {**vision, "deepstack_visual_indexes": [0]},
    }
