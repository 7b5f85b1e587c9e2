"""What each engine's memory fraction means, turned into the KV pool of a GPU in bytes.

Four engines take a number between 0 and 1 and mean four things by it, so it must
be normalised before two of them are compared:

* vLLM ``gpu_memory_utilization``: share of the **total** that weights, peaks and
  KV cache may take together.
* TensorRT-LLM ``free_gpu_memory_fraction``: share for the KV cache of what is
  **free after** the model is loaded and its peak measured.
* SGLang ``mem_fraction_static``: share of what was free before loading for weights
  and KV cache; the peaks live in the rest.
* TGI ``cuda_memory_fraction``: share of the total, of which a tenth is kept back,
  less weights and the peak of a warm-up prefill.
"""

from __future__ import annotations

import math
from typing import Literal

from planner.base import Frozen
from planner.catalog.rows import Accelerator
from planner.serving.sizing_types import Layout
from planner.units import GIB

Engine = Literal["vllm", "trtllm", "sglang", "tgi"]

TRTLLM_FRACTION = 0.9
TGI_FRACTION = 1.0

TGI_WIGGLE_ROOM = 0.90
"""Share of the fraction that TGI uses (text-generation-inference, models/globals.py)."""


class Terms(Frozen):
    """What a GPU holds besides the KV cache, in bytes; ``total`` is what CUDA reports."""

    total: int
    weights: int
    activation: int
    non_torch: int
    graph: int = 0


class StaticReserve(Frozen):
    """SGLang's automatic reserve on cards from a memory size on, in GiB."""

    from_gib: float
    gib: float
    gib_each_gpu: float
    source: str


_SERVER_ARGS = "sgl-project/sglang server_args.py (2025), automatic mem_fraction_static"

SGLANG_RESERVES: tuple[StaticReserve, ...] = (
    StaticReserve(from_gib=0, gib=2.8, gib_each_gpu=0.1, source=_SERVER_ARGS),
    StaticReserve(
        from_gib=35,
        gib=13.2,
        gib_each_gpu=0.5,
        source="sgl-project/sglang#29092: 0.828 on H100, not the documented 0.9",
    ),
    StaticReserve(from_gib=90, gib=12.0, gib_each_gpu=0.5, source=_SERVER_ARGS),
    StaticReserve(from_gib=160, gib=32.0, gib_each_gpu=0.0, source=_SERVER_ARGS),
)


def vllm_pool(terms: Terms, fraction: float) -> int:
    """Return total x fraction - weights - activation - non-torch - graphs."""
    taken = terms.weights + terms.activation + terms.non_torch + terms.graph
    return math.floor(terms.total * fraction) - taken


def trtllm_pool(terms: Terms, fraction: float) -> int:
    """Return (total - weights - activation - non-torch) x fraction."""
    free = terms.total - terms.weights - terms.activation - terms.non_torch
    return math.floor(free * fraction)


def sglang_pool(terms: Terms, fraction: float) -> int:
    """Return free after weights - free before x (1 - fraction)."""
    before = terms.total - terms.non_torch
    return math.floor(before - terms.weights - before * (1 - fraction))


def tgi_pool(terms: Terms, fraction: float) -> int:
    """Return total x fraction x 0.9 - weights - activation - non-torch."""
    usable = math.floor(terms.total * fraction * TGI_WIGGLE_ROOM)
    return usable - terms.weights - terms.activation - terms.non_torch


def sglang_fraction(accelerator: Accelerator, layout: Layout) -> float:
    """Return SGLang's automatic ``mem_fraction_static`` for a card."""
    memory = accelerator.memory_bytes / GIB
    row = [row for row in SGLANG_RESERVES if memory >= row.from_gib][-1]
    return round(1 - (row.gib + row.gib_each_gpu * layout.gpus) / memory, 3)
