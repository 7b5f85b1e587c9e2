"""The context a model serves unasked: what vLLM derives from the position scaling.

Each file's fields and its documented context: Qwen2.5's README adds the YaRN block for
131,072 tokens; the others are stated by their model cards.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.catalog.shapes import config_of
from planner.errors import InputError
from planner.serving.shape import shape_from_config

YARN_4 = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}


@pytest.mark.parametrize(
    ("like", "stated", "scaling", "context"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 32_768, None, 32_768),
        ("Qwen/Qwen2.5-7B-Instruct", 32_768, {"rope_scaling": YARN_4}, 131_072),
        ("Qwen/Qwen2.5-7B-Instruct", 131_072, {"rope_scaling": YARN_4}, 131_072),
        (
            "deepseek-ai/DeepSeek-V3",
            163_840,
            {
                "rope_parameters": {
                    "rope_type": "yarn",
                    "factor": 40,
                    "original_max_position_embeddings": 4096,
                }
            },
            163_840,
        ),
        (
            "meta-llama/Meta-Llama-3.1-8B",
            131_072,
            {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}},
            131_072,
        ),
        (
            "meta-llama/Llama-2-7b-hf",
            4096,
            {"rope_scaling": {"type": "linear", "factor": 8.0}},
            32_768,
        ),
        ("Qwen/Qwen2.5-7B-Instruct", 32_768, {"rope_scaling": {"type": "mrope"}}, 32_768),
        (
            "Qwen/Qwen2.5-7B-Instruct",
            32_768,
            {"rope_scaling": {"type": "yarn", "factor": 4}},
            32_768,
        ),
    ],
)
def test_context(like: str, stated: int, scaling: dict[str, Any] | None, context: int) -> None:
    fields = {**config_of(like), "max_position_embeddings": stated, **(scaling or {})}
    assert shape_from_config(fields, "model").max_context_tokens == context


def test_gemma_3_states_the_scaled_context() -> None:
    fields = config_of("google/gemma-3-27b-it")
    text = {**fields["text_config"], "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    shape = shape_from_config({**fields, "text_config": text}, "model")
    assert shape.max_context_tokens == 131_072


@pytest.mark.parametrize("factor", ["four", -1, 10**9, True, [4]])
def test_a_factor_that_is_none_is_refused(factor: Any) -> None:
    fields = {**config_of("Qwen/Qwen2.5-7B-Instruct"), "rope_scaling": {**YARN_4, "factor": factor}}
    with pytest.raises(InputError, match="factor"):
        shape_from_config(fields, "model")
