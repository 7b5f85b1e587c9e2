"""A model's shape: everything sizing needs to know of it, and nothing measured.

``shape_from_config`` reads a Hugging Face config.json. Parameter counts follow
from the layers; the multi-token-prediction layers of DeepSeek, GLM and Qwen
checkpoints are left out, since vLLM loads them for speculative decoding only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from planner import faults
from planner.base import Frozen
from planner.errors import InputError
from planner.nearest import nearest
from planner.serving.layers import Layer, MoeMlp
from planner.serving.parse_families import (
    CLASS_DEFAULTS,
    FAMILIES,
    NOT_UNDERSTOOD,
    WRAPPERS,
    Family,
)
from planner.serving.parse_fields import Fields
from planner.serving.parse_layers import layers_of
from planner.serving.parse_mamba import bamba_layers, granite_hybrid_layers
from planner.serving.parse_names import context_tokens, usual_names, vision_names
from planner.serving.parse_special import (
    gemma4_layers,
    mimo_v2_layers,
    nemotron_h_layers,
    nemotron_nas_layers,
)
from planner.serving.quantisation import (
    NO_QUANTISATION,
    ONLINE_FP8,
    UNQUANTISED_BITS,
    Quantisation,
    quantisation_of,
)
from planner.serving.vision import VisionLoad, vision_heads, vision_load, vision_parameters


class ModelShape(Frozen):
    """The geometry of a decoder. ``order`` indexes ``kinds``, one entry a layer."""

    name: str
    architecture: str
    hidden: int
    vocabulary: int
    tied_embeddings: bool
    max_context_tokens: int | None
    kinds: tuple[Layer, ...]
    order: tuple[int, ...]
    vision_parameters: int = 0
    vision_heads: int = 0
    vision: VisionLoad | None = None
    quantisation: Quantisation = NO_QUANTISATION

    @property
    def layer_count(self) -> int:
        """Number of decoder layers."""
        return len(self.order)

    def counts(self, start: int = 0, stop: int | None = None) -> tuple[tuple[Layer, int], ...]:
        """Return each kind of layer in [start, stop) with how often it occurs."""
        part = self.order[start:stop]
        return tuple(
            (layer, part.count(index)) for index, layer in enumerate(self.kinds) if index in part
        )

    @property
    def embedding_parameters(self) -> int:
        """Parameters of one embedding table."""
        return self.vocabulary * self.hidden

    @cached_property
    def parameters(self) -> int:
        """All parameters, every expert included."""
        layers = sum(layer.parameters(self.hidden) * n for layer, n in self.counts())
        return layers + self._outside_layers()

    @cached_property
    def active_parameters(self) -> int:
        """Parameters of the modules one token passes, both embedding tables included."""
        layers = sum(layer.active_parameters(self.hidden) * n for layer, n in self.counts())
        return layers + self._outside_layers() - self.vision_parameters

    @cached_property
    def matmul_parameters(self) -> int:
        """Active parameters that a token is multiplied with: the lookup table is not."""
        return self.active_parameters - (0 if self.tied_embeddings else self.embedding_parameters)

    @property
    def is_moe(self) -> bool:
        """Whether any layer routes tokens to experts."""
        return any(isinstance(layer.mlp, MoeMlp) for layer in self.kinds)

    @property
    def precision(self) -> str:
        """Name of the weight format: "bf16" or the quantisation's method."""
        return "bf16" if self.quantisation.method == "none" else self.quantisation.method

    def _outside_layers(self) -> int:
        tables = self.embedding_parameters * (1 if self.tied_embeddings else 2)
        return tables + self.hidden + self.vision_parameters


