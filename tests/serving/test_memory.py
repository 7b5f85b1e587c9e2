"""Memory of a GPU: the textbook budget, and vLLM's ledger as measured."""

from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings, resolved, rules_for
from planner.serving.kv_pool import kv_plan
from planner.serving.memory import textbook_budget
from planner.serving.sizing import replicas_holding
from planner.serving.sizing_types import Layout
from planner.serving.weights import checkpoint_bytes, fullest_stage, stages
from planner.units import GIB
from tests.serving.ledgers import ONE, TWO, any_card, ledger_of

SEQUENCE = 327_680 * 8_192


def of_70b(cards: int, kv_bytes: int = SEQUENCE) -> Any:
    return textbook_budget(
        memory_bytes=cards * 80 * GIB,
        parameters=70e9,
        bytes_per_parameter=2,
        kv_bytes_per_sequence=kv_bytes,
    )


# --- the textbook budget ----------------------------------------------------------


def test_70b_at_16_bits_is_140_gb_and_fits_no_80_gib_card() -> None:
    budget = of_70b(1)
    assert budget.weights_bytes == 140e9
    assert budget.weights_bytes / GIB == pytest.approx(130, abs=0.5)
    assert (budget.kv_budget_bytes, budget.sequences) == (0, 0)


def test_eight_cards_hold_183_sequences() -> None:
    budget = of_70b(8)
    assert budget.free_bytes / GIB == pytest.approx(510, abs=0.5)
    assert budget.kv_budget_bytes / GIB == pytest.approx(459, abs=0.5)
    assert budget.sequences == 183


