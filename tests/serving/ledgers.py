"""A ledger of a model on a card, for the tests of memory."""

from __future__ import annotations

from typing import Any

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings
from planner.serving.memory import vllm_ledger
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout, MemoryLedger
from planner.units import GIB

ONE = Layout(tensor_parallel=1)
TWO = Layout(tensor_parallel=2)


def ledger_of(
    name: str | ModelShape, card: Accelerator, layout: Layout = ONE, **settings: Any
) -> MemoryLedger:
    shape = load_shape(name) if isinstance(name, str) else name
    return vllm_ledger(shape, layout, card, settings=VllmSettings(**settings))


def any_card() -> Accelerator:
    return Accelerator(
        name="any",
        aliases=(),
        memory_bytes=80 * GIB,
        cuda_visible_bytes=80 * GIB,
        bandwidth_bytes_per_s=3e12,
        bf16_flops=1e15,
        fp8_flops=None,
        fp4_flops=None,
        nvlink_bytes_per_s=None,
        source="test",
    )
