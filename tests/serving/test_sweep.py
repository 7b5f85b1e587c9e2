from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import pytest

from benchmarks.memory_sweep import kind_of, mixed_models
from planner.serving.engine import VllmSettings
from planner.serving.memory import vllm_ledger
from planner.serving.shape import ModelShape
from planner.serving.sizing_types import Layout
from planner.serving.sweep import sweep
from planner.units import GIB

DEGREES = (1, 2, 4, 8)
LENGTHS = (1, 777, 8_192, 131_072, 1_000_000)


@pytest.fixture
def cards(make_card: Any, h100: Any, a100: Any, l40s: Any) -> list[Any]:
    large = make_card("B200-SXM", 180, 178.4)
    small = make_card("RTX 3090", 24, 23.58, fp8=None)
    return [h100, a100, l40s, large, small]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"kv_dtype": "fp8"},
        {"kv_dtype": "nvfp4"},
        {"prefix_caching": False, "max_num_batched_tokens": 512, "max_num_seqs": 64},
        {"kv_cache_memory_bytes": 7 * GIB + 11},
        {"block_size": 128, "vllm_version": "0.19.0", "gpu_memory_utilization": 0.5},
    ],
    ids=str,
)
def test_every_sampled_cell_equals_the_ledger(cards: list[Any], more: dict[str, Any]) -> None:
    shapes = mixed_models(30)
    settings = VllmSettings(**more)
    found = sweep(shapes, cards, DEGREES, LENGTHS, settings)
    cells = list(np.ndindex(*found.fits.shape))
    for m, c, t, n in random.Random(7).sample(cells, 250):
        ledger = vllm_ledger(
            shapes[m],
            Layout(tensor_parallel=DEGREES[t]),
            cards[c],
            settings=settings.model_copy(update={"max_model_len": LENGTHS[n]}),
        )
        assert found.kv_pool_bytes[m, c, t] == ledger.kv_pool_bytes
        assert found.kv_tokens[m, c, t, n] == ledger.kv_tokens
        assert found.max_concurrency[m, c, t, n] == ledger.max_concurrency
        assert found.fits[m, c, t, n] == ledger.fits


def test_a_model_that_caches_nothing(cards: list[Any], make_dense: Any) -> None:
    shape = make_dense(layers=2, heads=4, kv_heads=2, hidden=64, intermediate=128)
    kinds = tuple(kind.model_copy(update={"mixer": None}) for kind in shape.kinds)
    bare: ModelShape = shape.model_copy(update={"kinds": kinds})
    found = sweep([bare, shape], cards, (1,), (1_000,))
    for c, card in enumerate(cards):
        ledger = vllm_ledger(
            bare, Layout(tensor_parallel=1), card, settings=VllmSettings(max_model_len=1_000)
        )
        assert found.max_concurrency[0, c, 0, 0] == ledger.max_concurrency
        assert found.kv_tokens[0, c, 0, 0] == ledger.kv_tokens == 0


def test_fifty_mixed_models_take_a_fraction_of_the_loop(cards: list[Any]) -> None:
    """10,000 cells; the bound leaves room for a slow, busy machine."""
    shapes = mixed_models(50)
    assert len({kind_of(shape) for shape in shapes}) >= 4
    assert len(shapes) == 50
    best = min(_seconds(shapes, cards * 2) for _ in range(3))
    assert best < 1.0


def _seconds(shapes: list[ModelShape], cards: list[Any]) -> float:
    started = time.process_time()
    found = sweep(shapes, cards, DEGREES, LENGTHS)
    assert found.fits.size == 10_000
    return time.process_time() - started
