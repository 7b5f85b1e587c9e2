"""Vision towers: their parameters (kept at 16 bits) and their attention heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.base import Frozen
from planner.serving.parse_fields import Fields

GATED = frozenset({"pixtral", "qwen2_5_vl", "gemma4_vision"})
"""Towers whose MLP has three matrices."""


LARGEST_IMAGE_TOKENS = 16_384
"""Tokens of the largest image of a tower without a fixed image size (Qwen-VL's)."""


class VisionLoad(Frozen):
    """What encoding one image of the largest size takes: patches in, tokens out."""

    width: int
    item_patches: int
    item_tokens: int


def vision_load(config: Any, top: Any, name: str) -> VisionLoad:
    """Return the load of one image; ``top`` is the whole config, for the tokens of an image."""
    fields = Fields(config, f"{name}: vision_config")
    width = fields.size("hidden_size", "vt_hidden_size")
    merge = fields.size("spatial_merge_size", default=2) ** 2
    image = fields.optional("image_size", least=0)
    if not image:
        return VisionLoad(
            width=width,
            item_patches=LARGEST_IMAGE_TOKENS * merge,
            item_tokens=LARGEST_IMAGE_TOKENS,
        )
    patches = max(1, image // fields.size("patch_size")) ** 2
    stated = Fields(top, name).optional("mm_tokens_per_image")
    return VisionLoad(
        width=width, item_patches=patches, item_tokens=stated or max(1, patches // merge)
    )


def vision_parameters(config: Any, text_hidden: int, name: str) -> int:
    """Return the parameters of a ViT tower and its projector into the text model.

    Counts what the Qwen3-VL, SigLIP (Gemma 3) and Pixtral (Mistral 3) classes
    of Hugging Face transformers build: attention of four square matrices, an
    MLP, two norms; patch and position embedding; one projector, and one more for
    each deep-stack layer. Biases are counted throughout, which is exact for the
    first two and 0.1% too many for Pixtral.
    """
    fields = Fields(config, f"{name}: vision_config")
    width = fields.size("hidden_size", "vt_hidden_size")
    depth = fields.size("depth", "num_hidden_layers", "vt_num_hidden_layers")
    mlp = fields.size("intermediate_size", "vt_intermediate_size")
    gated = fields.text("model_type") in GATED
    matrices = 3 if gated else 2
    layer = 4 * width * (width + 1) + matrices * width * mlp + mlp + width + 4 * width
    side = fields.size("patch_size")
    patch = side**2 * fields.size("temporal_patch_size", default=1)
    patches = fields.size("in_channels", "num_channels", "in_chans", default=3) * patch * width
    positions = fields.optional("num_position_embeddings", least=0)
    if positions is None:
        image = fields.integer("image_size", default=0)
        positions = 0 if gated else (image // side) ** 2
    tables = patches + width + positions * width
    return depth * layer + tables + _projectors(fields, width, text_hidden)


def _projectors(fields: Fields, width: int, text_hidden: int) -> int:
    merge = fields.integer("spatial_merge_size", default=0)
    if not merge:
        return width * text_hidden + 3 * width
    merged = width * merge * merge
    out = fields.size("out_hidden_size", default=text_hidden)
    one = merged * merged + merged + merged * out + out + 2 * width
    deep = fields.raw("deepstack_visual_indexes")
    count = len(deep) if isinstance(deep, Sequence) and not isinstance(deep, str) else 0
    return one * (1 + count)


def vision_heads(config: Any, name: str) -> int:
    """Return the tower's attention heads, which tensor parallelism must divide."""
    fields = Fields(config, f"{name}: vision_config")
    return fields.size("num_heads", "num_attention_heads", "vt_num_attention_heads")
