"""Families of Mamba-2 and attention layers with an MLP in each: Bamba, Granite 4.

vLLM serves Bamba up to 0.22 only.
"""

from __future__ import annotations

from planner.serving.layers import DenseMlp, Layer, Mamba2, Mlp, MoeMlp
from planner.serving.parse_families import Family
from planner.serving.parse_fields import Fields, quoted, state_bytes
from planner.serving.parse_layers import softmax_attention
from planner.serving.parse_mlp import mlp_of

KINDS = {
    "mamba": True,
    "linear_attention": True,
    "attention": False,
    "full_attention": False,
}
"""Whether a layer of the named type is a Mamba-2 layer; transformers 5 renamed both."""


def bamba_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return Bamba's layers: attention at ``attn_layer_indices``, Mamba-2 elsewhere."""
    attention = fields.indices("attn_layer_indices")
    mamba = [index not in attention for index in range(fields.layers())]
    return _layers(fields, family, mamba, mlp_of(fields, family, 0))


def granite_hybrid_layers(fields: Fields, family: Family) -> list[Layer]:
    """Return Granite 4's layers: by ``layer_types``, all with the same MLP.

    Experts stand beside a shared MLP, which is all there is in the dense models.
    """
    count = fields.layers()
    listed = fields.names("layer_types", count) or fields.names("layers_block_type", count)
    if listed is None:
        raise fields.problem("layer_types", "is missing")
    if unknown := set(listed) - set(KINDS):
        raise fields.problem("layer_types", f"has a kind not understood: {quoted(min(unknown))}")
    return _layers(fields, family, [KINDS[kind] for kind in listed], _granite_mlp(fields))


def _layers(fields: Fields, family: Family, mamba: list[bool], mlp: Mlp) -> list[Layer]:
    state = Layer(mixer=_mamba(fields), mlp=mlp, norms=family.norms)
    full = Layer(mixer=softmax_attention(fields, family, "full", None), mlp=mlp, norms=family.norms)
    return [state if flag else full for flag in mamba]


def _mamba(fields: Fields) -> Mamba2:
    heads = fields.size("mamba_n_heads")
    if fields.raw("mamba_d_head") in (None, "auto"):
        inner = fields.size("mamba_expand", default=2) * fields.size("hidden_size")
        if inner % heads:
            raise fields.problem("mamba_n_heads", f"is {heads}, not a divisor of {inner}")
        head_dim = inner // heads
    else:
        head_dim = fields.size("mamba_d_head")
    return Mamba2(
        heads=heads,
        head_dim=head_dim,
        groups=fields.size("mamba_n_groups", default=1),
        state=fields.size("mamba_d_state"),
        kernel=fields.size("mamba_d_conv", default=4),
        state_bytes=state_bytes(fields.raw("mamba_ssm_cache_dtype")),
    )


def _granite_mlp(fields: Fields) -> Mlp:
    shared = fields.size("shared_intermediate_size")
    experts = fields.integer("num_local_experts", default=0)
    if not experts:
        return DenseMlp(width=shared)
    active = fields.size("num_experts_per_tok")
    if active > experts:
        raise fields.problem("num_experts_per_tok", f"is {active}, above {experts} experts")
    width = fields.size("intermediate_size")
    return MoeMlp(experts=experts, active=active, width=width, shared_width=shared)
