"""The memory ledger in words: the sum an engine does at start, with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.serving.reserve import TGI_WIGGLE_ROOM
from planner.units import GIB


def formula(document: Mapping[str, Any], *, fixed_pool: bool) -> str:
    """Return the sum that gives the KV pool of one GPU, in GiB, as its engine does it.

    ``fixed_pool``: the pool was given and nothing was subtracted.
    """
    names = ("total", "weights", "activation", "non_torch", "graph", "kv_pool")
    gib = {name: document[f"{name}_bytes"] / GIB for name in names}
    share = f"{document['gpu_memory_utilization']:g}"
    pool = f"KV pool {gib['kv_pool']:.2f} GiB"
    if fixed_pool:
        return f"{pool} as given (weights {gib['weights']:.2f} of {gib['total']:.2f} GiB beside it)"
    peaks = f"activation {gib['activation']:.2f} - non-torch {gib['non_torch']:.2f}"
    whole = f"{gib['total']:.2f} GiB"
    weights = f"weights {gib['weights']:.2f}"
    if document["engine"] == "trtllm":
        return f"({whole} - {weights} - {peaks}) x {share} = {pool}"
    if document["engine"] == "sglang":
        return f"({whole} - non-torch {gib['non_torch']:.2f}) x {share} - {weights} = {pool}"
    if document["engine"] == "tgi":
        return f"{whole} x {share} x {TGI_WIGGLE_ROOM:g} - {weights} - {peaks} = {pool}"
    return f"{whole} x {share} - {weights} - {peaks} - graphs {gib['graph']:.2f} = {pool}"


def equation(document: Mapping[str, Any]) -> str:
    """Return the ledger as an equation, what the pool holds, and whether it fits."""
    lines = [
        f"{document['model']} on {document['gpu']}, {document['layout']}, {document['engine']}, "
        "per GPU:",
        f"  {document['formula']}",
        f"  KV {document['kv_bytes_per_token']:,} bytes a token"
        f" + {document['kv_fixed_bytes_per_sequence']:,} bytes a sequence"
        f" = {document['kv_tokens']:,} tokens"
        f" = {document['max_concurrency']:.2f} requests of {document['max_model_len']:,} tokens",
    ]
    if textbook := document.get("textbook"):
        lines.append(
            f"  textbook, all GPUs: ({textbook['memory_bytes'] / GIB:.2f} GiB"
            f" - weights {textbook['weights_bytes'] / GIB:.2f}) x 0.9"
            f" = {textbook['kv_budget_bytes'] / GIB:.2f} GiB"
            f" = {textbook['sequences']:,} requests of {document['max_model_len']:,} tokens"
            " (does not decide whether it fits)"
        )
    lines.append("  fits" if document["fits"] else f"  does not fit: {document['reason']}")
    lines += [f"  warning: {words}" for words in document["warnings"]]
    return "\n".join(lines) + "\n"
