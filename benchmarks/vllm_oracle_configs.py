"""What real vLLM is asked: each attention kind at several lengths and batch limits.

``STARTED`` configs start whole engines; every config is also put to the functions
of the same engine at all ``SETTINGS``, which takes a second each.
"""

from __future__ import annotations

from typing import Any

from benchmarks.vllm_oracle_families import (
    NAS_CODE,
    config,
    deepseek_v2,
    deepseek_v3,
    falcon,
    glm4_moe,
    llama,
    minimax_m2,
    mixtral,
    nemotron_nas,
    qwen,
    qwen2_moe,
)
from benchmarks.vllm_oracle_hybrids import (
    granite_hybrid,
    nemotron_h,
    qwen3_5,
    qwen3_next,
    qwen3_vl,
)
from benchmarks.vllm_oracle_windows import (
    gemma2,
    gemma3,
    gemma3_vision,
    gemma4,
    gpt_oss,
    listed,
    llama4,
    mistral,
    phi3,
    sliding_types,
    starcoder2,
)

GIB = 1024**3


def settings(length: int, batched: int = 2048, seqs: int = 64, **more: Any) -> dict[str, Any]:
    return {
        "max_model_len": length,
        "max_num_batched_tokens": batched,
        "max_num_seqs": seqs,
        "dtype": "bfloat16",
        "kv_cache_memory_bytes": GIB,
        **more,
    }


WIDE = {"head_dim": 128, "num_attention_heads": 8, "num_key_value_heads": 8}
DEEP_LATENT = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "num_hidden_layers": 61}
LARGE_STATE = {"mamba_num_heads": 64, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8}
LARGE_DELTA = {
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
}

CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    # every token of every layer
    "llama": ("full", llama()),
    "llama-mha": ("full", llama(num_key_value_heads=4)),
    "llama-mqa-61": ("full", llama(num_key_value_heads=1, num_hidden_layers=61)),
    "llama-wide-48": ("full", llama(**WIDE, num_hidden_layers=48)),
    "llama-no-head-dim": ("full", llama(head_dim=None)),
    "mistral-no-window": ("full", mistral(sliding_window=None)),
    "qwen2": ("full", qwen("qwen2")),
    "qwen3": ("full", qwen("qwen3", num_hidden_layers=7, head_dim=64)),
    "falcon-mqa": ("full", falcon()),
    "falcon-grouped": (
        "full",
        falcon(multi_query=False, new_decoder_architecture=True, num_kv_heads=2),
    ),
    "phi3": ("full", phi3(sliding_window=None)),
    "granite": ("full", config("GraniteForCausalLM", "granite", head_dim=None)),
    "seed-oss": ("full", config("SeedOssForCausalLM", "seed_oss", num_hidden_layers=5)),
    "olmo2": ("full", config("Olmo2ForCausalLM", "olmo2")),
    # experts
    "mixtral": ("moe", mixtral()),
    "qwen3-moe": ("moe", qwen("qwen3_moe")),
    "qwen2-moe": ("moe", qwen2_moe()),
    "glm4-moe": ("moe", glm4_moe(num_hidden_layers=5)),
    "minimax-m2": ("moe", minimax_m2()),
    # heads that differ from layer to layer
    "nemotron-nas": ("per-layer heads", nemotron_nas((1, 2, None, 4, 2, 1, None, 1, 4))),
    # a window on every layer
    "mistral": ("sliding", mistral()),
    "mistral-short": ("sliding", mistral(sliding_window=300, num_hidden_layers=5)),
    "phi3-sliding": ("sliding", phi3(sliding_window=1024)),
    "mixtral-sliding": ("sliding", mixtral(sliding_window=256)),
    "starcoder2": ("sliding", starcoder2()),
    # windows beside full attention
    "gemma2": ("sliding and full", gemma2()),
    "gemma2-5": ("sliding and full", gemma2(num_hidden_layers=5, sliding_window=1000)),
    "gemma2-26": ("sliding and full", gemma2(num_hidden_layers=26, sliding_window=4096)),
    "gemma2-3": ("sliding and full", gemma2(num_hidden_layers=3)),
    "gemma3": ("sliding and full", gemma3()),
    "gemma3-7": ("sliding and full", gemma3(num_hidden_layers=7)),
    "gemma3-26": ("sliding and full", gemma3(num_hidden_layers=26, sliding_window=512)),
    "gemma3-48": ("sliding and full", gemma3(num_hidden_layers=48, sliding_window=1024)),
    "gemma3-62": ("sliding and full", gemma3(num_hidden_layers=62, sliding_window=1024)),
    "gemma3-third": (
        "sliding and full",
        gemma3(num_hidden_layers=11, sliding_window_pattern=3, sliding_window=100),
    ),
    "gemma3-listed": (
        "sliding and full",
        gemma3(
            num_hidden_layers=9,
            sliding_window_pattern=None,
            layer_types=sliding_types(9, (0, 3, 4, 8)),
        ),
    ),
    "gemma3-mostly-full": (
        "sliding and full",
        gemma3(
            num_hidden_layers=12,
            sliding_window_pattern=None,
            layer_types=sliding_types(12, (0, 1, 2, 4, 5, 6, 8, 9, 10)),
        ),
    ),
    "cohere2": ("sliding and full", listed("Cohere2ForCausalLM", "cohere2", (3, 7))),
    "olmo3": ("sliding and full", listed("Olmo3ForCausalLM", "olmo3", (1, 4, 5))),
    # windows beside full attention of other heads
    "gemma4": ("unequal pages", gemma4((5,))),
    "gemma4-narrow": (
        "unequal pages",
        gemma4((2, 5), num_global_key_value_heads=1, global_head_dim=32),
    ),
    "gemma4-padded": (
        "unequal pages",
        gemma4((1, 3, 5), num_key_value_heads=4, num_global_key_value_heads=1, global_head_dim=96),
    ),
    "gemma4-60": (
        "unequal pages",
        gemma4(
            tuple(range(5, 60, 6)),
            num_hidden_layers=60,
            layer_types=sliding_types(60, tuple(range(5, 60, 6))),
            sliding_window=1024,
            num_attention_heads=16,
            num_key_value_heads=16,
            num_global_key_value_heads=4,
        ),
    ),
    "gemma3-vision": ("multimodal", gemma3_vision()),
    "qwen3-vl": ("multimodal", qwen3_vl()),
    "gpt-oss": ("sliding and full", gpt_oss()),
    "gpt-oss-5": ("sliding and full", gpt_oss(5)),
    "gpt-oss-24": ("sliding and full", gpt_oss(24, head_dim=64)),
    "gpt-oss-36": ("sliding and full", gpt_oss(36, head_dim=64, num_key_value_heads=4)),
    # chunks beside full attention
    "llama4": ("chunked and full", llama4()),
    "llama4-6": ("chunked and full", llama4(6)),
    "llama4-48": ("chunked and full", llama4(48, attention_chunk_size=8192)),
    "llama4-odd": ("chunked and full", llama4(5, no_rope_layers=[1, 0, 1, 0, 0])),
    # latent attention
    "deepseek-v2": ("mla", deepseek_v2()),
    "deepseek-v2-27": ("mla", deepseek_v2(num_hidden_layers=27, kv_lora_rank=512)),
    "deepseek-v3": ("mla", deepseek_v3()),
    "deepseek-v3-61": ("mla", deepseek_v3(**DEEP_LATENT)),
    "kimi-k2": ("mla", deepseek_v3(model_type="kimi_k2", kv_lora_rank=128)),
    # Mamba-2 states beside full attention
    "nemotron-h": ("mamba2", nemotron_h("M-M*M-M*")),
    "nemotron-h-one": ("mamba2", nemotron_h("M-M*M-M-")),
    "nemotron-h-even": ("mamba2", nemotron_h("M*M*M*")),
    "nemotron-h-uneven": ("mamba2", nemotron_h("M*M*M*M*M")),
    "nemotron-h-52": (
        "mamba2",
        nemotron_h("M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MMM-M", **LARGE_STATE),
    ),
    "nemotron-h-large": ("mamba2", nemotron_h("M-M*M-M*M", **LARGE_STATE, **WIDE)),
    "nemotron-h-one-group": (
        "mamba2",
        nemotron_h("MM*MM*MM", n_groups=1, mamba_ssm_cache_dtype="float32"),
    ),
    "nemotron-h-wide": ("mamba2", nemotron_h("M*-M*-M", **WIDE, attention_head_dim=128)),
    "granite-hybrid-32": (
        "mamba2",
        granite_hybrid(32, (9, 18, 27), hidden_size=1024, mamba_n_heads=32, mamba_d_head="auto"),
    ),
    "granite-hybrid": ("mamba2", granite_hybrid(6, (2, 5))),
    "granite-hybrid-dense": (
        "mamba2",
        granite_hybrid(10, (5,), num_local_experts=0, num_experts_per_tok=0),
    ),
    # gated delta-net states beside full attention
    "qwen3-next": ("delta net", qwen3_next()),
    "qwen3-next-48": ("delta net", qwen3_next(num_hidden_layers=48, **LARGE_DELTA, head_dim=256)),
    "qwen3-next-half": (
        "delta net",
        qwen3_next(num_hidden_layers=6, full_attention_interval=2),
    ),
    "qwen3-next-odd": (
        "delta net",
        qwen3_next(num_hidden_layers=10, full_attention_interval=3, **LARGE_DELTA),
    ),
    "qwen3-next-wide": ("delta net", qwen3_next(num_hidden_layers=8, **WIDE)),
    "qwen3.5": ("delta net", qwen3_5()),
    "qwen3.5-64": ("delta net", qwen3_5(64, **LARGE_DELTA, head_dim=256, num_key_value_heads=4)),
    "qwen3.5-third": ("delta net", qwen3_5(9, 3, **LARGE_DELTA)),
}

