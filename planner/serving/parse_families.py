"""The architectures that are understood, and what their classes do by default.

Each row is what the model class of Hugging Face transformers does and config
files leave out. An architecture that is not here is refused by name: guessing
from its fields is how estimators get sliding windows and latent caches wrong.
"""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen

Windows = Literal["never", "every_layer", "qwen", "alternate", "pattern", "listed", "llama4"]
"""Which layers are windowed: none; all, if a window is set; Qwen's switch and
first full layers; every second, starting with the first; all but each n-th;
as ``layer_types`` says; chunked except each fourth (Llama 4)."""


Mixers = Literal[
    "attention",
    "mla",
    "delta_hybrid",
    "nemotron_h",
    "nemotron_nas",
    "gemma4",
    "mimo_v2",
    "bamba",
    "granite_hybrid",
]
"""How token mixers are declared: one kind of attention, latent attention, a hybrid of
attention and delta nets, a letter pattern, a list of blocks, two kinds of heads, or
Mamba-2 beside attention by index or by name."""


class Family(Frozen):
    """Class behaviour behind a ``model_type``."""

    mixer: Mixers = "attention"
    windows: Windows = "never"
    qk_norm: bool = False
    bias: Literal["none", "qkv", "all"] = "none"
    sinks: bool = False
    gate: bool = False
    norms: int = 2
    tied: bool = False
    mlp_matrices: Literal[2, 3] = 3
    expert_bias: bool = False
    shared_gate: bool = False
    router_bias: bool = False


FAMILIES: dict[str, Family] = {
    "llama": Family(),
    "mistral": Family(windows="every_layer"),
    "mixtral": Family(windows="every_layer"),
    "qwen2": Family(windows="qwen", bias="qkv"),
    "qwen2_5_vl": Family(windows="qwen", bias="qkv"),
    "qwen2_5_vl_text": Family(windows="qwen", bias="qkv"),
    "qwen2_moe": Family(windows="qwen", bias="qkv", shared_gate=True),
    "qwen3": Family(windows="qwen", qk_norm=True),
    "qwen3_moe": Family(windows="qwen", qk_norm=True),
    "qwen3_vl_text": Family(qk_norm=True),
    "qwen3_vl_moe_text": Family(qk_norm=True),
    "qwen3_next": Family(mixer="delta_hybrid", qk_norm=True, gate=True, shared_gate=True),
    "qwen3_5_text": Family(mixer="delta_hybrid", qk_norm=True, gate=True),
    "qwen3_5_moe_text": Family(mixer="delta_hybrid", qk_norm=True, gate=True, shared_gate=True),
    "phi3": Family(windows="every_layer"),
    "gemma2": Family(windows="alternate", norms=4, tied=True),
    "gemma3_text": Family(windows="pattern", qk_norm=True, norms=4, tied=True),
    "gemma4_text": Family(mixer="gemma4", qk_norm=True, norms=4, tied=True),
    "gpt_oss": Family(windows="listed", bias="all", sinks=True, expert_bias=True, router_bias=True),
    "deepseek_v2": Family(mixer="mla"),
    "deepseek_v3": Family(mixer="mla", router_bias=True),
    "deepseek_v32": Family(mixer="mla", router_bias=True),
    "kimi_k2": Family(mixer="mla", router_bias=True),
    "glm_moe_dsa": Family(mixer="mla", router_bias=True),
    "glm4_moe_lite": Family(mixer="mla", router_bias=True),
    "mistral4": Family(mixer="mla"),
    "llama4_text": Family(windows="llama4"),
    "nemotron-nas": Family(mixer="nemotron_nas"),
    "nemotron_h": Family(mixer="nemotron_h", norms=1, mlp_matrices=2, router_bias=True),
    "falcon": Family(norms=2, tied=True, mlp_matrices=2),
    "glm4_moe": Family(qk_norm=True, router_bias=True),
    "minimax_m2": Family(qk_norm=True, router_bias=True),
    "mimo_v2_flash": Family(mixer="mimo_v2", router_bias=True),
    "step3p7": Family(windows="listed", router_bias=True),
    "bamba": Family(mixer="bamba"),
    "granitemoehybrid": Family(mixer="granite_hybrid", tied=True),
    "seed_oss": Family(bias="qkv"),
    "granite": Family(),
    "olmo2": Family(qk_norm=True),
    "olmo3": Family(windows="listed", qk_norm=True),
    "cohere": Family(norms=1, tied=True),
    "cohere2": Family(windows="pattern", norms=1, tied=True),
    "starcoder2": Family(windows="every_layer", bias="all", tied=True, mlp_matrices=2),
    "qwen": Family(bias="qkv"),
    "qwen2_vl": Family(windows="qwen", bias="qkv"),
    "qwen2_vl_text": Family(windows="qwen", bias="qkv"),
    "phi": Family(norms=1, bias="all", mlp_matrices=2),
    "phimoe": Family(windows="every_layer", bias="all"),
    "gemma": Family(tied=True),
    "glm": Family(),
    "glm4": Family(norms=4),
    "chatglm": Family(bias="qkv"),
    "granitemoe": Family(),
    "olmoe": Family(qk_norm=True),
    "nemotron": Family(mlp_matrices=2),
    "internlm2": Family(),
    "internlm3": Family(),
    "baichuan": Family(),
    "ernie4_5": Family(tied=True),
    "ernie4_5_moe": Family(tied=True, router_bias=True),
    "hunyuan_v1_dense": Family(qk_norm=True),
    "hunyuan_v1_moe": Family(qk_norm=True),
    "smollm3": Family(windows="qwen", tied=True),
    "exaone": Family(),
    "exaone4": Family(windows="listed", qk_norm=True),
    "ministral3": Family(windows="every_layer"),
    "dots1": Family(windows="qwen", qk_norm=True, router_bias=True),
    "apertus": Family(qk_norm=True, mlp_matrices=2),
    "arcee": Family(mlp_matrices=2),
    "stablelm": Family(),
}

