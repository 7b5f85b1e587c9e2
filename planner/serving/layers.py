"""The parts a decoder layer is made of, and how many parameters each holds.

A layer mixes tokens (softmax attention, latent attention, or a recurrent state)
and then transforms each token (a dense or a mixture-of-experts MLP); either may
be absent. ``projections`` name the large matrices as checkpoints do, so that a
quantisation's list of ignored modules can be matched against them; ``small``
counts what is never quantised: norms, biases, convolutions, routers.
"""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen

Projection = tuple[str, int]
"""A matrix's name inside its layer and its number of parameters."""


class Attention(Frozen):
    """Softmax attention that caches a key and a value for every KV head.

    ``window`` is the tokens a sliding or chunked layer can see; None for full.
    """

    kind: Literal["full", "sliding", "chunked"]
    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int
    window: int | None = None
    gate: bool = False
    qk_norm: bool = False
    bias: Literal["none", "qkv", "all"] = "none"
    sinks: bool = False

    def projections(self, hidden: int) -> tuple[Projection, ...]:
        """Return the four projections; an output gate doubles the query's."""
        query = self.heads * self.head_dim * (2 if self.gate else 1)
        return (
            ("self_attn.q_proj", hidden * query),
            ("self_attn.k_proj", hidden * self.kv_heads * self.head_dim),
            ("self_attn.v_proj", hidden * self.kv_heads * self.value_dim),
            ("self_attn.o_proj", self.heads * self.value_dim * hidden),
        )

    def small(self, hidden: int) -> int:
        """Return the parameters of biases, query/key norms and attention sinks."""
        count = 2 * self.head_dim if self.qk_norm else 0
        if self.bias != "none":
            count += self.heads * self.head_dim + self.kv_heads * (self.head_dim + self.value_dim)
        if self.bias == "all":
            count += hidden
        return count + (self.heads if self.sinks else 0)


class LatentAttention(Frozen):
    """Multi-head latent attention (MLA): caches one compressed vector a token.

    ``index_heads`` > 0 adds the sparse-attention indexer of DeepSeek-V3.2, which
    caches a key of ``index_dim`` of its own.
    """

    kind: Literal["mla"] = "mla"
    heads: int
    q_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int
    index_heads: int = 0
    index_dim: int = 0

    def projections(self, hidden: int) -> tuple[Projection, ...]:
        """Return the low-rank query path, the latent path and the output."""
        query_width = self.heads * (self.nope_dim + self.rope_dim)
        query: tuple[Projection, ...]
        if self.q_rank is None:
            query = (("self_attn.q_proj", hidden * query_width),)
        else:
            query = (
                ("self_attn.q_a_proj", hidden * self.q_rank),
                ("self_attn.q_b_proj", self.q_rank * query_width),
            )
        indexer: tuple[Projection, ...] = ()
        if self.index_heads:
            width = self.index_heads * self.index_dim
            indexer = (
                ("self_attn.indexer.wq_b", (self.q_rank or hidden) * width),
                ("self_attn.indexer.wk", hidden * self.index_dim),
            )
        return (
            *query,
            ("self_attn.kv_a_proj_with_mqa", hidden * (self.kv_rank + self.rope_dim)),
            ("self_attn.kv_b_proj", self.kv_rank * self.heads * (self.nope_dim + self.value_dim)),
            ("self_attn.o_proj", self.heads * self.value_dim * hidden),
            *indexer,
        )

    def small(self, hidden: int) -> int:
        """Return the parameters of the latent norms and the indexer's gate."""
        indexer = 2 * self.index_dim + hidden * self.index_heads if self.index_heads else 0
        return (self.q_rank or 0) + self.kv_rank + indexer


class Mamba2(Frozen):
    """A Mamba-2 mixer: a convolution window and one state matrix per head."""

    kind: Literal["mamba2"] = "mamba2"
    heads: int
    head_dim: int
    groups: int
    state: int
    kernel: int
    state_bytes: int

    def projections(self, hidden: int) -> tuple[Projection, ...]:
        """Return the input and output projections."""
        inner = self.heads * self.head_dim
        width = 2 * inner + 2 * self.groups * self.state + self.heads
        return (("mixer.in_proj", hidden * width), ("mixer.out_proj", inner * hidden))

    def small(self, hidden: int) -> int:
        """Return the parameters of the convolution with bias, A, D, dt and the gated norm."""
        inner = self.heads * self.head_dim
        return (inner + 2 * self.groups * self.state) * (self.kernel + 1) + 3 * self.heads + inner