def shape_from_config(config: Mapping[str, Any], name: str) -> ModelShape:
    """Return the shape a config.json describes.

    Raises InputError naming the architecture when it is not understood, or the
    field that is missing or malformed.
    """
    Fields(config, name)  # refuses what is no object
    text = _text_config(config, name)
    model_type = Fields(text, name).text("model_type")
    family = FAMILIES.get(model_type)
    if family is None:
        raise _not_understood(config, model_type, name)
    stated = usual_names(text, model_type, name)
    fields = Fields({**CLASS_DEFAULTS.get(model_type, {}), **stated}, name)
    if family.windows == "never" and family.mixer == "attention" and fields.has("sliding_window"):
        raise fields.problem("sliding_window", f"is set, which {model_type} is not known to use")
    layers = _layers(fields, family)
    quantisation = quantisation_of(
        config.get("quantization_config") or text.get("quantization_config")
    )
    vision = vision_names(config.get("vision_config"))
    hidden = fields.size("hidden_size")
    tied = fields.flag("tie_word_embeddings", family.tied)
    return _assembled(
        [_with_bits(layer, index, hidden, quantisation) for index, layer in enumerate(layers)],
        name=name,
        architecture=_architecture(config) or model_type,
        hidden=hidden,
        vocabulary=fields.size("vocab_size"),
        tied_embeddings=Fields(config, name).flag("tie_word_embeddings", tied),
        max_context_tokens=context_tokens(fields, model_type),
        vision_parameters=vision_parameters(vision, hidden, name) if vision else 0,
        vision_heads=vision_heads(vision, name) if vision else 0,
        vision=vision_load(vision, config, name) if vision else None,
        quantisation=quantisation,
    )


def quantised_online(shape: ModelShape) -> ModelShape:
    """Return a 16-bit model as vLLM serves it with ``--quantization fp8``.

    Every linear layer at 8 bits with one scale a tensor; embeddings, norms and
    routers stay at 16. A checkpoint that is quantised already is returned as is.
    """
    if shape.quantisation.method != "none":
        return shape
    layers = [shape.kinds[index] for index in shape.order]
    return _assembled(
        [_with_bits(layer, n, shape.hidden, ONLINE_FP8) for n, layer in enumerate(layers)],
        **{
            field: getattr(shape, field)
            for field in ModelShape.model_fields
            if field not in ("kinds", "order", "quantisation")
        },
        quantisation=ONLINE_FP8,
    )


def _assembled(layers: Sequence[Layer], **rest: Any) -> ModelShape:
    kinds = tuple(dict.fromkeys(layers))
    index = {layer: position for position, layer in enumerate(kinds)}
    return ModelShape(kinds=kinds, order=tuple(index[layer] for layer in layers), **rest)


SPECIAL = {
    "nemotron_h": nemotron_h_layers,
    "nemotron_nas": nemotron_nas_layers,
    "gemma4": gemma4_layers,
    "mimo_v2": mimo_v2_layers,
    "bamba": bamba_layers,
    "granite_hybrid": granite_hybrid_layers,
}
"""Readers of the families whose layers differ one by one."""


def _layers(fields: Fields, family: Family) -> list[Layer]:
    return SPECIAL.get(family.mixer, layers_of)(fields, family)


def _with_bits(layer: Layer, index: int, hidden: int, quantisation: Quantisation) -> Layer:
    """Return ``layer`` with the bits its modules take at position ``index``."""
    if quantisation.method == "none":
        return layer
    prefix = f"model.layers.{index}"

    def mean_bits(projections: Sequence[tuple[str, int]]) -> float:
        total = sum(size for _, size in projections)
        if not total:
            return UNQUANTISED_BITS
        bits = sum(quantisation.bits_of(f"{prefix}.{name}") * size for name, size in projections)
        return bits / total

    return layer.model_copy(
        update={
            "mixer_bits": mean_bits(layer.mixer.projections(hidden) if layer.mixer else ()),
            "mlp_bits": mean_bits(layer.mlp.projections(hidden) if layer.mlp else ()),
            "expert_bits": quantisation.bits_of(f"{prefix}.mlp.experts.0.up_proj"),
        }
    )


def _text_config(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    text = Fields(config, name).raw("text_config")
    if text is None:
        return config
    model_type = Fields(config, name).text("model_type")
    if model_type not in WRAPPERS:
        raise _not_understood(config, model_type, name)
    if not isinstance(text, Mapping):
        raise Fields(config, name).problem("text_config", "is not an object")
    return text


def _architecture(config: Mapping[str, Any]) -> str:
    listed = config.get("architectures")
    return str(listed[0])[:200] if isinstance(listed, list) and listed else ""


def _not_understood(config: Mapping[str, Any], model_type: str, name: str) -> InputError:
    named = _architecture(config) or "no architecture named"
    near = nearest(model_type, [*FAMILIES, *WRAPPERS])
    fix = "Understood model types: " + ", ".join(near or sorted(FAMILIES)) + "."
    why = NOT_UNDERSTOOD.get(model_type, "")
    what = f"architecture {named} (model_type {model_type or 'missing'}) is not understood"
    return InputError(
        [faults.UNKNOWN_ARCHITECTURE.at(name, f"{what}: {why}" if why else what, fix)]
    )
