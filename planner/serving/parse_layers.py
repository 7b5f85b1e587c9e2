"""From config fields to the list of layers: one entry for each decoder layer."""

from __future__ import annotations

from planner.serving.layers import Attention, DeltaNet, LatentAttention, Layer, Mixer
from planner.serving.parse_families import Family
from planner.serving.parse_fields import Fields, quoted, state_bytes
from planner.serving.parse_mlp import mlp_of


def layers_of(fields: Fields, family: Family) -> list[Layer]:
    """Return the decoder's layers for families with one mixer and one MLP a layer."""
    mixers = mixers_of(fields, family)
    return [
        Layer(mixer=mixer, mlp=mlp_of(fields, family, index), norms=family.norms)
        for index, mixer in enumerate(mixers)
    ]


def mixers_of(fields: Fields, family: Family) -> list[Mixer]:
    """Return the token mixer of each layer."""
    count = fields.layers()
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
    fields: Fields,
    family: Family,
    kind: str,
    window: int | None,
    *,
    heads: int | None = None,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    value_dim: int | None = None,
) -> Attention:
    """Return the attention of a layer; head_dim defaults to hidden / heads.

    Numbers given override the config's, for layers with heads of their own.
    """
    heads = heads or fields.size("num_attention_heads")
    kv_heads = kv_heads or _kv_heads(fields, heads)
    if heads % kv_heads:
        raise fields.problem(
            "num_key_value_heads", f"is {kv_heads}, which does not divide {heads} attention heads"
        )
    head_dim = head_dim or fields.optional("head_dim", "attention_head_dim")
    if head_dim is None:
        head_dim = fields.size("hidden_size") // heads
        if head_dim < 1:
            raise fields.problem("hidden_size", f"is less than {heads} attention heads")
    bias = "qkv" if fields.flag("attention_bias", False) else family.bias
    return Attention.model_validate(
        {
            "kind": kind,
            "heads": heads,
            "kv_heads": kv_heads,
            "head_dim": head_dim,
            "value_dim": value_dim or fields.size("v_head_dim", default=head_dim),
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
    return fields.size("num_key_value_heads", "num_kv_heads", default=heads)


def _latent(fields: Fields) -> LatentAttention:
    return LatentAttention(
        heads=fields.size("num_attention_heads"),
        q_rank=fields.optional("q_lora_rank"),
        kv_rank=fields.size("kv_lora_rank"),
        nope_dim=fields.size("qk_nope_head_dim"),
        rope_dim=fields.size("qk_rope_head_dim"),
        value_dim=fields.size("v_head_dim"),
        index_heads=fields.integer("index_n_heads", default=0),
        index_dim=fields.integer("index_head_dim", default=0),
    )


def _delta(fields: Fields) -> DeltaNet:
    return DeltaNet(
        key_heads=fields.size("linear_num_key_heads"),
        key_dim=fields.size("linear_key_head_dim"),
        value_heads=fields.size("linear_num_value_heads"),
        value_dim=fields.size("linear_value_head_dim"),
        kernel=fields.size("linear_conv_kernel_dim"),
        state_bytes=state_bytes(fields.raw("mamba_ssm_dtype")),
    )


def _hybrid(fields: Fields, count: int) -> list[str]:
    listed = fields.names("layer_types", count)
    if listed is None:
        every = fields.size("full_attention_interval")
        listed = [
            "full_attention" if (index + 1) % every == 0 else "linear_attention"
            for index in range(count)
        ]
    for kind in listed:
        if kind not in ("full_attention", "linear_attention"):
            raise fields.problem("layer_types", f"has a kind not understood: {quoted(kind)}")
    return listed


def windowed_kinds(fields: Fields, count: int, window: int) -> list[tuple[str, int] | None] | None:
    """Return (kind, window) of each layer as ``layer_types`` lists them, None if it does not."""
    listed = fields.names("layer_types", count)
    if listed is None:
        return None
    known = {"full_attention": None, "sliding_attention": ("sliding", window)}
    for kind in listed:
        if kind not in known:
            raise fields.problem("layer_types", f"has a kind not understood: {quoted(kind)}")
    return [known[kind] for kind in listed]


def _windows(fields: Fields, family: Family, count: int) -> list[tuple[str, int] | None]:
    """Return (kind, window) of each layer, None for full attention."""
    if family.windows == "llama4":
        return _llama4(fields, count)
    window = fields.optional("sliding_window")
    if family.windows == "qwen" and not fields.flag("use_sliding_window", False):
        window = None  # Qwen files carry a window that is switched off.
    if window is None or family.windows == "never":
        return [None] * count
    slide = ("sliding", window)
    listed = windowed_kinds(fields, count, window)
    if listed is not None:
        return listed
    if family.windows == "listed":
        raise fields.problem("layer_types", "is missing")
    if family.windows == "qwen":
        first = fields.integer("max_window_layers", default=count)
        return [slide if index >= first else None for index in range(count)]
    if family.windows == "alternate":
        return [None if index % 2 else slide for index in range(count)]
    if family.windows == "pattern":
        every = fields.size("sliding_window_pattern")
        return [None if (index + 1) % every == 0 else slide for index in range(count)]
    return [slide] * count


def _llama4(fields: Fields, count: int) -> list[tuple[str, int] | None]:
    """Return Llama 4's layers: chunked where positions are rotary, full elsewhere."""
    chunk = fields.optional("attention_chunk_size")
    if chunk is None:
        return [None] * count
    rotary = fields.sequence("no_rope_layers", count) if fields.raw("no_rope_layers") else None
    if rotary is None:
        every = fields.size("no_rope_layer_interval", default=4)
        rotary = [int((index + 1) % every != 0) for index in range(count)]
    return [("chunked", chunk) if flag else None for flag in rotary]
