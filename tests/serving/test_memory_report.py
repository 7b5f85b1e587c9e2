"""The ``memory`` document: its contract, its flags, its names for cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.shapes import known_models
from planner.errors import InputError
from planner.report.memory import ledger
from planner.report.memory_text import equation
from planner.units import GIB

KEPT = {
    "fits",
    "reason",
    "weights_bytes",
    "kv_bytes_per_token",
    "kv_fixed_bytes_per_sequence",
    "kv_pool_bytes",
    "kv_tokens",
    "max_concurrency",
}


def asked(config: str = "Qwen/Qwen3-32B", gpu: str = "H100", **more: Any) -> dict[str, Any]:
    return ledger(**{"config": config, "gpu": gpu, "tp": 1, "max_model_len": 8_192, **more})


@pytest.mark.parametrize("name", known_models())
def test_every_model_has_a_whole_document(name: str) -> None:
    document = asked(name, "B200", tp=1)
    assert set(document) >= KEPT
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["fits"] is not bool(document["reason"])
    assert document["kv_bytes_per_token"] + document["kv_fixed_bytes_per_sequence"] > 0
    assert equation(document).count("\n") >= 4


def test_the_equation_adds_up_with_its_numbers() -> None:
    """79.18 x 0.9 - 14.99 - 4.76 - 0.13 = 51.38 GiB were measured (llm-d-planner@e50305a)."""
    document = asked(
        "meta-llama/Llama-3.1-8B-Instruct",
        max_model_len=16_000,
        gpu_memory_utilization=0.9,
        vllm_version="0.11.0",
        block_size=128,
    )
    assert document["formula"] == (
        "79.18 GiB x 0.9 - weights 14.96 - activation 4.76 - non-torch 0.14 - graphs 0.00"
        " = KV pool 51.41 GiB"
    )
    assert document["kv_tokens"] % 128 == 0
    assert "131,072 bytes a token" in equation(document)


def test_a_given_pool_is_used_as_it_is() -> None:
    document = asked("Qwen/Qwen3-8B", kv_cache_memory_bytes=round(6.94 * GIB))
    assert document["kv_pool_bytes"] == round(6.94 * GIB)
    assert "as given" in document["formula"]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("RTX 3090", "RTX-3090"),
        ("NVIDIA GeForce RTX 4090", "RTX-4090"),
        ("rtx-3090", "RTX-3090"),
        ("Tesla T4", "T4"),
        ("V100-32GB", "V100-SXM2-32GB"),
        ("A10-24GB", "A10"),
        ("A100 40GB", "A100-SXM4-40GB"),
        ("H100 NVL", "H100-NVL-94GB"),
        ("NVIDIA H200", "H200-SXM-141GB"),
        ("GH200", "GH200-96GB"),
    ],
)
def test_names_of_cards(spelling: str, name: str) -> None:
    assert asked("Qwen/Qwen3-0.6B", spelling)["gpu"] == name


def test_an_unknown_card_is_bad_input() -> None:
    with pytest.raises(InputError, match="--gpu"):
        asked(gpu="H1000")


def test_an_illegal_degree_does_not_fit_and_names_the_nearest() -> None:
    document = asked("microsoft/phi-4", tp=4)
    assert not document["fits"]
    assert document["reason"] == (
        "10 KV heads are not divisible by 4 (nearest: tensor-parallel degree 2)"
    )


def test_more_stages_than_layers_is_a_reason_not_a_crash() -> None:
    document = asked("Qwen/Qwen3-0.6B", pp=40)
    assert "28 layers cannot fill 40 stages" in document["reason"]


def test_one_visible_gpu_cannot_span_two() -> None:
    document = asked(tp=2, gpus_per_node=1)
    assert "exceeds the 1 GPUs of a node" in document["reason"]


def test_pcie_and_other_nodes_are_warned_of_and_start() -> None:
    wide = asked("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "L40S", tp=8, expert_parallel=True)
    assert wide["fits"]
    assert any("need NVLink" in words for words in wide["warnings"])
    assert not asked(tp=8)["warnings"]
    assert any("spans nodes" in words for words in asked(tp=16)["warnings"])


def test_a_context_above_the_models_own_is_warned_of() -> None:
    assert any("VLLM_ALLOW" in words for words in asked(tp=8, max_model_len=50_000)["warnings"])
    assert asked(max_model_len=None)["max_model_len"] == 40_960


def test_bfloat16_is_refused_on_cards_without_it() -> None:
    assert "no bfloat16" in asked("Qwen/Qwen3-0.6B", "T4", dtype="bfloat16")["reason"]
    assert asked("Qwen/Qwen3-0.6B", "T4", dtype="auto")["fits"]


@pytest.mark.parametrize("fits", [True, False])
def test_the_textbook_never_decides(fits: bool) -> None:
    """70B at 16 bits: the hand calculation holds requests on two cards, vLLM starts on four."""
    name = "meta-llama/Llama-3.3-70B-Instruct"
    document = asked(name, "H100", tp=4 if fits else 2, textbook=True, gpu_memory_utilization=0.85)
    assert document["textbook"]["sequences"] > 0
    assert document["fits"] is fits
    assert "does not decide" in equation(document)


@pytest.mark.parametrize(
    ("engine", "start"),
    [
        ("vllm", "79.18 GiB x 0.9 - weights"),
        ("trtllm", "(79.18 GiB - weights"),
        ("sglang", "(79.18 GiB - non-torch 0.55) x 0.9 - weights"),
        ("tgi", "79.18 GiB x 0.9 x 0.9 - weights"),
    ],
)
def test_each_engine_writes_its_own_sum(engine: Any, start: str) -> None:
    document = asked(tp=2, engine=engine, gpu_memory_utilization=0.9)
    assert document["formula"].startswith(start)
    assert document["engine"] == engine


def test_refused_models_say_why() -> None:
    with pytest.raises(InputError, match="compress_ratios"):
        asked("deepseek-ai/DeepSeek-V4-Flash")


def test_a_config_of_ones_own_by_file_or_folder(tmp_path: Path) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
        "vocab_size": 640,
    }
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    assert asked(str(folder / "config.json"))["model"] == "mine"
    assert asked(str(folder))["kv_bytes_per_token"] == 2 * 2 * 4 * 128 * 2


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"vllm_version": "new"}, "--vllm-version"),
        ({"dtype": "float64"}, "--dtype"),
        ({"kv_dtype": "int3"}, "--kv-dtype"),
    ],
)
def test_bad_options_are_named(change: dict[str, str], flag: str) -> None:
    with pytest.raises(InputError, match=flag):
        asked(**change)
