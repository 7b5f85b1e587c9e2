"""Layouts beyond one tensor-parallel group: dealt experts, attention ranks, stages, nodes."""

from __future__ import annotations

from typing import Any

import pytest

from planner.catalog.rows import Accelerator
from planner.catalog.shapes import config_of, load_shape
from planner.serving.engine import VllmSettings
from planner.serving.memory import vllm_ledger
from planner.serving.parallelism import (
    check_layout,
    placement_warning,
    preferred_layouts,
    prefers_attention_data_parallel,
)
from planner.serving.shape import ModelShape, shape_from_config
from planner.serving.sizing_types import Layout, MemoryLedger
from planner.serving.weights import checkpoint_bytes, fullest_stage, stage_weights
from planner.units import GIB

TP8 = Layout(tensor_parallel=8)
DP8 = Layout(tensor_parallel=1, attention_data_parallel=8, expert_parallel=True)


def reason(shape: ModelShape, layout: Layout, **more: Any) -> str:
    options = {"gpus_per_node": 8, "interconnect": "nvlink", **more}
    found = check_layout(shape, layout, **options)
    return "" if found is None else f"{found.shortfall} | {found.nearest}"


def ledger_of(name: str, layout: Layout, card: Accelerator, **settings: Any) -> MemoryLedger:
    return vllm_ledger(load_shape(name), layout, card, settings=VllmSettings(**settings))


def test_gpus_and_labels() -> None:
    assert (TP8.gpus, TP8.expert_ranks, TP8.label) == (8, 8, "TP8")
    assert (DP8.gpus, DP8.expert_ranks, DP8.label) == (8, 8, "TP1 DP8 EP")
    both = Layout(tensor_parallel=2, pipeline_parallel=3, attention_data_parallel=4)
    assert (both.gpus, both.expert_ranks, both.label) == (24, 8, "TP2 PP3 DP4")


def test_attention_ranks_share_the_experts_and_copy_the_rest() -> None:
    shape = load_shape("DeepSeek-R1")
    sliced, ranked = stage_weights(shape, TP8, 0), stage_weights(shape, DP8, 0)
    assert ranked.routed_experts == sliced.routed_experts
    assert ranked.layers > 3 * sliced.layers
    assert ranked.total * 8 > checkpoint_bytes(shape)


def test_attention_ranks_hold_several_times_the_latent_cache(make_card: Any) -> None:
    """7.7 times at degree 8 (vllm-project/vllm#51454): a latent cache is never divided."""
    card = make_card("H200", 141, 139.55, tb_s=4.8)
    settings: dict[str, Any] = {"max_model_len": 32_768, "max_num_seqs": 256}
    sliced = ledger_of("DeepSeek-R1", TP8, card, **settings)
    ranked = ledger_of("DeepSeek-R1", DP8, card, **settings)
    assert sliced.kv_bytes_per_token == ranked.kv_bytes_per_token == 70_272
    assert 5 < ranked.kv_tokens / sliced.kv_tokens < 8
    assert ranked.max_concurrency == pytest.approx(ranked.kv_tokens / 32_768, rel=0.01)


def test_no_request_is_spread_over_ranks(make_card: Any) -> None:
    """Eight ranks hold a request each only if one rank holds one."""
    card = make_card("H200", 141, 139.55, tb_s=4.8)
    found = ledger_of("DeepSeek-R1", DP8, card, max_model_len=600_000)
    assert not found.fits
    assert found.max_concurrency > 1
    assert "one request of 600,000 tokens" in found.reason


def test_latent_models_prefer_attention_ranks_others_a_wide_group() -> None:
    options: dict[str, Any] = {"gpus_per_node": 8, "interconnect": "nvlink"}
    assert prefers_attention_data_parallel(load_shape("DeepSeek-R1"))
    assert not prefers_attention_data_parallel(load_shape("Qwen3-235B-A22B"))
    assert preferred_layouts(load_shape("DeepSeek-R1"), 8, **options)[0] == DP8
    assert preferred_layouts(load_shape("Qwen3-32B"), 8, **options)[0] == TP8
    over_two_nodes = preferred_layouts(load_shape("Meta-Llama-3.1-405B"), 16, **options)
    assert over_two_nodes[0] == Layout(tensor_parallel=8, pipeline_parallel=2)
    assert all(layout.gpus == 16 for layout in over_two_nodes)