class DeltaNet(Frozen):
    """A gated delta-net mixer (linear attention) of the Qwen3-Next family."""

    kind: Literal["delta_net"] = "delta_net"
    key_heads: int
    key_dim: int
    value_heads: int
    value_dim: int
    kernel: int
    state_bytes: int

    def projections(self, hidden: int) -> tuple[Projection, ...]:
        """Return the query/key/value/gate, beta/alpha and output projections."""
        keys, values = self.key_heads * self.key_dim, self.value_heads * self.value_dim
        return (
            ("linear_attn.in_proj_qkvz", hidden * (2 * keys + 2 * values)),
            ("linear_attn.in_proj_ba", hidden * 2 * self.value_heads),
            ("linear_attn.out_proj", values * hidden),
        )

    def small(self, hidden: int) -> int:
        """Return the parameters of the convolution, decay and gated norm."""
        channels = 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim
        return channels * self.kernel + 2 * self.value_heads + self.value_dim


Mixer = Attention | LatentAttention | Mamba2 | DeltaNet


class DenseMlp(Frozen):
    """An MLP of ``matrices`` (3 when gated, else 2) between hidden and ``width``."""

    kind: Literal["dense"] = "dense"
    width: int
    matrices: Literal[2, 3] = 3
    bias: bool = False

    def projections(self, hidden: int) -> tuple[Projection, ...]:
        """Return the MLP's matrices."""
        names = ("up_proj", "down_proj", "gate_proj")[: self.matrices]
        return tuple((f"mlp.{name}", hidden * self.width) for name in names)

    def small(self, hidden: int) -> int:
        """Return the biases' parameters."""
        return (self.matrices - 1) * self.width + hidden if self.bias else 0


class MoeMlp(Frozen):
    """Routed experts, ``active`` of ``experts`` per token, and shared ones.

    ``shared_width`` is the summed width of the experts every token passes.
    ``latent`` is the narrower width routed experts work in, where they do.
    """

    kind: Literal["moe"] = "moe"
    experts: int
    active: int
    width: int
    shared_width: int = 0
    shared_gate: bool = False
    matrices: Literal[2, 3] = 3
    bias: bool = False
    router_bias: bool = False
    latent: int | None = None

    def expert_parameters(self, hidden: int) -> int:
        """Return the matrix parameters of one routed expert."""
        return self.matrices * (self.latent or hidden) * self.width

    def expert_small(self, hidden: int) -> int:
        """Return the bias parameters of one routed expert."""
        return (self.matrices - 1) * self.width + hidden if self.bias else 0

    def projections(self, hidden: int) -> tuple[Projection, ...]:
        """Return what every token passes: shared experts, and the way into the latent."""
        names = ("up_proj", "down_proj", "gate_proj")[: self.matrices if self.shared_width else 0]
        shared = tuple((f"mlp.shared_experts.{name}", hidden * self.shared_width) for name in names)
        if self.latent is None:
            return shared
        into = (("mlp.fc1_latent_proj", hidden * self.latent),)
        return (*shared, *into, ("mlp.fc2_latent_proj", hidden * self.latent))

    def small(self, hidden: int) -> int:
        """Return the parameters of the router and of the shared expert's gate."""
        router = self.experts * (hidden + (1 if self.router_bias else 0))
        return router + (hidden if self.shared_gate else 0)


Mlp = DenseMlp | MoeMlp


class Layer(Frozen):
    """One kind of layer and the bits its weights take.

    ``mixer_bits`` and ``mlp_bits`` are parameter-weighted means over the
    projections (a checkpoint may leave some of them at 16 bits);
    ``expert_bits`` holds for routed experts. ``norms`` counts hidden-wide norms.
    """

    mixer: Mixer | None
    mlp: Mlp | None
    norms: int = 2
    mixer_bits: float = 16.0
    mlp_bits: float = 16.0
    expert_bits: float = 16.0

    def parameters(self, hidden: int) -> int:
        """Return all parameters of the layer."""
        routed = 0
        if isinstance(self.mlp, MoeMlp):
            one = self.mlp.expert_parameters(hidden) + self.mlp.expert_small(hidden)
            routed = self.mlp.experts * one
        return self.fixed_parameters(hidden) + routed

    def active_parameters(self, hidden: int) -> int:
        """Return the parameters one token passes through."""
        routed = 0
        if isinstance(self.mlp, MoeMlp):
            one = self.mlp.expert_parameters(hidden) + self.mlp.expert_small(hidden)
            routed = self.mlp.active * one
        return self.fixed_parameters(hidden) + routed

    def fixed_parameters(self, hidden: int) -> int:
        """Return the parameters every token passes: all but routed experts."""
        count = self.norms * hidden
        for part in (self.mixer, self.mlp):
            if part is not None:
                count += sum(size for _, size in part.projections(hidden)) + part.small(hidden)
        return count
