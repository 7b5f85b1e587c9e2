from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.rows import Accelerator
from planner.serving.shape import ModelShape, shape_from_config
from planner.units import GIB

SHARED = Path(__file__).resolve().parents[3] / "shared"

MakeCard = Callable[..., Accelerator]
MakeShape = Callable[..., ModelShape]


def card_of(
    name: str = "H100-SXM5-80GB",
    gib: float = 80,
    visible_gib: float | None = None,
    *,
    tb_s: float = 3.35,
    bf16: float = 989,
    fp8: float | None = 1978,
    nvlink_gb_s: float | None = 900,
) -> Accelerator:
    return Accelerator(
        name=name,
        aliases=(),
        memory_bytes=round(gib * GIB),
        cuda_visible_bytes=round((visible_gib or gib) * GIB),
        bandwidth_bytes_per_s=tb_s * 1e12,
        bf16_flops=bf16 * 1e12,
        fp8_flops=fp8 * 1e12 if fp8 else None,
        fp4_flops=None,
        nvlink_bytes_per_s=nvlink_gb_s * 1e9 if nvlink_gb_s else None,
        source="test",
    )


def dense_of(
    *,
    layers: int,
    heads: int,
    kv_heads: int,
    hidden: int,
    intermediate: int,
    head_dim: int | None = None,
    vocabulary: int = 32_000,
    context: int = 32_768,
    **more: Any,
) -> ModelShape:
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "head_dim": head_dim,
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        **more,
    }
    return shape_from_config(config, "declared")


@pytest.fixture
def make_card() -> MakeCard:
    return card_of


@pytest.fixture
def make_dense() -> MakeShape:
    return dense_of


@pytest.fixture
def h100() -> Accelerator:
    return card_of(visible_gib=79.18)


@pytest.fixture
def a100() -> Accelerator:
    return card_of(
        "A100-SXM4-80GB", visible_gib=79.25, tb_s=2.039, bf16=312, fp8=None, nvlink_gb_s=600
    )


@pytest.fixture
def l40s() -> Accelerator:
    return card_of("L40S", 44.99, 44.42, tb_s=0.864, bf16=362.05, fp8=733, nvlink_gb_s=None)


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return SHARED


@pytest.fixture
def released_config(shared: Path) -> Callable[[str], dict[str, Any]]:
    def read(name: str) -> dict[str, Any]:
        path = shared / "data" / "model_configs" / f"{name.replace('/', '--')}.json"
        if not path.is_file():
            pytest.skip(f"{path.name} is not in the shared data")
        return json.loads(path.read_text(encoding="utf-8"))

    return read