WRAPPERS: frozenset[str] = frozenset(
    {
        "gemma3",
        "gemma4",
        "kimi_k25",
        "llama4",
        "mistral3",
        "qwen2_vl",
        "qwen2_5_vl",
        "qwen3_vl",
        "qwen3_vl_moe",
        "qwen3_5",
        "qwen3_5_moe",
    }
)
"""Multimodal types whose language model stands in a nested ``text_config``."""

CLASS_DEFAULTS: dict[str, dict[str, int]] = {
    # What the config classes of transformers fill in where a file is silent. A head
    # dimension among them is not hidden / heads: Gemma 3 12B has 256, not 3,840 / 16.
    "gemma": {"head_dim": 256},
    "gemma2": {"head_dim": 256, "sliding_window": 4_096},
    "gemma3_text": {
        "vocab_size": 262_208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "sliding_window": 4_096,
        "sliding_window_pattern": 6,
        "max_position_embeddings": 131_072,
    },
    "glm": {"head_dim": 128},
    "glm4": {"head_dim": 128},
    "gpt_oss": {"head_dim": 64},
    "llama4_text": {"head_dim": 128},
    "qwen3": {"head_dim": 128},
    "qwen3_vl_text": {"head_dim": 128},
    "qwen3_vl_moe_text": {"head_dim": 128},
    "qwen3_next": {"head_dim": 256},
    "qwen3_5_text": {"head_dim": 256},
    "qwen3_5_moe_text": {"head_dim": 256},
    "seed_oss": {"head_dim": 128},
    # Cohere2Config: three windowed layers, then a full one.
    "cohere2": {"sliding_window_pattern": 4},
}

_STATES = "its recurrent layers are of a kind whose state is not sized here"

NOT_UNDERSTOOD: dict[str, str] = {
    "deepseek_v4": (
        "its layers cache compressed tokens at ratios of their own (compress_ratios) beside a "
        "window, and no measured capacity states what a token of it takes"
    ),
    "jamba": f"{_STATES} (Mamba-1)",
    "falcon_h1": f"{_STATES} (Mamba-2 and attention side by side in one layer)",
    "zamba2": f"{_STATES} (Mamba-2 around attention layers that are shared)",
    "kimi_linear": f"{_STATES} (Kimi delta attention)",
    "minimax_text_01": f"{_STATES} (lightning attention)",
    "minimax_m1": f"{_STATES} (lightning attention)",
    "lfm2": f"{_STATES} (short convolutions)",
    "gemma3n": "its last layers read the caches of earlier ones",
    "phi3small": "half of its layers cache in a block-sparse pattern",
    "mllama": "its cross-attention layers cache image tokens",
    "step3": "its attention is factorised by matrices of its own",
}
"""Model types refused by name, and why."""