def test_on_pcie_stages_come_instead_of_wide_groups() -> None:
    found = preferred_layouts(load_shape("Qwen3-32B"), 4, gpus_per_node=4, interconnect="pcie")
    assert found[0] == Layout(tensor_parallel=2, pipeline_parallel=2)
    assert max(layout.tensor_parallel for layout in found) == 2
    assert placement_warning(TP8, "pcie")
    assert not placement_warning(TP8, "nvlink")


def test_dealt_experts_are_offered_where_slices_cut_a_block() -> None:
    shape = load_shape("Qwen3-235B-A22B-FP8")
    said = reason(shape, TP8)
    assert "1,536 / 8 = 192 is not a multiple of the fp8 block of 128" in said
    assert "tensor-parallel degree 4 or tensor-parallel degree 8 with expert parallelism" in said
    assert not reason(shape, Layout(tensor_parallel=8, expert_parallel=True))


def test_experts_must_deal_out_evenly_over_all_ranks() -> None:
    shape = load_shape("GLM-4.6")
    odd = Layout(tensor_parallel=1, attention_data_parallel=3, expert_parallel=True)
    assert "160 experts are not divisible by 3" in reason(shape, odd)


def test_attention_ranks_need_experts_to_share() -> None:
    said = reason(load_shape("Qwen3-32B"), Layout(tensor_parallel=2, attention_data_parallel=2))
    assert "no experts to share" in said
    assert "tensor-parallel degree 2 without attention data parallelism" in said


def test_state_groups_divide_or_are_one(make_dense: Any) -> None:
    """mamba_mixer2.py: n_groups % tp = 0, or a single group that is copied."""
    config = config_of("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")
    wide = shape_from_config({**config, "num_attention_heads": 48, "n_groups": 4}, "nano")
    assert "4 state groups are not divisible by 8" in reason(wide, TP8)
    single = shape_from_config({**config, "n_groups": 1}, "nano")
    assert not reason(single, TP8)


def test_groups_of_experts_are_halved_where_the_loader_does() -> None:
    """moe_wna16.py halves groups of AWQ and GPTQ experts down to 32; dense ones stay."""
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    config = {**config_of("Qwen3-235B-A22B"), "quantization_config": quantised}
    assert not reason(shape_from_config(config, "gptq"), TP8)
    narrow = shape_from_config({**config, "moe_intermediate_size": 1_536 + 64}, "gptq")
    assert "1,600 / 8 = 200" in reason(narrow, TP8)


def test_blocks_bind_the_attention_as_well(make_dense: Any) -> None:
    """validate_fp8_block_shape: a GPU's keys of 64 are half a block of 128."""
    shape = make_dense(
        layers=2,
        heads=16,
        kv_heads=8,
        head_dim=64,
        hidden=1024,
        intermediate=4096,
        quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]},
    )
    assert "key width of 64 on each of 8 GPUs" in reason(shape, TP8)
    assert not reason(shape, Layout(tensor_parallel=4))


def test_padded_experts_are_wider_on_eight_gpus() -> None:
    """gpt-oss-120b loads 9.98 GiB on each of eight (vllm-project/vllm#51590), not 7.9."""
    shape = load_shape("gpt-oss-120b")
    assert fullest_stage(shape, TP8).total / GIB == pytest.approx(9.98, rel=0.08)
    dealt = Layout(tensor_parallel=8, expert_parallel=True)
    assert fullest_stage(shape, dealt).total < fullest_stage(shape, TP8).total


def test_only_the_last_stage_samples(h100: Accelerator) -> None:
    """The first stage has more left, so the last decides: MiniMax over two by two stages."""
    two = Layout(tensor_parallel=2, pipeline_parallel=2)
    found = ledger_of("MiniMax-M2", two, h100, max_model_len=8_192)
    one_seq = ledger_of("MiniMax-M2", two, h100, max_model_len=8_192, max_num_seqs=1)
    assert found.activation_bytes > one_seq.activation_bytes
    assert found.kv_bytes_per_token == 63_488
