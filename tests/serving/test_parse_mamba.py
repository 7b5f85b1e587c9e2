from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError
from planner.serving.layers import Attention, Mamba2
from planner.serving.shape import shape_from_config

BAMBA_9B: dict[str, Any] = {
    "architectures": ["BambaForCausalLM"],
    "model_type": "bamba",
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "attn_layer_indices": [9, 18, 27],
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
    "mamba_n_heads": 128,
    "mamba_d_head": "auto",
    "mamba_n_groups": 1,
    "mamba_d_state": 128,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "tie_word_embeddings": False,
}
GRANITE_4_SMALL: dict[str, Any] = {
    **BAMBA_9B,
    "architectures": ["GraniteMoeHybridForCausalLM"],
    "model_type": "granitemoehybrid",
    "intermediate_size": 768,
    "num_hidden_layers": 40,
    "layer_types": ["attention" if n in (5, 15, 25, 35) else "mamba" for n in range(40)],
    "num_local_experts": 72,
    "num_experts_per_tok": 10,
    "shared_intermediate_size": 1536,
    "vocab_size": 100_352,
    "mamba_d_head": 64,
    "tie_word_embeddings": True,
}


@pytest.mark.parametrize(
    ("config", "billions", "active", "attention"),
    [(BAMBA_9B, 9.78, 9.78, 3), (GRANITE_4_SMALL, 32.2, 9.0, 4)],
    ids=["Bamba-9B", "Granite-4.0-H-Small"],
)
def test_released_models(
    config: dict[str, Any], billions: float, active: float, attention: int
) -> None:
    """Totals and active parameters as their model cards state them."""
    shape = shape_from_config(config, "released")
    assert shape.parameters / 1e9 == pytest.approx(billions, rel=0.01)
    assert shape.active_parameters / 1e9 == pytest.approx(active, rel=0.05)
    kinds = [shape.kinds[index].mixer for index in shape.order]
    assert sum(isinstance(mixer, Attention) for mixer in kinds) == attention
    assert sum(isinstance(mixer, Mamba2) for mixer in kinds) == shape.layer_count - attention


def test_both_spellings_of_the_layer_kinds_are_read() -> None:
    new = {"mamba": "linear_attention", "attention": "full_attention"}
    renamed = [new[kind] for kind in GRANITE_4_SMALL["layer_types"]]
    config = {**GRANITE_4_SMALL, "layer_types": renamed}
    assert shape_from_config(config, "a").order == shape_from_config(GRANITE_4_SMALL, "b").order


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"layer_types": ["mamba"] * 39 + ["convolution"]}, "convolution"),
        ({"layer_types": None}, "layer_types"),
        ({"mamba_d_head": None, "mamba_n_heads": 127}, "mamba_n_heads"),
        ({"num_experts_per_tok": 73}, "num_experts_per_tok"),
    ],
)
def test_what_is_malformed_is_named(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        shape_from_config({**GRANITE_4_SMALL, **changed}, "hybrid")
