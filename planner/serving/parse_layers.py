"""From config fields to the list of layers: one entry for each decoder layer."""

from __future__ import annotations

from planner.serving.layers import (
    Attention,
    DeltaNet,
    DenseMlp,
    LatentAttention,
    Layer,
    Mixer,
    Mlp,
    MoeMlp,
)
from planner.serving.parse_families import Family
from planner.serving.parse_fields import Fields, state_bytes


def layers_of(fields: Fields, family: Family) -> list[Layer]:
    """Return the decoder's layers for families with one mixer and one MLP a layer."""
    mixers = mixers_of(fields, family)
    return [
        Layer(mixer=mixer, mlp=mlp_of(fields, family, index), norms=family.norms)
        for index, mixer in enumerate(mixers)
    ]


def mixers_of(fields: Fields, family: Family) -> list[Mixer]:
    """Return the token mixer of each layer."""
    count = fields.integer("num_hidden_layers")
    if family.mixer == "mla":
        return [_latent(fields)] * count
    full = softmax_attention(fields, family, "full", None)
    if family.mixer == "delta_hybrid":
        delta = _delta(fields)
        return [full if kind == "full_attention" else delta for kind in _hybrid(fields, count)]
    return [
        full if kind is None else softmax_attention(fields, family, kind[0], kind[1])
        for kind in _windows(fields, family, count)
    ]


def softmax_attention(
    fields: Fields, family: Family, kind: str, window: int | None, kv_heads: int | None = None
) -> Attention:
    """Return the attention of a layer; head_dim defaults to hidden / heads."""
    heads = fields.integer("num_attention_heads")
    head_dim = fields.optional("head_dim", "attention_head_dim")
    if head_dim is None:
        head_dim = fields.integer("hidden_size") // heads
    bias = "qkv" if fields.flag("attention_bias", False) else family.bias
    return Attention.model_validate(
        {
            "kind": kind,
            "heads": heads,
            "kv_heads": kv_heads if kv_heads is not None else _kv_heads(fields, heads),
            "head_dim": head_dim,
            "value_dim": fields.integer("v_head_dim", default=head_dim),
            "window": window,
            "gate": fields.flag("attn_output_gate", family.gate),
            "qk_norm": family.qk_norm and fields.flag("use_qk_norm", True),
            "bias": family.bias if family.bias == "all" else bias,
            "sinks": family.sinks,
        }
    )


def _kv_heads(fields: Fields, heads: int) -> int:
    """Return the KV heads; Falcon declares one by ``multi_query`` alone."""
    if fields.flag("multi_query", False) and not fields.flag("new_decoder_architecture", False):
        return 1
    return fields.integer("num_key_value_heads", "num_kv_heads", default=heads)


def _latent(fields: Fields) -> LatentAttention:
    return LatentAttention(
        heads=fields.integer("num_attention_heads"),
        q_rank=fields.optional("q_lora_rank"),
        kv_rank=fields.integer("kv_lora_rank"),
        nope_dim=fields.integer("qk_nope_head_dim"),
        rope_dim=fields.integer("qk_rope_head_dim"),
        value_dim=fields.integer("v_head_dim"),
        index_heads=fields.integer("index_n_heads", default=0),
        index_dim=fields.integer("index_head_dim", default=0),
    )


def _delta(fields: Fields) -> DeltaNet:
    return DeltaNet(
        key_heads=fields.integer("linear_num_key_heads"),
        key_dim=fields.integer("linear_key_head_dim"),
        value_heads=fields.integer("linear_num_value_heads"),
        value_dim=fields.integer("linear_value_head_dim"),
        kernel=fields.integer("linear_conv_kernel_dim"),
        state_bytes=state_bytes(fields.raw("mamba_ssm_dtype")),
    )


