from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.catalog.rows import Accelerator, Instance
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings
from planner.serving.memory import vllm_ledger
from planner.serving.performance import replica_at
from planner.serving.queueing import MAX_PREFILL_UTILISATION
from planner.serving.shape import quantised_online
from planner.serving.sizing import (
    nodes_for,
    profile_of,
    replica_candidates,
    replicas_for,
    tensor_degrees,
)
from planner.serving.sizing_types import Layout, Refusal, Replica
from planner.serving.speed import RequestProfile, load_of
from planner.units import GIB
from planner.workload import Lengths, Objectives, TokensPerMinute, Traffic

TWO = Layout(tensor_parallel=2)
CHAT = RequestProfile(
    prompt_mean=2000, prompt_p95=6000, output_mean=300, output_p95=800, max_tokens=1024
)
CARD = Accelerator(
    name="H100-SXM5-80GB",
    aliases=(),
    memory_bytes=80 * GIB,
    cuda_visible_bytes=round(79.18 * GIB),
    bandwidth_bytes_per_s=3.35e12,
    bf16_flops=989e12,
    fp8_flops=1978e12,
    fp4_flops=None,
    nvlink_bytes_per_s=900e9,
    source="test",
)


def served(
    name: str = "Qwen3-32B",
    layout: Layout = TWO,
    profile: RequestProfile = CHAT,
    ttft: float | None = 2000,
    itl: float | None = 60,
    **options: Any,
) -> Replica | Refusal:
    return replica_at(
        load_shape(name),
        layout,
        CARD,
        "nvlink",
        VllmSettings(**options),
        profile=profile,
        ttft_p95_ms=ttft,
        itl_p95_ms=itl,
    )


def replica(*args: Any, **options: Any) -> Replica:
    found = served(*args, **options)
    assert isinstance(found, Replica), found
    return found


def refused(*args: Any, **options: Any) -> Refusal:
    found = served(*args, **options)
    assert isinstance(found, Refusal), found
    return found


def test_a_replica_meets_what_it_was_planned_for() -> None:
    found = replica()
    assert found.itl_p95_ms <= 60
    assert found.ttft_p95_ms <= 2000
    assert found.limited_by == "itl"
    assert found.precision == "bf16"
    assert 0 < found.prefill_share <= MAX_PREFILL_UTILISATION
    assert found.tokens_per_minute == pytest.approx(found.requests_per_minute * 2300)


def test_the_ledger_is_the_one_of_the_planned_batch_and_context() -> None:
    found = replica()
    assert found.ledger.max_model_len == CHAT.longest == 7024
    again = vllm_ledger(
        load_shape("Qwen3-32B"),
        TWO,
        CARD,
        settings=VllmSettings(max_model_len=7024, max_num_seqs=found.max_num_seqs),
    )
    assert again == found.ledger


def test_running_requests_fit_the_cache_at_their_final_length() -> None:
    found = replica(layout=Layout(tensor_parallel=1))
    assert found.limited_by == "kv_cache"
    assert found.max_num_seqs * (2000 + 300) <= found.ledger.kv_tokens


def test_a_batch_tier_fills_every_slot() -> None:
    batch, interactive = replica(ttft=None, itl=None), replica(ttft=None, itl=1000)
    assert batch.requests_per_minute > interactive.requests_per_minute
    assert batch.limited_by in ("kv_cache", "compute", "bandwidth")


def test_a_tight_first_token_objective_lowers_the_rate() -> None:
    loose, tight = replica(), replica(ttft=700)
    assert tight.limited_by == "ttft"
    assert tight.requests_per_minute < loose.requests_per_minute
    assert tight.ttft_p95_ms == pytest.approx(700, rel=0.01)


def test_objectives_below_the_hardware_are_refused_with_the_figures() -> None:
    slow_tokens = refused(itl=5)
    assert slow_tokens.kind == "misses_objective"
    assert "against 5.0 ms" in slow_tokens.shortfall
    slow_start = refused(ttft=50)
    assert slow_start.kind == "misses_objective"
    assert "time to the first token" in slow_start.shortfall


def test_a_model_that_does_not_fit_is_refused_with_the_shortfall() -> None:
    found = refused("DeepSeek-R1", Layout(tensor_parallel=8))
    assert found.kind == "does_not_fit"
    assert "short on each GPU" in found.shortfall
    assert found.nearest


