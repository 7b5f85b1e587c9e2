"""Families whose layers differ one by one: letters, blocks, or two kinds of heads."""

from __future__ import annotations

from planner.serving.layers import DenseMlp, Layer, Mamba2
from planner.serving.parse_families import Family
from planner.serving.parse_fields import Fields, quoted, state_bytes
from planner.serving.parse_layers import softmax_attention, windowed_kinds
from planner.serving.parse_mlp import mlp_of

LARGEST_MULTIPLIER = 1_000.0
"""An MLP of a block is at most this many times the hidden size."""


def nemotron_h_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return the layers of a letter pattern: M Mamba-2, * attention, - MLP, E experts."""
    pattern = fields.raw("hybrid_override_pattern")
    count = fields.layers()
    if not isinstance(pattern, str) or len(pattern) != count:
        raise fields.problem("hybrid_override_pattern", f"needs {count} letters")
    letters = set(pattern)
    kinds: dict[str, Layer] = {}
    if "M" in letters:
        mamba = Mamba2(
            heads=fields.size("mamba_num_heads"),
            head_dim=fields.size("mamba_head_dim"),
            groups=fields.size("n_groups"),
            state=fields.size("ssm_state_size"),
            kernel=fields.size("conv_kernel"),
            state_bytes=state_bytes(fields.raw("mamba_ssm_cache_dtype")),
        )
        kinds["M"] = Layer(mixer=mamba, mlp=None, norms=family.norms)
    if "*" in letters:
        attention = softmax_attention(fields, family, "full", None)
        kinds["*"] = Layer(mixer=attention, mlp=None, norms=family.norms)
    if "-" in letters:
        dense = DenseMlp(width=fields.size("intermediate_size"), matrices=family.mlp_matrices)
        kinds["-"] = Layer(mixer=None, mlp=dense, norms=family.norms)
    if "E" in letters:
        kinds["E"] = Layer(mixer=None, mlp=mlp_of(fields, family, 0), norms=family.norms)
    if unknown := letters - set(kinds):
        found = quoted("".join(sorted(unknown)))
        raise fields.problem("hybrid_override_pattern", f"has letters not understood: {found}")
    return [kinds[letter] for letter in pattern]


def nemotron_nas_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return the layers of ``block_configs``: per-layer heads and widths, some absent."""
    blocks = fields.sequence("block_configs", fields.layers())
    if blocks is None:
        raise fields.problem("block_configs", "is missing")
    return [_nas_layer(fields, family, Fields(block, "block_configs")) for block in blocks]


def _nas_layer(fields: Fields, family: Family, block: Fields) -> Layer:
    attention, mlp = block.part("attention"), block.part("ffn")
    for part in (attention, mlp):
        if part.raw("replace_with_linear"):
            raise fields.problem("block_configs", "has replace_with_linear, not understood")
    if attention.raw("window_length") or attention.raw("sparsify"):
        raise fields.problem("block_configs", "has windowed or sparse attention, not understood")
    mixer = None
    if not attention.flag("no_op", False):
        heads, group = fields.size("num_attention_heads"), attention.size("n_heads_in_group")
        if heads % group:
            raise attention.problem("n_heads_in_group", f"is {group}, not a divisor of {heads}")
        mixer = softmax_attention(fields, family, "full", None, kv_heads=heads // group)
    dense = None
    if not mlp.flag("no_op", False):
        multiplier = mlp.number("ffn_mult", LARGEST_MULTIPLIER)
        dense = DenseMlp(width=_nas_width(multiplier, fields.size("hidden_size")))
    norms = int(mixer is not None) + int(dense is not None)
    return Layer(mixer=mixer, mlp=dense, norms=norms)


def _nas_width(multiplier: float, hidden: int) -> int:
    """Return the MLP width: 2/3 of multiplier x hidden, up to a multiple of 256.

    As ``_ffn_mult_to_intermediate_size`` of the model's own DeciLM code.
    """
    width = int(2 * multiplier * hidden / 3)
    return -(-width // 256) * 256


def gemma4_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return Gemma 4's layers: full attention has wider and fewer KV heads than windowed.

    As vLLM's ``gemma4.py``; keys that stand for values too are loaded twice there.
    Variants whose last layers reuse earlier caches (E2B, E4B) are refused.
    """
    for key in ("num_kv_shared_layers", "hidden_size_per_layer_input"):
        if fields.integer(key, default=0):
            raise fields.problem(key, "is set: caches shared between layers are not understood")
    window = fields.size("sliding_window")
    kinds = windowed_kinds(fields, fields.layers(), window)
    if kinds is None:
        raise fields.problem("layer_types", "is missing")
    full = softmax_attention(
        fields,
        family,
        "full",
        None,
        kv_heads=fields.optional("num_global_key_value_heads"),
        head_dim=fields.optional("global_head_dim"),
    )
    sliding = softmax_attention(fields, family, "sliding", window)
    return [
        Layer(
            mixer=full if kind is None else sliding,
            mlp=mlp_of(fields, family, index),
            norms=family.norms,
        )
        for index, kind in enumerate(kinds)
    ]


def mimo_v2_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return MiMo V2's layers: a 1 in ``hybrid_layer_pattern`` is windowed, with own heads."""
    pattern = fields.sequence("hybrid_layer_pattern", fields.layers())
    if pattern is None or not set(map(str, pattern)) <= {"0", "1"}:
        raise fields.problem("hybrid_layer_pattern", "needs a 0 or 1 for each layer")
    full = softmax_attention(fields, family, "full", None)
    sliding = softmax_attention(
        fields,
        family,
        "sliding",
        fields.size("sliding_window", "sliding_window_size"),
        heads=fields.optional("swa_num_attention_heads"),
        kv_heads=fields.optional("swa_num_key_value_heads"),
        head_dim=fields.optional("swa_head_dim"),
        value_dim=fields.optional("swa_v_head_dim"),
    )
    return [
        Layer(
            mixer=sliding if flag else full,
            mlp=mlp_of(fields, family, index),
            norms=family.norms,
        )
        for index, flag in enumerate(pattern)
    ]
