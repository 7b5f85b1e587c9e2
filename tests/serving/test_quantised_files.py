"""Weight formats of published checkpoints: bytes of their files, in decimal gigabytes."""

from __future__ import annotations

from typing import Any

import pytest

from planner.catalog.shapes import config_of
from planner.errors import InputError
from planner.serving.shape import shape_from_config
from planner.serving.weights import checkpoint_bytes

LLAMA_8B = config_of("meta-llama/Meta-Llama-3.1-8B")


@pytest.mark.parametrize(
    ("method", "gigabytes"),
    [
        # unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit: 5.70 GB of safetensors.
        (
            {
                "quant_method": "bitsandbytes",
                "load_in_4bit": True,
                "bnb_4bit_use_double_quant": True,
                "llm_int8_skip_modules": None,
            },
            5.70,
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 9.08),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 128}, 5.73),
        # amd/Llama-3.1-8B-Instruct-FP8-KV: as every 8-bit checkpoint of it, 9.08 GB.
        (
            {
                "quant_method": "quark",
                "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}},
                "exclude": ["lm_head"],
            },
            9.08,
        ),
    ],
)
def test_published_files(method: dict[str, Any], gigabytes: float) -> None:
    shape = shape_from_config({**LLAMA_8B, "quantization_config": method}, "Llama-3.1-8B")
    assert checkpoint_bytes(shape) / 1e9 == pytest.approx(gigabytes, rel=0.015)


@pytest.mark.parametrize(
    "method",
    [
        {"quant_method": "bitsandbytes"},
        {"quant_method": "quark"},
        {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}},
        {"quant_method": "quark", "global_quant_config": "fp8"},
        {"quant_method": "gguf"},
    ],
)
def test_methods_without_a_known_size_are_refused(method: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="quantization_config"):
        shape_from_config({**LLAMA_8B, "quantization_config": method}, "model")