FILES = {"nemotron-nas": {"configuration_tiny.py": NAS_CODE}}
"""Further files a configuration needs beside its config.json."""

SETTINGS: tuple[dict[str, Any], ...] = (
    settings(100, 64, 1),
    settings(1000, 512, 16, kv_cache_memory_bytes=3_000_000_123),
    settings(2048),
    settings(5000, 8192, 256),
    settings(32_768, 2048, 128),
    settings(100_000, 16_384, 256, kv_cache_memory_bytes=8 * GIB),
    settings(4096, 1024, 32, enable_prefix_caching=False),
)

STARTED = (
    *("llama", "llama-mqa-61", "llama-wide-48", "qwen2", "qwen3", "falcon-mqa"),
    *("mixtral", "qwen3-moe", "glm4-moe", "minimax-m2", "nemotron-nas"),
    *("mistral", "mistral-short", "phi3-sliding"),
    *("gemma2", "gemma2-5", "gemma3", "gemma3-26", "gemma3-listed", "gemma3-vision"),
    *("gemma4", "cohere2", "olmo3"),
    *("gpt-oss", "gpt-oss-24", "llama4", "llama4-6"),
    *("deepseek-v2", "deepseek-v3", "kimi-k2"),
    *("nemotron-h", "nemotron-h-uneven", "nemotron-h-large", "granite-hybrid"),
    *("qwen3-next", "qwen3-next-odd", "qwen3.5", "qwen3.5-third"),
)
"""Configurations that whole engines are started with, at one of the settings each."""


OF_FOUR_RANKS = (
    *("llama", "llama-mqa-61", "gemma3", "deepseek-v3"),
    *("nemotron-h-one-group", "nemotron-h-large", "granite-hybrid", "qwen3-next"),
)
"""Configurations also asked about at a degree above some count of heads or groups."""

WITH_8_BIT_CACHE = ("full", "moe", "sliding", "sliding and full", "unequal pages")
"""Kinds whose CPU kernels take another block size and an 8-bit cache; vLLM's Falcon
class keeps 16 bits whatever is asked."""


def questions() -> list[dict[str, Any]]:
    """Return every question: each start, and each configuration at every setting."""
    asked = []
    for number, name in enumerate(STARTED):
        chosen = SETTINGS[number % (len(SETTINGS) - 2)]
        asked.append(_question("start", name, f"{number % (len(SETTINGS) - 2)}", chosen))
    for name, (kind, _) in CONFIGS.items():
        for number, chosen in enumerate(SETTINGS):
            asked.append(_question("specs", name, f"{number}", chosen))
        for degree in (2, 4) if name in OF_FOUR_RANKS else (2,):
            spread = {**SETTINGS[2], "tensor_parallel_size": degree}
            asked.append(_question("specs", name, f"degree-{degree}", spread))
        if kind in WITH_8_BIT_CACHE:
            small = {**SETTINGS[3], "block_size": 32}
            asked.append(_question("specs", name, "block-32", small))
        if kind in WITH_8_BIT_CACHE and not name.startswith("falcon"):
            eight = {**SETTINGS[2], "kv_cache_dtype": "fp8"}
            asked.append(_question("specs", name, "fp8", eight))
    return asked


def _question(method: str, name: str, label: str, chosen: dict[str, Any]) -> dict[str, Any]:
    asked = CONFIGS[name][1]
    extra: dict[str, Any] = {"trust_remote_code": True} if name in FILES else {}
    if method == "start" and "vision_config" in asked:
        # Without images, no processor that would need a tokenizer is made.
        media = ("image", "video") if "video_token_id" in asked else ("image",)
        extra["limit_mm_per_prompt"] = dict.fromkeys(media, 0)
    return {
        "name": f"{name} / {label} / {method}",
        "method": method,
        "config_name": name,
        "config": asked,
        "files": FILES.get(name, {}),
        "settings": {**chosen, **extra},
    }
