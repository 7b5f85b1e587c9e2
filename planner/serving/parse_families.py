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


class Family(Frozen):
    """Class behaviour behind a ``model_type``."""

    mixer: Literal["attention", "mla", "delta_hybrid", "nemotron_h", "nemotron_nas"] = "attention"
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
    "gpt_oss": Family(windows="listed", bias="all", sinks=True, expert_bias=True, router_bias=True),
    "deepseek_v2": Family(mixer="mla"),
    "deepseek_v3": Family(mixer="mla", router_bias=True),
    "deepseek_v32": Family(mixer="mla", router_bias=True),
    "kimi_k2": Family(mixer="mla", router_bias=True),
    "llama4_text": Family(windows="llama4"),
    "nemotron-nas": Family(mixer="nemotron_nas"),
    "nemotron_h": Family(mixer="nemotron_h", norms=1, mlp_matrices=2, router_bias=True),
    "falcon": Family(norms=2, tied=True, mlp_matrices=2),
    "glm4_moe": Family(qk_norm=True, router_bias=True),
    "minimax_m2": Family(qk_norm=True, router_bias=True),
    "step3p7": Family(windows="listed", router_bias=True),
}

WRAPPERS: frozenset[str] = frozenset(
    {"gemma3", "llama4", "mistral3", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"}
)
"""Multimodal types whose language model stands in a nested ``text_config``."""

CLASS_DEFAULTS: dict[str, dict[str, int]] = {
    # transformers Gemma3TextConfig: the released file leaves these out.
    "gemma3_text": {
        "vocab_size": 262_208,
        "sliding_window_pattern": 6,
        "max_position_embeddings": 131_072,
    },
}