def test_a_request_beyond_the_whole_cache_has_a_way_out() -> None:
    """One request of 131,072 tokens beside 61 GiB of weights on one card."""
    long = CHAT.model_copy(update={"prompt_p95": 39_000.0, "prompt_mean": 39_000.0})
    found = refused(layout=Layout(tensor_parallel=1), profile=long)
    assert found.kind == "request_too_long"
    assert "requests of at most" in found.nearest


def test_a_request_beyond_the_models_or_the_servers_context_is_refused() -> None:
    long = CHAT.model_copy(update={"prompt_p95": 50_000.0})
    assert refused(profile=long).kind == "request_too_long"
    found = refused(max_model_len=4096)
    assert found.kind == "request_too_long"
    assert "7,024 tokens exceeds the limit of 4,096" in found.shortfall


def test_fewer_sequences_are_planned_where_the_sampler_would_take_the_cache() -> None:
    """gpt-oss-120b on one card: nothing is left at 1,024 sequences, requests are at 128."""
    one = Layout(tensor_parallel=1)
    old = {"vllm_version": "0.14.1"}  # its sampler sorts, and so takes twice the memory
    found = replica("gpt-oss-120b", one, **old)
    assert found.ledger.fits
    assert found.max_num_seqs < 256
    assert refused("gpt-oss-120b", one, max_num_seqs=1024, **old).kind in (
        "does_not_fit",
        "request_too_long",
    )


def test_cached_prompts_raise_the_rate() -> None:
    cached = CHAT.model_copy(update={"cached_fraction": 0.8})
    assert replica(profile=cached).requests_per_minute > replica().requests_per_minute


@pytest.mark.parametrize(
    ("name", "degree", "per_second", "prompt", "output", "ttft_p99_ms", "itl_ms"),
    [
        ("Mixtral-8x7B-v0.1", 2, 20, 547, 248, 77.8, 20.7),
        ("Mixtral-8x7B-v0.1", 4, 20, 547, 248, 44.0, 11.6),
        ("Llama-4-Scout-17B-16E-Instruct", 2, 10, 566, 247, 105.1, 26.9),
    ],
)
def test_measured_mixture_of_experts_under_load(
    name: str,
    degree: int,
    per_second: float,
    prompt: float,
    output: float,
    ttft_p99_ms: float,
    itl_ms: float,
) -> None:
    """One replica meets 500 and 50 ms at the measured rate, vLLM 0.15.1 on H100
    (inference-sim/sim-to-real-accuracy-validation@7f3b270 and @dcec3fd; Scout in 8 bits).
    Prompts share their system part, taken here as 70%."""
    profile = RequestProfile(
        prompt_mean=prompt,
        prompt_p95=prompt,
        output_mean=output,
        output_p95=output,
        max_tokens=round(output),
        cached_fraction=0.7,
    )
    asked = VllmSettings(
        vllm_version="0.15.1",
        max_model_len=4096,
        max_num_seqs=128,
        max_num_batched_tokens=2048,
    )
    layout = Layout(tensor_parallel=degree)
    shape = load_shape(name)
    if "Scout" in name:
        shape = quantised_online(shape)
    load = load_of(shape, layout, CARD, "nvlink", asked, profile)
    low, high = 0.0, 128.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if load.rate(middle) < per_second else (low, middle)
    assert load.tpot(low) * 1000 == pytest.approx(itl_ms, rel=0.35)
    assert load.ttft_p95(low) * 1000 == pytest.approx(ttft_p99_ms, rel=0.6)
    found = replica_at(
        shape, layout, CARD, "nvlink", asked, profile=profile, ttft_p95_ms=500, itl_p95_ms=50
    )
    assert isinstance(found, Replica)
    assert found.requests_per_minute >= 0.95 * per_second * 60


