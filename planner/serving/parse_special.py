"""Families whose layers are listed one by one: Nemotron-H and Nemotron NAS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.serving.layers import DenseMlp, Layer, Mamba2
from planner.serving.parse_families import Family
from planner.serving.parse_fields import Fields, state_bytes
from planner.serving.parse_layers import mlp_of, softmax_attention


def nemotron_h_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return the layers of a letter pattern: M Mamba-2, * attention, - MLP, E experts."""
    pattern = fields.raw("hybrid_override_pattern")
    count = fields.integer("num_hidden_layers")
    if not isinstance(pattern, str) or len(pattern) != count:
        raise fields.problem("hybrid_override_pattern", f"needs {count} letters")
    attention = softmax_attention(fields, family, "full", None)
    mamba = Mamba2(
        heads=fields.integer("mamba_num_heads"),
        head_dim=fields.integer("mamba_head_dim"),
        groups=fields.integer("n_groups"),
        state=fields.integer("ssm_state_size"),
        kernel=fields.integer("conv_kernel"),
        state_bytes=state_bytes(fields.raw("mamba_ssm_cache_dtype")),
    )
    dense = DenseMlp(width=fields.integer("intermediate_size"), matrices=family.mlp_matrices)
    kinds = {
        "M": Layer(mixer=mamba, mlp=None, norms=family.norms),
        "*": Layer(mixer=attention, mlp=None, norms=family.norms),
        "-": Layer(mixer=None, mlp=dense, norms=family.norms),
    }
    if "E" in pattern:
        kinds["E"] = Layer(mixer=None, mlp=mlp_of(fields, family, 0), norms=family.norms)
    unknown = sorted(set(pattern) - set(kinds))
    if unknown:
        raise fields.problem("hybrid_override_pattern", f"has letters not understood: {unknown}")
    return [kinds[letter] for letter in pattern]


def nemotron_nas_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return the layers of ``block_configs``: per-layer heads and widths, some absent."""
    count = fields.integer("num_hidden_layers")
    blocks = fields.sequence("block_configs", count)
    if blocks is None:
        raise fields.problem("block_configs", "is missing")
    return [_nas_layer(fields, family, block) for block in blocks]


def _nas_layer(fields: Fields, family: Family, block: Mapping[str, Any]) -> Layer:
    attention, mlp = block["attention"], block["ffn"]
    for part in (attention, mlp):
        if part.get("replace_with_linear"):
            raise fields.problem("block_configs", "has replace_with_linear, not understood")
    if attention.get("window_length") or attention.get("sparsify"):
        raise fields.problem("block_configs", "has windowed or sparse attention, not understood")
    mixer = None
    if not attention.get("no_op"):
        heads = fields.integer("num_attention_heads")
        kv_heads = heads // int(attention["n_heads_in_group"])
        mixer = softmax_attention(fields, family, "full", None, kv_heads=kv_heads)
    dense = None
    if not mlp.get("no_op"):
        dense = DenseMlp(width=_nas_width(float(mlp["ffn_mult"]), fields.integer("hidden_size")))
    norms = int(mixer is not None) + int(dense is not None)
    return Layer(mixer=mixer, mlp=dense, norms=norms)


def _nas_width(multiplier: float, hidden: int) -> int:
    """Return the MLP width: 2/3 of multiplier x hidden, up to a multiple of 256.

    As ``_ffn_mult_to_intermediate_size`` of the model's own DeciLM code.
    """
    width = int(2 * multiplier * hidden / 3)
    return -(-width // 256) * 256