@pytest.mark.parametrize(("kv_heads", "sequences"), [(8, 183), (64, 22), (1, 1467)])
def test_kv_heads_decide_concurrency(kv_heads: int, sequences: int) -> None:
    assert of_70b(8, SEQUENCE // 8 * kv_heads).sequences == sequences


@pytest.mark.parametrize(("degree", "each", "replicas"), [(2, 10, 19), (4, 68, 3), (8, 183, 1)])
def test_useful_is_decided_by_the_cards_bought(degree: int, each: int, replicas: int) -> None:
    assert of_70b(degree).sequences == each
    assert replicas_holding(183, each) == replicas
    assert replicas * degree == {2: 38, 4: 12, 8: 8}[degree]


@given(st.integers(1, 64), st.floats(1e9, 1e12), st.floats(0.5, 4))
def test_more_memory_never_holds_fewer_sequences(cards: int, size: float, width: float) -> None:
    def held(count: int) -> int:
        return textbook_budget(
            memory_bytes=count * 80 * GIB,
            parameters=size,
            bytes_per_parameter=width,
            kv_bytes_per_sequence=SEQUENCE,
        ).sequences

    assert 0 <= held(cards) <= held(cards + 1)


# --- vLLM's ledger ----------------------------------------------------------------

# GiB measured at start on one type of H100 (79.18 GiB seen), context 16,000:
# weights, activation, non-torch, KV. llm-d-incubation/llm-d-planner@e50305a
# docs/empirical-vllm-memory-results.md. The second row prints utilisation 0.9,
# at which its pool would be negative; it closes at 0.95.
STARTS = [
    ("gpt-oss-20b", 1, 0.90, (13.47, 7.38, 0.13, 50.28)),
    ("gpt-oss-120b", 1, 0.95, (64.38, 7.38, 0.13, 3.33)),
    ("Llama-3.3-70B-Instruct-FP8-dynamic", 2, 0.90, (33.88, 4.84, 0.55, 32.00)),
    ("Llama-3.1-8B-Instruct", 1, 0.90, (14.99, 4.76, 0.13, 51.38)),
    ("Qwen3-0.6B", 1, 0.90, (1.12, 5.56, 0.13, 64.45)),
    ("Qwen3-32B", 1, 0.90, (61.03, 5.64, 0.14, 4.45)),
    ("Qwen3-32B", 2, 0.90, (30.59, 5.64, 0.54, 34.49)),
]


@pytest.mark.parametrize(("name", "degree", "share", "measured"), STARTS)
def test_measured_starts_are_reproduced_without_their_own_figures(
    h100: Accelerator,
    name: str,
    degree: int,
    share: float,
    measured: tuple[float, float, float, float],
) -> None:
    ledger = ledger_of(
        name,
        h100,
        Layout(tensor_parallel=degree),
        vllm_version="0.11.0",
        gpu_memory_utilization=share,
        max_model_len=16_000,
    )
    weights, activation, non_torch, pool = measured
    assert ledger.weights_bytes / GIB == pytest.approx(weights, rel=0.01)
    assert ledger.activation_bytes / GIB == pytest.approx(activation, abs=0.12)
    assert ledger.non_torch_bytes / GIB == pytest.approx(non_torch, abs=0.02)
    assert ledger.kv_pool_bytes / GIB == pytest.approx(pool, abs=0.30)
    assert ledger.fits


@pytest.mark.parametrize(("name", "degree", "share", "measured"), STARTS)
def test_the_identity_closes_on_measured_figures(
    name: str, degree: int, share: float, measured: tuple[float, float, float, float]
) -> None:
    weights, activation, non_torch, pool = measured
    assert share * 79.18 - weights - activation - non_torch == pytest.approx(pool, abs=0.02)


def test_the_identity_closes_on_every_recorded_ledger(shared: Path) -> None:
    table = shared / "data" / "measured_vllm_memory.csv"
    closed = 0
    for row in csv.DictReader(table.open(encoding="utf-8")):
        parts = ["gpu_total_gib", "weights_gib", "peak_activation_gib", "non_torch_gib"]
        if row["outcome"] != "served" or not all(row[key] for key in parts):
            continue
        share = 0.95 if "0.95" in row["note"] else float(row["gpu_memory_utilization"])
        total, *taken = (float(row[key]) for key in parts)
        assert share * total - sum(taken) == pytest.approx(float(row["kv_cache_gib"]), abs=0.02)
        closed += 1
    assert closed >= 8


def test_ledger_is_the_identity(h100: Accelerator) -> None:
    ledger = ledger_of("Qwen3-32B", h100, TWO, max_model_len=8192)
    budget = math.floor(ledger.total_bytes * ledger.gpu_memory_utilization)
    taken = ledger.weights_bytes + ledger.activation_bytes + ledger.non_torch_bytes
    assert ledger.kv_pool_bytes == budget - taken - ledger.graph_bytes
    assert ledger.total_bytes == round(79.18 * GIB)


@pytest.mark.parametrize(
    ("version", "share", "graphs"),
    [
        ("0.11.0", 0.90, False),
        ("0.20.1", 0.92, False),
        ("0.21.0", 0.92, True),
        ("0.33.0rc1", 0.92, True),
    ],
)
def test_defaults_by_version(version: str, share: float, graphs: bool) -> None:
    rules = rules_for(version)
    assert (rules.gpu_memory_utilization, rules.graphs_in_budget) == (share, graphs)


@pytest.mark.parametrize(
    ("name", "gib", "seqs", "tokens"),
    [
        ("H100-SXM5-80GB", 80, 1024, 8192),
        ("B200-SXM", 180, 1024, 16384),
        ("A100-SXM4-80GB", 80, 256, 2048),
        ("L40S", 44.99, 256, 2048),
    ],
)
def test_batch_limits_by_card(
    make_card: Any, name: str, gib: float, seqs: int, tokens: int
) -> None:
    filled = resolved(VllmSettings(), make_card(name, gib), 4096)
    assert (filled.max_num_seqs, filled.max_num_batched_tokens) == (seqs, tokens)


def test_fewer_sequences_free_the_samplers_memory(h100: Accelerator) -> None:
    settings: dict[str, Any] = {"vllm_version": "0.11.0", "max_model_len": 8192}
    many = ledger_of("Qwen3-32B", h100, **settings)
    few = ledger_of("Qwen3-32B", h100, **settings, max_num_seqs=256)
    assert 3.5 * GIB < few.kv_pool_bytes - many.kv_pool_bytes < 5.5 * GIB


def test_expert_parallel_235b_on_eight_l40s(l40s: Accelerator) -> None:
    """Loaded 27.72, activation 1.4, pool 10.65 GiB, 238,208 tokens, 7.27 requests."""
    shape = load_shape("Qwen3-235B-A22B").model_copy(
        update={"quantisation": load_shape("Qwen3-32B-FP8").quantisation}
    )
    kinds = tuple(
        kind.model_copy(update={"mixer_bits": 8.0, "expert_bits": 8.0}) for kind in shape.kinds
    )
    ledger = ledger_of(
        shape.model_copy(update={"kinds": kinds}),
        l40s,
        Layout(tensor_parallel=8),
        vllm_version="0.11.0",
        max_model_len=32_768,
        expert_parallel=True,
    )
    assert ledger.weights_bytes / GIB == pytest.approx(27.72, rel=0.01)
    assert ledger.activation_bytes / GIB == pytest.approx(1.4, abs=0.05)
    assert ledger.kv_tokens == pytest.approx(238_208, rel=0.05)


# --- properties ----------------------------------------------------------------------


NAMES = ["Qwen3-8B", "gpt-oss-20b", "gemma-3-27b-it", "Qwen3.5-27B", "DeepSeek-V2-Lite"]


@given(st.sampled_from(NAMES), st.integers(20, 400), st.integers(1, 40), st.integers(64, 100_000))
def test_a_larger_card_never_holds_fewer_tokens(
    name: str, gib: int, more: int, length: int
) -> None:
    def tokens(size: int) -> float:
        card = any_card().model_copy(update={"cuda_visible_bytes": size * GIB})
        return ledger_of(name, card, max_model_len=length, max_num_seqs=64).max_concurrency

    assert tokens(gib) <= tokens(gib + more)


@given(st.sampled_from(NAMES), st.integers(1, 200_000), st.integers(1, 5_000))
def test_a_longer_request_never_takes_fewer_blocks(name: str, length: int, more: int) -> None:
    plan = kv_plan(load_shape(name), 1, resolved(VllmSettings(), any_card(), None))
    assert 0 < plan.request_blocks(length) <= plan.request_blocks(length + more)


@given(st.integers(1, 200), st.integers(1, 16))
def test_stages_cover_every_layer_once(layers: int, count: int) -> None:
    bounds = stages(layers, count)
    assert [bounds[0][0], bounds[-1][1]] == [0, layers]
    assert all(a[1] == b[0] for a, b in pairwise(bounds))
    assert max(b - a for a, b in bounds) - min(b - a for a, b in bounds) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_gpus_together_hold_at_least_the_checkpoint(name: str) -> None:
    shape = load_shape(name)
    whole = checkpoint_bytes(shape)
    for layout in (ONE, TWO, Layout(tensor_parallel=2, pipeline_parallel=2)):
        held = fullest_stage(shape, layout).total * layout.gpus
        assert held >= whole * 0.999
        assert fullest_stage(shape, layout).total <= fullest_stage(shape, ONE).total