@settings(max_examples=25, deadline=None)
@given(st.floats(20, 200), st.floats(500, 8000), st.floats(1.0, 2.0))
def test_looser_objectives_never_lower_the_rate(itl: float, ttft: float, factor: float) -> None:
    tight, loose = served(itl=itl, ttft=ttft), served(itl=itl * factor, ttft=ttft * factor)
    if isinstance(tight, Replica):
        assert isinstance(loose, Replica)
        assert loose.requests_per_minute >= tight.requests_per_minute * (1 - 1e-6)


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 20_000), st.floats(0, 5_000))
def test_more_demand_never_needs_fewer_replicas_or_nodes(demand: float, more: float) -> None:
    found = replica()
    fewer, enough = replicas_for(demand, found), replicas_for(demand + more, found)
    assert fewer <= enough
    assert nodes_for(fewer, TWO, 8) <= nodes_for(enough, TWO, 8)
    assert enough * found.requests_per_minute >= (demand + more) * (1 - 1e-6) - 1e-6


@settings(max_examples=20, deadline=None)
@given(st.floats(100, 5_000), st.floats(1.0, 3.0))
def test_longer_prompts_never_raise_the_rate(prompt: float, factor: float) -> None:
    def rate(mean: float) -> float:
        profile = CHAT.model_copy(update={"prompt_mean": mean, "prompt_p95": mean * 2})
        found = served(profile=profile)
        return found.requests_per_minute if isinstance(found, Replica) else 0.0

    assert rate(prompt * factor) <= rate(prompt) * (1 + 1e-6)


# --- candidates of a machine type ---------------------------------------------------------

NODE = Instance(
    cloud="azure",
    name="eight",
    accelerator=CARD.name,
    gpus=8,
    interconnect="nvlink",
    vcpu=96,
    memory_gib=1900,
)
TRAFFIC = Traffic(
    tokens_per_minute=TokensPerMinute(p10=1e4, p50=5e4, p90=1e5, p99=2e5, peak=3e5),
    output_fraction=0.13,
    prompt_tokens=Lengths(mean=2000, p50=1500, p95=6000),
    output_tokens=Lengths(mean=300, p50=200, p95=800),
    max_tokens=1024,
)
OBJECTIVES = Objectives(ttft_p95_ms=2000, itl_p95_ms=60)


def test_every_degree_is_a_replica_or_a_refusal_smallest_first() -> None:
    shape = load_shape("Meta-Llama-3.1-70B")
    replicas, refusals = replica_candidates(shape, NODE, CARD, VllmSettings(), TRAFFIC, OBJECTIVES)
    assert [found.layout.tensor_parallel for found in replicas] == [2, 4, 8]
    assert [(r.layout.tensor_parallel, r.kind) for r in refusals] == [(1, "does_not_fit")]


def test_illegal_degrees_are_refused_before_memory() -> None:
    replicas, refusals = replica_candidates(
        load_shape("phi-4"), NODE, CARD, VllmSettings(), TRAFFIC, OBJECTIVES
    )
    assert [found.layout.tensor_parallel for found in replicas] == [1, 2]
    assert {r.kind for r in refusals} == {"illegal"}


def test_a_models_token_multiplier_stretches_its_requests() -> None:
    stretched = profile_of(TRAFFIC, 1.5)
    assert (stretched.prompt_mean, stretched.max_tokens) == (3000, 1536)
    assert profile_of(TRAFFIC).longest == 7024


@pytest.mark.parametrize(
    ("gpus", "degrees"), [(1, (1,)), (2, (1, 2)), (6, (1, 2)), (8, (1, 2, 4, 8)), (3, (1,))]
)
def test_degrees_divide_the_node(gpus: int, degrees: tuple[int, ...]) -> None:
    assert tensor_degrees(gpus) == degrees


@pytest.mark.parametrize(
    ("replicas", "tensor", "stages", "nodes"),
    [
        (0, 2, 1, 0),
        (1, 2, 1, 1),
        (4, 2, 1, 1),
        (5, 2, 1, 2),
        (19, 2, 1, 5),
        (3, 4, 1, 2),
        (2, 8, 1, 2),
        (2, 3, 1, 1),
        (3, 8, 2, 6),
        (1, 4, 3, 2),
        (2, 4, 2, 2),
    ],
)
def test_nodes_are_whole_and_replicas_do_not_straddle_them(
    replicas: int, tensor: int, stages: int, nodes: int
) -> None:
    layout = Layout(tensor_parallel=tensor, pipeline_parallel=stages)
    assert nodes_for(replicas, layout, 8) == nodes


def test_no_demand_needs_no_replica() -> None:
    assert replicas_for(0, replica()) == 0
