"""From config fields to a layer's MLP: dense, or experts where the family places them."""

from __future__ import annotations

from planner.serving.layers import DenseMlp, Mlp, MoeMlp
from planner.serving.parse_families import Family
from planner.serving.parse_fields import Fields

EXPERT_COUNTS = ("num_local_experts", "num_experts", "n_routed_experts")
"""The names of the expert count, by family."""


def mlp_of(fields: Fields, family: Family, index: int) -> Mlp:
    """Return the MLP of layer ``index``."""
    experts = fields.integer(*EXPERT_COUNTS, default=0)
    if not experts or not _is_moe(fields, index):
        return DenseMlp(width=_dense_width(fields), matrices=family.mlp_matrices)
    width = fields.size("moe_intermediate_size", "intermediate_size")
    active = fields.size("num_experts_per_tok", "experts_per_token", "top_k_experts")
    if active > experts:
        raise fields.problem("num_experts_per_tok", f"is {active}, above {experts} experts")
    return MoeMlp(
        experts=experts,
        active=active,
        width=width,
        shared_width=_shared_width(fields, width),
        shared_gate=family.shared_gate,
        matrices=family.mlp_matrices,
        bias=family.expert_bias,
        router_bias=family.router_bias,
        latent=fields.optional("moe_latent_size"),
    )


def _dense_width(fields: Fields) -> int:
    width = fields.optional("intermediate_size_mlp", "intermediate_size")
    if width is None and fields.has("multi_query"):
        return 4 * fields.size("hidden_size")  # Falcon's class default
    return fields.size("intermediate_size") if width is None else width


def _shared_width(fields: Fields, width: int) -> int:
    stated = fields.optional(
        "shared_expert_intermediate_size",
        "moe_shared_expert_intermediate_size",
        "share_expert_dim",
        least=0,
    )
    if stated is not None:
        return stated
    if fields.has("interleave_moe_layer_step"):
        return width  # Llama 4 has one shared expert of the routed width.
    if fields.flag("enable_moe_block", False):
        return fields.size("intermediate_size")  # Gemma 4 keeps its dense MLP beside the experts.
    return fields.integer("n_shared_experts", default=0, most=1_000) * width


def _is_moe(fields: Fields, index: int) -> bool:
    if index < fields.integer("first_k_dense_replace", default=0):
        return False
    if index in fields.indices("mlp_only_layers"):
        return False
    if fields.has("moe_layer_start_index"):
        return _is_ernie_moe(fields, index)
    if isinstance(fields.raw("moe_layer_freq"), list):
        listed = fields.sequence("moe_layer_freq", fields.layers()) or []
        return bool(listed[index])
    step = fields.size(
        "interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq", default=1
    )
    if fields.has("moe_layer_freq"):
        return index % step == 0
    return (index + 1) % step == 0


def _is_ernie_moe(fields: Fields, index: int) -> bool:
    """Return whether ERNIE 4.5 has experts in a layer: every n-th from one layer to another."""
    last = fields.layers() - 1
    if fields.raw("moe_layer_end_index") != -1:
        last = fields.integer("moe_layer_end_index", default=last)
    every = fields.size("moe_layer_interval", default=1)
    return fields.integer("moe_layer_start_index") <= index <= last and (index + 1) % every == 0
