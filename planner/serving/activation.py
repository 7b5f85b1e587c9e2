"""Memory outside weights and KV cache: activations, runtime libraries, CUDA graphs.

vLLM profiles these at start. Two peaks compete for the activation: the forward
pass over ``max_num_batched_tokens``, and the sampler over ``max_num_seqs`` rows
of logits; the larger one counts, because they are never live together.
"""

from __future__ import annotations

from planner.base import Frozen
from planner.serving.engine import Resolved
from planner.serving.layers import Attention, DenseMlp, Layer, MoeMlp
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.units import GIB, MIB

ACTIVATION_BYTES = 2
"""Activations are 16-bit."""

DENSE_COPIES = 3
"""Widths live at the peak of a dense layer: gate and up, and their product; and as
many of the hidden size. 2 x 3 x (14,336 + 4,096) bytes a token reproduce the 2.07
and 2.99 GiB of vllm-project/vllm#10517 at 20,000 and 29,000 tokens."""


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


def activation_bytes(shape: ModelShape, layout: Layout, resolved: Resolved) -> int:
    """Return the activation peak of the profiling run on one GPU, in bytes."""
    return max(
        _forward_bytes(shape, layout.tensor_parallel, resolved.max_num_batched_tokens),
        _sampler_bytes(shape, resolved),
    )


def non_torch_bytes(layout: Layout) -> int:
    """Return what CUDA and NCCL hold outside the allocator, in bytes."""
    rows = [row for row in NON_TORCH if row.from_degree <= layout.gpus]
    return rows[-1].bytes


def graph_bytes(shape: ModelShape, layout: Layout, resolved: Resolved) -> int:
    """Return what CUDA graphs take from the KV pool: nothing before vLLM 0.21."""
    if not resolved.cuda_graphs or not resolved.rules.graphs_in_budget:
        return 0
    return GRAPH_BYTES_PER_LAYER * -(-shape.layer_count // layout.pipeline_parallel)


def _sampler_bytes(shape: ModelShape, resolved: Resolved) -> int:
    """Return the sampler's peak; logits are gathered, so the degree does not divide them."""
    return round(resolved.rules.logits_bytes * resolved.max_num_seqs * shape.vocabulary)


def _forward_bytes(shape: ModelShape, degree: int, tokens: int) -> int:
    widest = max(_token_width(layer, degree) for layer in shape.kinds)
    return ACTIVATION_BYTES * tokens * round(widest + DENSE_COPIES * shape.hidden)


def _token_width(layer: Layer, degree: int) -> float:
    """Return the elements a token holds at the peak of a layer, besides hidden ones."""
    width = 0.0
    if isinstance(layer.mixer, Attention):
        heads = layer.mixer.heads + 2 * layer.mixer.kv_heads
        width = heads * layer.mixer.head_dim / degree
    if isinstance(layer.mlp, DenseMlp):
        width = max(width, DENSE_COPIES * layer.mlp.width / degree)
    elif isinstance(layer.mlp, MoeMlp):
        routed = layer.mlp.active * DENSE_COPIES * layer.mlp.width
        width = max(width, (routed + DENSE_COPIES * layer.mlp.shared_width) / degree)
    return width
