"""Small configs of model families, loadable by vLLM with random weights.

Widths are small, but every field that decides a cache is there. Here are the
families whose layers all cache every token: heads, experts, latent ranks.
"""

from __future__ import annotations

from typing import Any

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


def config(architecture: str, family: str, **more: Any) -> dict[str, Any]:
    return {**COMMON, "architectures": [architecture], "model_type": family, **more}


def llama(**more: Any) -> dict[str, Any]:
    return config("LlamaForCausalLM", "llama", **more)


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


NAS_CODE = """
from types import SimpleNamespace
from transformers import PretrainedConfig


class TinyConfig(PretrainedConfig):
    model_type = "nemotron-nas"

    def __init__(self, block_configs=(), num_attention_heads=4, **more):
        super().__init__(**more)
        self.num_attention_heads = num_attention_heads
        self.raw_block_configs = list(block_configs)

    @property
    def block_configs(self):
        return [
            SimpleNamespace(attention=SimpleNamespace(**each["attention"]),
                            ffn=SimpleNamespace(**each["ffn"]))
            for each in self.raw_block_configs
        ]

    @block_configs.setter
    def block_configs(self, value):
        self.raw_block_configs = list(value)
"""


def nemotron_nas(groups: tuple[int | None, ...]) -> dict[str, Any]:
    """Return layers of 4 heads in ``groups`` of a KV head each; None has no attention."""
    blocks = [
        {
            "attention": {
                "no_op": group is None,
                "replace_with_linear": False,
                "n_heads_in_group": group,
                "sparsify": None,
                "window_length": None,
            },
            "ffn": {"no_op": False, "replace_with_linear": False, "ffn_mult": 2.0},
        }
        for group in groups
    ]
    fields = {
        "num_hidden_layers": len(groups),
        "block_configs": blocks,
        "auto_map": {"AutoConfig": "configuration_tiny.TinyConfig"},
        "num_key_value_heads": None,
    }
    return config("DeciLMForCausalLM", "nemotron-nas", **fields)


def mixtral(**more: Any) -> dict[str, Any]:
    fields = {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None, **more}
    return config("MixtralForCausalLM", "mixtral", **fields)


def glm4_moe(**more: Any) -> dict[str, Any]:
    fields = {
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "first_k_dense_replace": 1,
        "use_qk_norm": True,
        "norm_topk_prob": True,
        "n_group": 1,
        "topk_group": 1,
        "routed_scaling_factor": 1.0,
        "attention_bias": False,
        "partial_rotary_factor": 0.5,
        **more,
    }
    return config("Glm4MoeForCausalLM", "glm4_moe", **fields)


def minimax_m2(**more: Any) -> dict[str, Any]:
    fields = {
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "use_qk_norm": True,
        "qk_norm_type": "per_layer",
        "use_routing_bias": True,
        "scoring_func": "sigmoid",
        "rotary_dim": 16,
        **more,
    }
    return config("MiniMaxM2ForCausalLM", "minimax_m2", **fields)


def qwen2_moe(**more: Any) -> dict[str, Any]:
    fields = {
        **EXPERTS,
        "shared_expert_intermediate_size": 64,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "norm_topk_prob": False,
        **more,
    }
    return config("Qwen2MoeForCausalLM", "qwen2_moe", **fields)
