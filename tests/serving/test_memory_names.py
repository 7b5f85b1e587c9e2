"""Names and spellings the memory command takes: cards, dtypes, versions, batch limits.

Cards are written as nvidia-smi, Kubernetes node labels and people write them.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError
from planner.report.memory import ledger
from planner.report.memory_gpu import accelerator


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"),
        ("NVIDIA-H100-80GB-HBM3", "H100-SXM5-80GB"),
        ("h100_sxm", "H100-SXM5-80GB"),
        ("nvidia-h100-mega-80gb", "H100-SXM5-80GB"),
        ("H100 94GB", "H100-NVL-94GB"),
        ("NVIDIA A100 80GB PCIe", "A100-PCIe-80GB"),
        ("NVIDIA A100-PCIE-40GB", "A100-PCIe-40GB"),
        ("A100 SXM", "A100-SXM4-80GB"),
        ("a100 40gb", "A100-SXM4-40GB"),
        ("nvidia-tesla-t4", "T4"),
        ("nvidia-l4", "L4"),
        ("L40", "L40"),
        ("l40s 48gb", "L40S"),
        ("rtx4090", "RTX-4090"),
        ("GeForce-RTX-3090", "RTX-3090"),
        ("RTX 3090 Ti", "RTX-3090-Ti"),
        ("RTX 4060 Ti", "RTX-4060-Ti-8GB"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada"),
        ("RTX PRO 6000 Blackwell Workstation Edition", "RTX-PRO-6000-Server"),
        ("V100 16GB", "V100-SXM2-16GB"),
        ("Tesla V100-PCIE-32GB", "V100-PCIe-32GB"),
        ("B200-192GB", "B200-SXM"),
        ("H20-141GB", "H20-SXM-141GB"),
        ("GH200 480GB", "GH200-96GB"),
        ("AMD Instinct MI300X OAM", "MI300X"),
    ],
)
def test_cards_as_people_write_them(written: str, name: str) -> None:
    assert accelerator(written).name == name


@pytest.mark.parametrize(
    "written", ["", "NVIDIA", "80GB", "H100 40GB", "T4 PCIe", "RTX 6000", "H1000", "x" * 10_000]
)
def test_what_agrees_with_no_card_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="--gpu: unknown accelerator") as caught:
        accelerator(written)
    assert len(str(caught.value)) < 400


def asked(**more: Any) -> dict[str, Any]:
    """Return the ledger of Llama-3.1-8B on one H100, with ``more`` options."""
    options = {"config": "Llama-3.1-8B-Instruct", "gpu": "H100", "tp": 1, "max_model_len": 8192}
    return ledger(**{**options, **more})


def test_spellings_of_options() -> None:
    assert asked(kv_dtype="FP8")["kv_dtype"] == "fp8"
    assert asked(dtype="BF16", gpu="T4")["reason"].startswith("T4 has no bfloat16")
    assert asked(dtype="bf16", gpu="RTX 2080 Ti")["reason"].startswith("RTX-2080-Ti has no")
    assert asked(vllm_version="v0.11.0") == asked(vllm_version="0.11.0")
    assert asked(vllm_version="latest") == asked()


def test_default_of_running_requests_is_within_the_tokens_of_a_step() -> None:
    assert asked(max_num_batched_tokens=512) == asked(max_num_batched_tokens=512, max_num_seqs=512)


def test_fewer_tokens_a_step_than_running_requests_is_refused() -> None:
    found = asked(max_num_batched_tokens=128, max_num_seqs=256)
    assert not found["fits"]
    assert "max_num_batched_tokens 128 is below max_num_seqs 256" in found["reason"]
