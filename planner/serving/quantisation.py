"""How many bits a checkpoint's weights take, and which modules it leaves alone."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

from planner.base import Frozen
from planner.errors import InputError, Problem

UNQUANTISED_BITS = 16.0


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
        """Return whether ``module`` is on the list of modules left at 16 bits.

        Entries are regular expressions ("re:..."), globs, or a name or part of
        a name, as the vLLM loaders of the formats read them.
        """
        return any(_matches(entry, module) for entry in self.ignored)


NO_QUANTISATION = Quantisation(method="none", bits=UNQUANTISED_BITS)
ONLINE_FP8 = Quantisation(method="fp8", bits=8.0)


def _matches(entry: str, module: str) -> bool:
    if entry.startswith("re:"):
        return re.match(entry[3:], module) is not None
    plain = entry.replace("model.language_model.", "model.").replace("language_model.", "")
    if "*" in plain:
        return fnmatch.fnmatchcase(module, plain) or fnmatch.fnmatchcase(module, f"{plain}.*")
    return f".{plain}." in f".{module}."


def _fp8(config: Mapping[str, Any]) -> Quantisation:
    block = config.get("weight_block_size")
    if block is None:
        return Quantisation(method="fp8", bits=8.0, ignored=_ignored(config))
    rows, columns = (int(side) for side in block)
    return Quantisation(
        method="fp8",
        bits=8.0 + 32.0 / (rows * columns),
        block=rows,
        ignored=_ignored(config),
    )


def _grouped(method: str, bits: int, group: int, zero_point: bool) -> tuple[float, int | None]:
    if group <= 0:
        return float(bits), None
    return bits + (16 + (bits if zero_point else 0)) / group, group


def _awq_gptq(config: Mapping[str, Any]) -> Quantisation:
    method = str(config["quant_method"])
    bits, block = _grouped(
        method, int(config.get("bits", 4)), int(config.get("group_size", 128)), zero_point=True
    )
    return Quantisation(method=method, bits=bits, block=block, ignored=_ignored(config), fast=False)


def _compressed_tensors(config: Mapping[str, Any]) -> Quantisation:
    groups = list(dict(config.get("config_groups") or {}).values())
    if len(groups) != 1 or not groups[0].get("weights"):
        raise _refused("compressed-tensors with other than one group of weights")
    weights = groups[0]["weights"]
    kind, bits, group = weights.get("type"), int(weights["num_bits"]), weights.get("group_size")
    if kind == "float" and bits == 8:
        structure = weights.get("block_structure")
        return _fp8({**config, "weight_block_size": structure})
    if kind == "float" and bits == 4:
        return _four_bit_float("nvfp4", int(group or 16), _ignored(config))
    if kind == "int":
        effective, block = _grouped(
            "int", bits, int(group or 0), zero_point=not weights.get("symmetric", True)
        )
        fast = groups[0].get("input_activations") is not None
        return Quantisation(
            method=f"int{bits}", bits=effective, block=block, ignored=_ignored(config), fast=fast
        )
    raise _refused(f"compressed-tensors weights of type {kind} with {bits} bits")


def _modelopt(config: Mapping[str, Any]) -> Quantisation:
    inner = config.get("quantization") or config
    algorithm = str(inner.get("quant_algo", "")).upper()
    ignored = _ignored(inner)
    if algorithm == "FP8":
        return Quantisation(method="fp8", bits=8.0, ignored=ignored)
    if algorithm == "NVFP4":
        return _four_bit_float("nvfp4", int(inner.get("group_size", 16)), ignored)
    raise _refused(f"modelopt algorithm {algorithm or 'not stated'}")


def _four_bit_float(method: str, group: int, ignored: tuple[str, ...]) -> Quantisation:
    return Quantisation(
        method=method, bits=4.0 + 8.0 / group, block=group, ignored=ignored, fast=method == "nvfp4"
    )


def _ignored(config: Mapping[str, Any]) -> tuple[str, ...]:
    names: list[str] = []
    for key in ("ignore", "ignored_layers", "modules_to_not_convert", "exclude_modules"):
        value = config.get(key)
        if isinstance(value, Sequence) and not isinstance(value, str):
            names.extend(str(entry) for entry in value)
    return tuple(names)


def quantisation_of(config: Mapping[str, Any] | None) -> Quantisation:
    """Read a ``quantization_config``; refuse a method that is not understood."""
    if not config:
        return NO_QUANTISATION
    method = str(config.get("quant_method", "")).lower()
    if method in ("fp8", "fbgemm_fp8"):
        return _fp8(config)
    if method in ("awq", "gptq"):
        return _awq_gptq(config)
    if method == "mxfp4":
        return _four_bit_float("mxfp4", 32, _ignored(config))
    if method == "compressed-tensors":
        return _compressed_tensors(config)
    if method.startswith("modelopt") or ("quantization" in config and not method):
        return _modelopt(config)
    raise _refused(f"quantisation method {method or 'not stated'}")


def _refused(what: str) -> InputError:
    known = "fp8, fbgemm_fp8, awq, gptq, mxfp4, compressed-tensors, modelopt"
    return InputError(
        [Problem("quantization_config", f"{what} is not understood", f"Understood: {known}.")]
    )
