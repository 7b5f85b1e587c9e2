"""Memory outside weights and KV cache: activations, runtime libraries, CUDA graphs.

vLLM profiles these at start. Three peaks compete for the activation: the forward
pass over ``max_num_batched_tokens``, the sampler over ``max_num_seqs`` rows of
logits, and a vision tower over the images of one step; the largest counts,
because they are never live together.
"""

from __future__ import annotations

from planner.base import Frozen
from planner.serving.engine import Resolved
from planner.serving.layers import (
    Attention,
    DeltaNet,
    DenseMlp,
    LatentAttention,
    Layer,
    Mamba2,
    Mixer,
    MoeMlp,
)
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.units import GIB, MIB

ACTIVATION_BYTES = 2
"""Activations are 16-bit."""

DENSE_COPIES = 3
"""Widths live at the peak of a dense layer: gate and up, and their product; and as
many of the hidden size. 2 x 3 x (14,336 + 4,096) bytes a token reproduce the 2.07
and 2.99 GiB of vllm-project/vllm#10517 at 20,000 and 29,000 tokens."""


ENCODER_BYTES = 29
"""Bytes live for each patch and unit of a vision tower's width: 2.51 GiB, less the
encoded tokens, for 65,536 patches of 1,280 at degree 4 (vllm-project/vllm#16570)."""


class RuntimeReserve(Frozen):
    """CUDA context and communication buffers at a tensor-parallel degree, in bytes."""

    from_degree: int
    bytes: int
    source: str


NON_TORCH: tuple[RuntimeReserve, ...] = (
    RuntimeReserve(
        from_degree=1,
        bytes=round(0.14 * GIB),
        source="llm-d-planner@e50305a docs/empirical-vllm-memory-results.md, H100: 0.13-0.14 GiB",
    ),
    RuntimeReserve(
        from_degree=2,
        bytes=round(0.55 * GIB),
        source="llm-d-planner@e50305a docs/empirical-vllm-memory-results.md, H100: 0.54-0.55 GiB; "
        "0.34-0.43 at degree 4 on A100 (vllm-project/vllm#16570)",
    ),
)

GRAPH_BYTES_PER_LAYER = 24 * MIB
"""CUDA graphs: measured between -0.9 and 1.0 GiB on H100 (llm-d-planner@e50305a),
3.45 GiB for 94 layers at degree 8 (38 MiB a layer), 0.48 GiB for 28 layers (18
MiB); a middle value for each layer stands in until a start has been measured."""


def activation_bytes(
    shape: ModelShape, layout: Layout, resolved: Resolved, *, last_stage: bool = True
) -> int:
    """Return the activation peak of the profiling run on one GPU, in bytes.

    Only the last pipeline stage samples.
    """
    tokens = resolved.max_num_batched_tokens
    sampler = _sampler_bytes(shape, resolved) if last_stage else 0
    return max(forward_bytes(shape, layout, tokens), sampler, _encoder_bytes(shape, tokens))


def non_torch_bytes(layout: Layout, at_least: int = 0) -> int:
    """Return what CUDA and NCCL hold outside the allocator, in bytes."""
    rows = [row for row in NON_TORCH if row.from_degree <= layout.gpus]
    return max(rows[-1].bytes, at_least)


def graph_bytes(shape: ModelShape, layout: Layout, resolved: Resolved) -> int:
    """Return what CUDA graphs take from the KV pool: nothing before vLLM 0.21."""
    if not resolved.cuda_graphs or not resolved.rules.graphs_in_budget:
        return 0
    return GRAPH_BYTES_PER_LAYER * -(-shape.layer_count // layout.pipeline_parallel)


def _sampler_bytes(shape: ModelShape, resolved: Resolved) -> int:
    """Return the sampler's peak, beside the hidden states of the forward pass.

    Logits are gathered, so the degree does not divide them.
    """
    hidden = ACTIVATION_BYTES * resolved.max_num_batched_tokens * shape.hidden
    logits = resolved.rules.logits_bytes * resolved.max_num_seqs * shape.vocabulary
    return hidden + round(logits) if logits else 0


def _encoder_bytes(shape: ModelShape, tokens: int) -> int:
    """Return the peak of encoding as many images as the step's budget takes, at least one."""
    if shape.vision is None:
        return 0
    items = max(1, tokens // shape.vision.item_tokens)
    seen = items * shape.vision.item_tokens
    patches = items * shape.vision.item_patches
    encoded = ACTIVATION_BYTES * seen * shape.hidden
    return ENCODER_BYTES * patches * shape.vision.width + encoded


def forward_bytes(shape: ModelShape, layout: Layout, tokens: int) -> int:
    """Return the peak of a forward pass over ``tokens`` on one GPU, logits left out."""
    widest = max(_token_width(layer, shape.hidden, layout) for layer in shape.kinds)
    return ACTIVATION_BYTES * tokens * round(widest + DENSE_COPIES * shape.hidden)


def _token_width(layer: Layer, hidden: int, layout: Layout) -> float:
    """Return the elements a token holds at the peak of a layer, besides hidden ones."""
    degree = layout.tensor_parallel
    width = _mixer_width(layer.mixer, degree)
    if isinstance(layer.mlp, DenseMlp):
        width = max(width, DENSE_COPIES * layer.mlp.width / degree)
    elif isinstance(layer.mlp, MoeMlp):
        each = layer.mlp.width / (1 if layout.expert_parallel else layout.expert_ranks)
        routed = layer.mlp.active * (max(2 * each, layer.mlp.latent or hidden) + each)
        width = max(width, routed + DENSE_COPIES * layer.mlp.shared_width / degree)
    return width


def _mixer_width(mixer: Mixer | None, degree: int) -> float:
    if isinstance(mixer, Attention):
        return (mixer.heads + 2 * mixer.kv_heads) * mixer.head_dim / degree
    if isinstance(mixer, LatentAttention):
        each = 2 * (mixer.nope_dim + mixer.rope_dim) + 2 * mixer.value_dim
        return mixer.heads * each / degree
    if isinstance(mixer, DeltaNet):
        keys, values = mixer.key_heads * mixer.key_dim, mixer.value_heads * mixer.value_dim
        return 2 * (keys + values) / degree
    if isinstance(mixer, Mamba2):
        return 2 * (mixer.heads * mixer.head_dim + mixer.groups * mixer.state) / degree
    return 0.0
