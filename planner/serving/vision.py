"""Vision towers: their parameters (kept at 16 bits) and their attention heads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.serving.parse_fields import Fields


def vision_parameters(config: Mapping[str, Any], text_hidden: int, name: str) -> int:
    """Return the parameters of a ViT tower and its projector into the text model.

    Counts what the Qwen3-VL, SigLIP (Gemma 3) and Pixtral (Mistral 3) classes
    of Hugging Face transformers build: attention of four square matrices, an
    MLP, two norms; patch and position embedding; one projector, and one more for
    each deep-stack layer. Biases are counted throughout, which is exact for the
    first two and 0.1% too many for Pixtral.
    """
    fields = Fields(config, f"{name}: vision_config")
    width = fields.integer("hidden_size")
    depth = fields.integer("depth", "num_hidden_layers")
    mlp = fields.integer("intermediate_size")
    gated = str(config.get("model_type", "")) == "pixtral"
    matrices = 3 if gated else 2
    layer = 4 * width * (width + 1) + matrices * width * mlp + mlp + width + 4 * width
    patch = fields.integer("patch_size") ** 2 * fields.integer("temporal_patch_size", default=1)
    patches = fields.integer("in_channels", "num_channels", default=3) * patch * width + width
    positions = fields.optional("num_position_embeddings")
    if positions is None:
        image = fields.integer("image_size", default=0)
        positions = 0 if gated else (image // fields.integer("patch_size")) ** 2
    return depth * layer + patches + positions * width + _projectors(fields, width, text_hidden)


def _projectors(fields: Fields, width: int, text_hidden: int) -> int:
    merge = fields.integer("spatial_merge_size", default=0)
    if not merge:
        return width * text_hidden + 3 * width
    merged = width * merge * merge
    out = fields.integer("out_hidden_size", default=text_hidden)
    one = merged * merged + merged + merged * out + out + 2 * width
    deep = fields.raw("deepstack_visual_indexes") or []
    return one * (1 + len(deep))


def vision_heads(config: Mapping[str, Any], name: str) -> int:
    """Return the tower's attention heads, which tensor parallelism must divide."""
    return Fields(config, f"{name}: vision_config").integer("num_heads", "num_attention_heads")
