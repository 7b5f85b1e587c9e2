"""vLLM's memory ledger for one GPU, as a document and as an equation with numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planner.catalog.loader import load_catalog
from planner.catalog.shapes import load_shape, shape_from_file
from planner.errors import InputError, Problem
from planner.serving.engine import LATEST_VLLM, VllmSettings
from planner.serving.memory import vllm_ledger
from planner.serving.parallelism import check_layout
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.units import GIB

_DTYPES = {"auto": "bfloat16", "half": "float16", "bf16": "bfloat16", "fp16": "float16"}
_KV_DTYPES = {
    "auto": "bfloat16",
    "float16": "bfloat16",
    "bf16": "bfloat16",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
}
_LARGEST_GROUP = 8
"""GPUs of one NVLink domain assumed when only the GPU is named."""


def ledger(
    *,
    config: str,
    gpu: str,
    tp: int,
    max_model_len: int,
    gpu_memory_utilization: float | None,
    max_num_seqs: int | None,
    max_num_batched_tokens: int | None,
    dtype: str | None,
    kv_dtype: str | None,
    vllm_version: str | None,
) -> dict[str, Any]:
    """Return the ledger as a document; byte figures are per GPU.

    Raises InputError for an unknown GPU, model, dtype or unreadable config.
    """
    accelerator = load_catalog().accelerator(gpu, "--gpu")
    shape = _shape(config)
    settings = VllmSettings.model_validate(
        {
            "vllm_version": vllm_version or LATEST_VLLM,
            "gpu_memory_utilization": gpu_memory_utilization,
            "max_model_len": max_model_len,
            "max_num_seqs": max_num_seqs,
            "max_num_batched_tokens": max_num_batched_tokens,
            "dtype": _known("--dtype", dtype, _DTYPES, ("bfloat16", "float16")),
            "kv_dtype": _known("--kv-dtype", kv_dtype, _KV_DTYPES, ("bfloat16", "fp8", "nvfp4")),
        }
    )
    layout = Layout(tensor_parallel=tp)
    found = vllm_ledger(shape, layout, accelerator, settings=settings)
    illegal = check_layout(
        shape,
        layout,
        gpus_per_node=max(tp, _LARGEST_GROUP),
        interconnect="nvlink" if accelerator.nvlink_bytes_per_s else "pcie",
    )
    document = {
        **found.model_dump(mode="json"),
        "model": shape.name,
        "gpu": accelerator.name,
        "tensor_parallel": tp,
    }
    if illegal is not None:
        nearest = f" (nearest: {illegal.nearest})" if illegal.nearest else ""
        document |= {"fits": False, "reason": f"{illegal.shortfall}{nearest}"}
    return document


def equation(document: dict[str, Any]) -> str:
    """Return the ledger as the sum that vLLM does, in GiB, then what the pool holds."""
    terms = {
        name: document[f"{name}_bytes"] / GIB
        for name in ("total", "weights", "activation", "non_torch", "graph", "kv_pool")
    }
    lines = [
        f"{document['model']} on {document['gpu']}, TP{document['tensor_parallel']}, per GPU:",
        f"  {terms['total']:.2f} GiB x {document['gpu_memory_utilization']:g}"
        f" - weights {terms['weights']:.2f} - activation {terms['activation']:.2f}"
        f" - non-torch {terms['non_torch']:.2f} - graphs {terms['graph']:.2f}"
        f" = KV pool {terms['kv_pool']:.2f} GiB",
        f"  KV {document['kv_bytes_per_token']:,} bytes a token"
        f" + {document['kv_fixed_bytes_per_sequence']:,} bytes a sequence"
        f" = {document['kv_tokens']:,} tokens"
        f" = {document['max_concurrency']:.2f} requests of {document['max_model_len']:,} tokens",
        "  fits" if document["fits"] else f"  does not fit: {document['reason']}",
    ]
    return "\n".join(lines) + "\n"


def _shape(config: str) -> ModelShape:
    path = Path(config)
    if path.suffix != ".json" and not path.is_file():
        return load_shape(config)
    name = None if path.name == "config.json" else path.stem.replace("--", "/")
    return shape_from_file(path, name)


def _known(flag: str, value: str | None, aliases: dict[str, str], known: tuple[str, ...]) -> str:
    if value is None:
        return known[0]
    found = aliases.get(value, value)
    if found not in known:
        fix = f"Use one of: auto, {', '.join(known)}."
        raise InputError([Problem(flag, f"{value!r} is not supported", fix)])
    return found
