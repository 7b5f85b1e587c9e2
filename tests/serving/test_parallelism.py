from __future__ import annotations

from typing import Any

import pytest

from planner.catalog.shapes import config_of, load_shape
from planner.serving.parallelism import check_layout, legal_layouts
from planner.serving.quantisation import quantisation_of
from planner.serving.shape import ModelShape, shape_from_config
from planner.serving.sizing_types import Layout, Refusal

BLOCK_FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


def degrees(shape: ModelShape, **more: Any) -> list[int]:
    found = legal_layouts(shape, gpus_per_node=8, interconnect="nvlink", **more)
    return [layout.tensor_parallel for layout in found]


def refusal(shape: ModelShape, degree: int, **more: Any) -> Refusal:
    options = {"gpus_per_node": 8, "interconnect": "nvlink", **more}
    found = check_layout(shape, Layout(tensor_parallel=degree), **options)
    assert found is not None
    assert found.kind == "illegal"
    return found


def in_blocks(name: str) -> ModelShape:
    """Return a catalogued model with its layers in 8-bit blocks of 128."""
    return shape_from_config({**config_of(name), "quantization_config": BLOCK_FP8}, name)


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("phi-4", [1, 2]),  # ten KV heads
        ("falcon-7b", [1]),  # 71 heads
        ("Qwen3-235B-A22B", [1, 2, 4, 8]),  # four KV heads are copied at 8
        ("gemma-3-27b-it", [1, 2, 4, 8]),  # gpustack/gpustack#2259 chose 3
        ("Meta-Llama-3.1-70B", [1, 2, 4, 8]),  # vllm-project/vllm#5003 tried 3
        ("Qwen2.5-7B-Instruct", [1, 2, 4]),  # THU-KEG/AdaptThink#1: 8 does not divide 28
        ("gpt-oss-120b", [1, 2, 4, 8]),
        ("DeepSeek-R1", [1, 2, 4, 8]),
        ("Qwen3-Coder-Next", [1, 2, 4, 8]),
        ("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", [1, 2, 4, 8]),
    ],
)
def test_legal_degrees(name: str, legal: list[int]) -> None:
    assert degrees(load_shape(name)) == legal


def test_phi_4_divides_heads_but_not_kv_heads() -> None:
    shape = load_shape("phi-4")
    for degree in (4, 8):
        assert "10 KV heads are not divisible" in refusal(shape, degree).shortfall
    assert "tensor-parallel degree 2" in refusal(shape, 4).nearest


@pytest.mark.parametrize(
    ("heads", "layers", "hidden", "width", "legal", "source"),
    [
        (52, 60, 6656, 17_920, [1, 2, 4], "vllm-project/vllm#414"),
        (40, 40, 5120, 13_824, [1, 2, 4, 8], "vllm-project/vllm#596"),
        (56, 60, 7168, 20_480, [1, 2, 4, 8], "34B of 56 heads"),
    ],
)
def test_multi_head_models(
    make_dense: Any,
    heads: int,
    layers: int,
    hidden: int,
    width: int,
    legal: list[int],
    source: str,
) -> None:
    shape = make_dense(
        layers=layers, heads=heads, kv_heads=heads, hidden=hidden, intermediate=width
    )
    assert degrees(shape) == legal, source
    found = refusal(shape, 3)
    assert f"{heads} attention heads are not divisible by 3" in found.shortfall
    assert found.nearest == "tensor-parallel degree 2 or tensor-parallel degree 4"


def test_fifty_six_heads_do_not_split_sixteen_ways(make_dense: Any) -> None:
    shape = make_dense(layers=60, heads=56, kv_heads=8, hidden=7168, intermediate=20_480)
    assert "56 attention heads" in refusal(shape, 16, gpus_per_node=16).shortfall


@pytest.mark.parametrize(
    ("name", "legal", "failing", "text", "source"),
    [
        ("Qwen3-235B-A22B", [1, 2, 4], 8, "1,536 / 8 = 192", "vllm-project/vllm#48173"),
        ("Qwen3-30B-A3B", [1, 2], 4, "768 / 4 = 192", "vllm-project/vllm#44763"),
        ("Qwen3-Coder-Next", [1, 2, 4], 8, "512 / 8 = 64", "ROCm/ATOM#1944"),
    ],
)
def test_expert_width_must_hold_whole_blocks(
    name: str, legal: list[int], failing: int, text: str, source: str
) -> None:
    shape = in_blocks(name)
    assert degrees(shape) == legal, source
    assert text in refusal(shape, failing).shortfall
    assert "block of 128" in refusal(shape, failing).shortfall
    assert 8 in degrees(shape, expert_parallel=True)
    assert 4 in degrees(load_shape(name))


def test_awq_groups_of_an_odd_number_cannot_be_split(make_dense: Any) -> None:
    """29,568 is 231 groups of 128 (vllm-project/vllm#21695)."""
    shape = make_dense(
        layers=80,
        heads=64,
        kv_heads=8,
        hidden=8192,
        intermediate=29_568,
        quantization_config={"quant_method": "awq", "bits": 4, "group_size": 128},
    )
    assert degrees(shape) == [1]
    assert "awq block of 128" in refusal(shape, 2).shortfall


def test_blocks_do_not_bind_where_layers_are_ignored() -> None:
    ignoring = {**BLOCK_FP8, "modules_to_not_convert": ["re:.*experts.*"]}
    shape = load_shape("Qwen3-235B-A22B").model_copy(
        update={"quantisation": quantisation_of(ignoring)}
    )
    assert 8 in degrees(shape)


def test_a_degree_stays_inside_the_node() -> None:
    """One visible GPU, degree 2 (NVIDIA/dgx-spark-playbooks#63, ai-dynamo/dynamo#4934)."""
    shape = load_shape("Qwen3-8B")
    found = refusal(shape, 2, gpus_per_node=1, interconnect="none")
    assert found.shortfall == "tensor-parallel degree 2 exceeds the 1 GPUs of a node"
    assert found.nearest == "tensor-parallel degree 1"


@pytest.mark.parametrize("link", ["pcie", "nvlink_pair"])
def test_no_more_than_two_without_nvlink(link: Any) -> None:
    shape = load_shape("Meta-Llama-3.1-70B")
    found = legal_layouts(shape, gpus_per_node=8, interconnect=link)
    assert [layout.tensor_parallel for layout in found] == [1, 2]
    assert "need NVLink" in refusal(shape, 4, interconnect=link).shortfall


def test_vision_heads_must_divide_too() -> None:
    shape = load_shape("gemma-3-27b-it").model_copy(update={"vision_heads": 12})
    assert 8 not in degrees(shape)
    assert "vision heads" in refusal(shape, 8).shortfall


def test_stages_need_a_layer_each() -> None:
    shape = load_shape("Qwen3-8B")
    layout = Layout(tensor_parallel=1, pipeline_parallel=40)
    found = check_layout(shape, layout, gpus_per_node=8, interconnect="nvlink")
    assert found is not None
    assert "36 layers cannot fill 40 stages" in found.shortfall
    assert found.nearest == "pipeline-parallel degree 36"


def test_per_layer_kv_heads_are_all_checked() -> None:
    shape = load_shape("Meta-Llama-3.1-70B")
    layer = shape.kinds[0]
    assert layer.mixer is not None
    odd = layer.model_copy(update={"mixer": layer.mixer.model_copy(update={"kv_heads": 6})})
    mixed = shape.model_copy(update={"kinds": (layer, odd), "order": (0, 1)})
    assert "6 KV heads" in refusal(mixed, 4).shortfall