def _hybrid(fields: Fields, count: int) -> list[str]:
    listed = fields.sequence("layer_types", count)
    if listed is None:
        every = fields.integer("full_attention_interval")
        listed = [
            "full_attention" if (index + 1) % every == 0 else "linear_attention"
            for index in range(count)
        ]
    unknown = {str(kind) for kind in listed} - {"full_attention", "linear_attention"}
    if unknown:
        raise fields.problem("layer_types", f"has kinds not understood: {sorted(unknown)}")
    return [str(kind) for kind in listed]


def _windows(fields: Fields, family: Family, count: int) -> list[tuple[str, int] | None]:
    """Return (kind, window) of each layer, None for full attention."""
    listed = fields.sequence("layer_types", count)
    if family.windows == "llama4":
        return _llama4(fields, count)
    window = fields.optional("sliding_window")
    if family.windows == "qwen" and not fields.flag("use_sliding_window", False):
        window = None  # Qwen files carry a window that is switched off.
    if window is None or family.windows == "never":
        return [None] * count
    slide = ("sliding", window)
    if listed is not None:
        known = {"full_attention": None, "sliding_attention": slide}
        for kind in listed:
            if kind not in known:
                raise fields.problem("layer_types", f"has a kind not understood: {kind}")
        return [known[str(kind)] for kind in listed]
    if family.windows == "listed":
        raise fields.problem("layer_types", "is missing")
    if family.windows == "qwen":
        first = fields.integer("max_window_layers", default=count)
        return [slide if index >= first else None for index in range(count)]
    if family.windows == "alternate":
        return [None if index % 2 else slide for index in range(count)]
    if family.windows == "pattern":
        every = fields.integer("sliding_window_pattern")
        return [None if (index + 1) % every == 0 else slide for index in range(count)]
    return [slide] * count


def _llama4(fields: Fields, count: int) -> list[tuple[str, int] | None]:
    """Return Llama 4's layers: chunked where positions are rotary, full elsewhere."""
    chunk = fields.optional("attention_chunk_size")
    if chunk is None:
        return [None] * count
    rotary = fields.sequence("no_rope_layers", count) if fields.raw("no_rope_layers") else None
    if rotary is None:
        every = fields.integer("no_rope_layer_interval", default=4)
        rotary = [int((index + 1) % every != 0) for index in range(count)]
    return [("chunked", chunk) if flag else None for flag in rotary]


def mlp_of(fields: Fields, family: Family, index: int) -> Mlp:
    """Return the MLP of layer ``index``: experts where the family places them."""
    experts = fields.integer("num_local_experts", "num_experts", "n_routed_experts", default=0)
    dense_width = fields.optional("intermediate_size_mlp", "intermediate_size")
    if not experts or not _is_moe(fields, index):
        if dense_width is None and fields.has("multi_query"):
            dense_width = 4 * fields.integer("hidden_size")
        width = dense_width if dense_width is not None else fields.integer("intermediate_size")
        return DenseMlp(width=width, matrices=family.mlp_matrices)
    width = fields.integer("moe_intermediate_size", "intermediate_size")
    return MoeMlp(
        experts=experts,
        active=fields.integer("num_experts_per_tok", "experts_per_token"),
        width=width,
        shared_width=_shared_width(fields, width),
        shared_gate=family.shared_gate,
        matrices=family.mlp_matrices,
        bias=family.expert_bias,
        router_bias=family.router_bias,
    )


def _shared_width(fields: Fields, width: int) -> int:
    stated = fields.optional(
        "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "share_expert_dim"
    )
    if stated is not None:
        return stated
    if fields.has("interleave_moe_layer_step"):
        return width  # Llama 4 has one shared expert of the routed width.
    return fields.integer("n_shared_experts", default=0) * width


def _is_moe(fields: Fields, index: int) -> bool:
    if index < fields.integer("first_k_dense_replace", default=0):
        return False
    if index in (fields.raw("mlp_only_layers") or []):
        return False
    step = fields.integer(
        "interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq", default=1
    )
    if fields.has("moe_layer_freq"):
        return index % step == 0
    return (index + 1) % step == 0
