"""Which layouts a model can legally be split into, and the nearest that can.

Rules are those of vLLM's loaders and kernels (``division_rules``), plus two of
placement: a tensor-parallel group stays inside a node, and wide groups need
NVLink. Each refusal names the division that fails and the nearest legal layout.
Legality is checked before memory, so that no candidate is offered that the
engine would refuse at start.
"""

from __future__ import annotations

from typing import Literal

from planner.serving.division_rules import failing_division
from planner.serving.layers import LatentAttention, MoeMlp
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, Refusal

Interconnect = Literal["none", "pcie", "nvlink_pair", "nvlink"]

WIDEST_WITHOUT_NVLINK = 2
"""Above two GPUs an all-reduce over PCIe falls to 2.5 GB/s and less, seconds for a
prefill chunk of a large model (measured on L40S, vLLM's custom kernel)."""


def check_layout(
    shape: ModelShape,
    layout: Layout,
    *,
    gpus_per_node: int,
    interconnect: Interconnect,
    expert_parallel: bool = False,
) -> Refusal | None:
    """Return why ``layout`` is illegal for the model on such nodes, or None.

    ``expert_parallel`` is the same as the layout's own: it deals whole experts to
    GPUs instead of slicing each, which lifts the rule on expert width.
    """
    asked = layout
    if expert_parallel and not layout.expert_parallel:
        asked = layout.model_copy(update={"expert_parallel": True})
    reason = _reason(shape, asked, gpus_per_node, interconnect)
    if reason is None:
        return None
    near = _nearest(shape, asked, gpus_per_node, interconnect)
    return Refusal(layout=layout, kind="illegal", shortfall=reason, nearest=near)


def legal_layouts(
    shape: ModelShape,
    *,
    gpus_per_node: int,
    interconnect: Interconnect,
    expert_parallel: bool = False,
    max_pipeline_parallel: int = 1,
) -> tuple[Layout, ...]:
    """Return every legal layout, by tensor- then pipeline-parallel degree."""
    found = []
    for tensor in range(1, gpus_per_node + 1):
        for pipeline in range(1, max_pipeline_parallel + 1):
            layout = Layout(
                tensor_parallel=tensor,
                pipeline_parallel=pipeline,
                expert_parallel=expert_parallel,
            )
            if _reason(shape, layout, gpus_per_node, interconnect) is None:
                found.append(layout)
    return tuple(found)


def preferred_layouts(
    shape: ModelShape, gpus: int, *, gpus_per_node: int, interconnect: Interconnect
) -> tuple[Layout, ...]:
    """Return the legal layouts of exactly ``gpus``, the preferred first.

    A latent (MLA) cache is not divided by tensor parallelism, so each rank would
    hold the same tokens: attention data parallelism with dealt experts comes
    first there (7.7 times the KV room of degree 8, vllm-project/vllm#51454).
    Otherwise the widest tensor-parallel group a node allows comes first, and
    nodes are joined by pipeline stages.
    """
    found = []
    for tensor in range(min(gpus, gpus_per_node), 0, -1):
        if gpus % tensor:
            continue
        rest = gpus // tensor
        splits = [Layout(tensor_parallel=tensor, pipeline_parallel=rest)]
        if tensor > 1 and shape.is_moe:
            splits.append(splits[0].model_copy(update={"expert_parallel": True}))
        if rest > 1 and shape.is_moe:
            splits.append(
                Layout(tensor_parallel=tensor, attention_data_parallel=rest, expert_parallel=True)
            )
        found += [one for one in splits if not _reason(shape, one, gpus_per_node, interconnect)]
    if prefers_attention_data_parallel(shape):
        found.sort(key=lambda one: -one.attention_data_parallel)
    return tuple(found)


def prefers_attention_data_parallel(shape: ModelShape) -> bool:
    """Return whether every cached layer is latent and the experts can be dealt."""
    cached = [layer.mixer for layer in shape.kinds if layer.mixer is not None]
    latent = bool(cached) and all(isinstance(mixer, LatentAttention) for mixer in cached)
    return latent and shape.is_moe


def placement_warning(layout: Layout, interconnect: Interconnect) -> str:
    """Return what a legal layout costs on such links, or ""."""
    if interconnect == "nvlink" or layout.tensor_parallel <= WIDEST_WITHOUT_NVLINK:
        return ""
    return (
        f"tensor-parallel degree {layout.tensor_parallel} over "
        f"{interconnect.replace('_', ' ')} links: all-reduces above {WIDEST_WITHOUT_NVLINK} "
        "GPUs need NVLink"
    )


def _reason(
    shape: ModelShape, layout: Layout, gpus_per_node: int, interconnect: Interconnect
) -> str | None:
    degree = layout.tensor_parallel
    if degree > gpus_per_node:
        return f"tensor-parallel degree {degree} exceeds the {gpus_per_node} GPUs of a node"
    if warning := placement_warning(layout, interconnect):
        return warning
    if layout.pipeline_parallel > shape.layer_count:
        return f"{shape.layer_count} layers cannot fill {layout.pipeline_parallel} stages"
    if layout.attention_data_parallel > 1 and not shape.is_moe:
        return (
            f"attention data-parallel degree {layout.attention_data_parallel}: the model has no "
            "experts to share; run separate replicas"
        )
    return failing_division(shape, layout)


def _nearest(
    shape: ModelShape, layout: Layout, gpus_per_node: int, interconnect: Interconnect
) -> str:
    """Return the nearest legal layouts in words: other degrees, then dealt experts."""

    def legal(degree: int, **more: object) -> bool:
        one = layout.model_copy(update={"tensor_parallel": degree, "pipeline_parallel": 1, **more})
        return _reason(shape, one, gpus_per_node, interconnect) is None

    degree = layout.tensor_parallel
    if legal(degree):
        return f"pipeline-parallel degree {min(layout.pipeline_parallel, shape.layer_count)}"
    if layout.attention_data_parallel > 1 and legal(degree, attention_data_parallel=1):
        return f"tensor-parallel degree {degree} without attention data parallelism"
    below = next((d for d in range(min(degree - 1, gpus_per_node), 0, -1) if legal(d)), None)
    above = next((d for d in range(degree + 1, gpus_per_node + 1) if legal(d)), None)
    words = [f"tensor-parallel degree {d}" for d in (below, above) if d is not None]
    moe = any(isinstance(layer.mlp, MoeMlp) for layer in shape.kinds)
    if moe and not layout.expert_parallel and legal(degree, expert_parallel=True):
        words.append(f"tensor-parallel degree {degree} with expert parallelism")
    return " or ".join(words)
