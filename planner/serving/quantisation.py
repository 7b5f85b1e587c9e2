"""How many bits a checkpoint's weights take, and which modules it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner import faults
from planner.base import Frozen
from planner.errors import InputError
from planner.serving.ignore_list import entries, ignored
from planner.serving.parse_fields import Fields

UNQUANTISED_BITS = 16.0

WHERE = "quantization_config"

IGNORE_KEYS = (
    "ignore",
    "ignored_layers",
    "modules_to_not_convert",
    "exclude_modules",
    "exclude",
    "llm_int8_skip_modules",
)
"""The names of the list of modules left at 16 bits, by method."""


class Quantisation(Frozen):
    """A checkpoint's weight format.

    ``bits`` includes the scales: NVFP4 has an 8-bit scale per 16 weights (4.5
    bits), MXFP4 one per 32 (4.25 bits), both from the OCP microscaling format;
    grouped integer formats a 16-bit scale and a zero point per group.
    ``block`` is the number of weights along the sharded width that share a
    scale and must stay on one GPU, or None.
    """

    method: str
    bits: float
    block: int | None = None
    ignored: tuple[str, ...] = ()
    fast: bool = True
    """False for weight-only formats, whose arithmetic runs at 16 bits."""

    def bits_of(self, module: str) -> float:
        """Return the bits a weight of the named module takes."""
        return UNQUANTISED_BITS if self.ignores(module) else self.bits

    def ignores(self, module: str) -> bool:
        """Return whether ``module`` is on the list of modules left at 16 bits."""
        return ignored(self.ignored, module)


NO_QUANTISATION = Quantisation(method="none", bits=UNQUANTISED_BITS)
ONLINE_FP8 = Quantisation(method="fp8", bits=8.0)


def quantisation_of(config: Mapping[str, Any] | None) -> Quantisation:
    """Read a ``quantization_config``; refuse a method that is not understood."""
    if not config:
        return NO_QUANTISATION
    fields = Fields(config, WHERE)
    method = fields.text("quant_method").lower()
    if method in ("fp8", "fbgemm_fp8"):
        return _fp8(config, fields.raw("weight_block_size"))
    if method in ("awq", "gptq"):
        return _awq_gptq(fields, method, config)
    if method == "auto-round":
        return _awq_gptq(fields, "gptq", config)
    if method == "bitsandbytes":
        return _bitsandbytes(fields, config)
    if method == "quark":
        return _quark(fields, config)
    if method == "mxfp4":
        return _four_bit_float("mxfp4", 32, _ignored(config))
    if method == "compressed-tensors":
        return _compressed_tensors(fields, config)
    if method.startswith("modelopt") or (fields.has("quantization") and not method):
        return _modelopt(fields, config)
    raise _refused(f"quantisation method {method or 'not stated'}")


def _fp8(config: Mapping[str, Any], block: Any) -> Quantisation:
    if block is None:
        return Quantisation(method="fp8", bits=8.0, ignored=_ignored(config))
    pair = isinstance(block, Sequence) and not isinstance(block, str) and len(block) == 2
    sides = {"rows": block[0], "columns": block[1]} if pair else {}
    fields = Fields(sides, f"{WHERE}: weight_block_size")
    rows, columns = fields.size("rows"), fields.size("columns")
    return Quantisation(
        method="fp8",
        bits=8.0 + 32.0 / (rows * columns),
        block=rows,
        ignored=_ignored(config),
    )


def _grouped(bits: int, group: int, zero_point: bool) -> tuple[float, int | None]:
    if group <= 0:
        return float(bits), None
    return bits + (16 + (bits if zero_point else 0)) / group, group


def _group_size(fields: Fields, default: int) -> int:
    """Return the weights of a group; -1, a group for a whole row, as 0."""
    return 0 if fields.raw("group_size") == -1 else fields.integer("group_size", default=default)


def _awq_gptq(fields: Fields, method: str, config: Mapping[str, Any]) -> Quantisation:
    bits = fields.integer("bits", "w_bit", default=4, least=1, most=16)
    effective, block = _grouped(bits, _group_size(fields, 128), zero_point=True)
    return Quantisation(
        method=method, bits=effective, block=block, ignored=_ignored(config), fast=False
    )


def _bitsandbytes(fields: Fields, config: Mapping[str, Any]) -> Quantisation:
    """Read bitsandbytes: 8 bits, or 4 with a scale for each 64 weights.

    Double quantisation keeps the scales at 8 bits with a float32 for each 256 of them
    (QLoRA, arXiv 2305.14314, section 3: 0.127 bits a weight instead of 0.5).
    """
    bits = 8.0
    if fields.flag("load_in_4bit", False):
        scale = 8 + 32 / 256 if fields.flag("bnb_4bit_use_double_quant", False) else 32
        bits = 4.0 + scale / 64
    elif not fields.flag("load_in_8bit", False):
        raise _refused("bitsandbytes with neither load_in_4bit nor load_in_8bit")
    return Quantisation(method="bitsandbytes", bits=bits, ignored=_ignored(config), fast=False)


def _quark(fields: Fields, config: Mapping[str, Any]) -> Quantisation:
    """Read AMD Quark: 8-bit floating point, one format for all layers."""
    dtype = ""
    if fields.has("global_quant_config"):
        whole = fields.part("global_quant_config")
        dtype = whole.part("weight").text("dtype") if whole.has("weight") else ""
    if not dtype.startswith("fp8") or fields.raw("layer_quant_config"):
        raise _refused(f"quark weights of type {dtype or 'not stated'}, or by layer,")
    return Quantisation(method="fp8", bits=8.0, ignored=_ignored(config))


def _compressed_tensors(fields: Fields, config: Mapping[str, Any]) -> Quantisation:
    groups = fields.raw("config_groups")
    if not isinstance(groups, Mapping) or len(groups) != 1:
        raise _refused("compressed-tensors with other than one group of weights")
    group = Fields(next(iter(groups.values())), f"{WHERE}: config_groups")
    if not group.has("weights"):
        raise _refused("compressed-tensors with other than one group of weights")
    weights = group.part("weights")
    kind, bits = weights.text("type"), weights.integer("num_bits", least=1, most=16)
    if kind == "float" and bits == 8:
        return _fp8(config, weights.raw("block_structure"))
    if kind == "float" and bits == 4:
        return _four_bit_float("nvfp4", weights.size("group_size", default=16), _ignored(config))
    if kind == "int":
        effective, block = _grouped(
            bits, _group_size(weights, 0), zero_point=not weights.flag("symmetric", True)
        )
        return Quantisation(
            method=f"int{bits}",
            bits=effective,
            block=block,
            ignored=_ignored(config),
            fast=group.has("input_activations"),
        )
    raise _refused(f"compressed-tensors weights of type {kind} with {bits} bits")


def _modelopt(fields: Fields, config: Mapping[str, Any]) -> Quantisation:
    inner = fields.raw("quantization") if fields.has("quantization") else config
    part = Fields(inner, f"{WHERE}: quantization")
    algorithm = part.text("quant_algo").upper()
    if algorithm == "FP8":
        return Quantisation(method="fp8", bits=8.0, ignored=_ignored(inner))
    if algorithm == "NVFP4":
        return _four_bit_float("nvfp4", part.size("group_size", default=16), _ignored(inner))
    raise _refused(f"modelopt algorithm {algorithm or 'not stated'}")


def _four_bit_float(method: str, group: int, left: tuple[str, ...]) -> Quantisation:
    return Quantisation(
        method=method, bits=4.0 + 8.0 / group, block=group, ignored=left, fast=method == "nvfp4"
    )


def _ignored(config: Mapping[str, Any]) -> tuple[str, ...]:
    listed: list[Any] = []
    for key in IGNORE_KEYS:
        value = config.get(key)
        if isinstance(value, Sequence) and not isinstance(value, str):
            listed.extend(value)
    return entries(listed)


def _refused(what: str) -> InputError:
    known = (
        "fp8, fbgemm_fp8, awq, gptq, auto-round, bitsandbytes, mxfp4, compressed-tensors, "
        "modelopt, quark"
    )
    return InputError(
        [
            faults.UNKNOWN_QUANTISATION.at(
                WHERE, f"{what} is not understood", f"Understood: {known}."
            )
        ]
    )
