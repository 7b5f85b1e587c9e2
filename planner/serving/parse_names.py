"""Fields that some families name, count or nest in their own way, under the usual names.

Each rule is how the family's own config class or vLLM's model class reads the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planner.serving.parse_fields import Fields

RENAMED: dict[str, dict[str, str]] = {
    "baichuan": {"model_max_length": "max_position_embeddings"},
    "chatglm": {
        "num_layers": "num_hidden_layers",
        "multi_query_group_num": "num_key_value_heads",
        "kv_channels": "head_dim",
        "ffn_hidden_size": "intermediate_size",
        "padded_vocab_size": "vocab_size",
        "seq_length": "max_position_embeddings",
    },
    "ernie4_5_moe": {
        "moe_num_experts": "num_experts",
        "moe_k": "num_experts_per_tok",
        "moe_num_shared_experts": "n_shared_experts",
    },
    "exaone": {"num_layers": "num_hidden_layers"},
    "hunyuan_v1_moe": {
        "moe_topk": "num_experts_per_tok",
        "num_shared_expert": "n_shared_experts",
    },
    "qwen": {"kv_channels": "head_dim", "seq_length": "max_position_embeddings"},
}
"""A family's own name of a field, and the usual one, which wins where both are stated."""

ONE_FOR_ALL = ("moe_topk", "num_shared_expert", "moe_intermediate_size")
"""Fields that Hunyuan's files may list layer by layer."""

LETTERS = {"L": "sliding_attention", "G": "full_attention"}
"""EXAONE 4's ``sliding_window_pattern``: local and global layers, repeated."""


SCALED = ("yarn", "linear", "dynamic")
"""Position scalings whose factor vLLM multiplies the context by; others state the result."""

LARGEST_FACTOR = 10_000.0


def context_tokens(fields: Fields, model_type: str) -> int | None:
    """Return the longest context vLLM serves unasked (``_get_and_verify_max_len``).

    YaRN's factor multiplies the context of before the scaling, where that is stated; the
    others' the one stated. Gemma 3 states the scaled one beside its factor.
    """
    limit = fields.optional("max_position_embeddings")
    key = "rope_scaling" if fields.has("rope_scaling") else "rope_parameters"
    if limit is None or "gemma3" in model_type or not isinstance(fields.raw(key), Mapping):
        return limit
    scaling = fields.part(key)
    kind = scaling.text("rope_type") or scaling.text("type")
    if kind not in SCALED or not scaling.has("factor"):
        return limit
    if kind == "yarn":
        before = scaling.optional("original_max_position_embeddings")
        if before is None:
            return limit
        limit = before
    return max(1, math.floor(limit * scaling.number("factor", LARGEST_FACTOR)))


def usual_names(text: Mapping[str, Any], model_type: str, name: str) -> dict[str, Any]:
    """Return the fields of ``text`` under the names the readers know."""
    found = dict(text)
    if model_type == "hunyuan_v1_moe":
        _hunyuan(found, Fields(text, name))
    elif model_type == "exaone4":
        _exaone4(found, Fields(text, name))
    elif model_type == "chatglm" and not found.get("multi_query_attention"):
        found.pop("multi_query_group_num", None)
    elif model_type == "qwen":  # the file states the width of gate and up together
        found["intermediate_size"] = Fields(text, name).size("intermediate_size") // 2
    for own, usual in RENAMED.get(model_type, {}).items():
        if found.get(usual) is None and found.get(own) is not None:
            found[usual] = found[own]
    return found


def vision_names(vision: Any) -> Any:
    """Return a Qwen2-VL ``vision_config``, whose hidden_size is the text's, as its successors'."""
    if not isinstance(vision, Mapping) or "embed_dim" not in vision:
        return vision
    fields = Fields(vision, "vision_config")
    width = fields.size("embed_dim")
    ratio = fields.number("mlp_ratio", 100.0) if fields.has("mlp_ratio") else 4.0
    given = {"hidden_size": width, "intermediate_size": round(width * ratio)}
    if fields.has("hidden_size"):
        given["out_hidden_size"] = fields.size("hidden_size")
    return {**vision, **given}


def _hunyuan(found: dict[str, Any], fields: Fields) -> None:
    if fields.flag("use_cla", False):
        raise fields.problem("use_cla", "is set: caches shared between layers are not understood")
    for key in ONE_FOR_ALL:
        value = found.get(key)
        if not isinstance(value, list):
            continue
        listed = fields.sequence(key, fields.layers()) or []
        if any(entry != listed[0] for entry in listed):
            raise fields.problem(key, "differs between layers, which is not understood")
        found[key] = listed[0]


def _exaone4(found: dict[str, Any], fields: Fields) -> None:
    pattern = fields.raw("sliding_window_pattern")
    if not isinstance(pattern, str) or fields.has("layer_types"):
        return
    if not pattern or not set(pattern) <= set(LETTERS):
        raise fields.problem("sliding_window_pattern", "needs the letters L and G")
    count = fields.layers()
    found["layer_types"] = [LETTERS[pattern[index % len(pattern)]] for index in range(count)]
