"""vLLM's settings and the defaults that change with its version and the card."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from planner.base import Frozen
from planner.catalog.rows import Accelerator
from planner.units import GIB

KvDtype = Literal["bfloat16", "fp8", "nvfp4"]

LATEST_VLLM = "0.33.0"


class VllmSettings(Frozen):
    """The settings of a vLLM server that decide its memory; None asks for the default.

    ``max_model_len`` None is the model's own limit. ``kv_cache_memory_bytes``
    fixes the KV pool of each GPU instead of deriving it.
    """

    vllm_version: Annotated[str, Field(pattern=r"^\d+\.\d+(\.\d+)?")] = LATEST_VLLM
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    max_model_len: Annotated[int, Field(gt=0)] | None = None
    max_num_seqs: Annotated[int, Field(gt=0)] | None = None
    max_num_batched_tokens: Annotated[int, Field(gt=0)] | None = None
    block_size: Annotated[int, Field(gt=0)] = 16
    dtype: Literal["bfloat16", "float16"] = "bfloat16"
    kv_dtype: KvDtype = "bfloat16"
    kv_cache_memory_bytes: Annotated[int, Field(gt=0)] | None = None
    cuda_graphs: bool = True
    prefix_caching: bool = True
    expert_parallel: bool = False


WITHOUT_BFLOAT16 = ("T4", "V100", "RTX-2080", "Quadro-RTX-8000")
"""Cards below compute capability 8.0: vLLM refuses bfloat16 there, and serves
bfloat16 checkpoints at float16 when no dtype is asked for."""


class EngineRules(Frozen):
    """What a range of vLLM versions does; ``since`` is its first release.

    ``logits_bytes``: memory of the profiling run's sampler per sequence and
    vocabulary entry. ``non_torch_bytes``: the least CUDA holds outside the
    allocator. ``graphs_in_budget``: CUDA graphs are taken from the KV pool.
    ``windows_need_equal_pages``: layers of unequal page size are all charged as
    full attention.
    """

    since: str
    gpu_memory_utilization: float
    logits_bytes: float
    graphs_in_budget: bool
    windows_need_equal_pages: bool
    source: str
    non_torch_bytes: int = 0


ENGINE_RULES: tuple[EngineRules, ...] = (
    EngineRules(
        since="0.0",
        gpu_memory_utilization=0.90,
        logits_bytes=0.0,
        graphs_in_budget=False,
        windows_need_equal_pages=True,
        source="v0 engine: vllm-project/vllm#10517, activation is the forward pass alone; "
        "non-torch 0.35 there and 0.39 GiB in vllm-project/vllm#11251",
        non_torch_bytes=round(0.37 * GIB),
    ),
    EngineRules(
        since="0.8",
        gpu_memory_utilization=0.90,
        logits_bytes=38.4,
        graphs_in_budget=False,
        windows_need_equal_pages=True,
        source="llm-d-incubation/llm-d-planner@e50305a docs/empirical-vllm-memory-results.md: "
        "38.3-38.6 bytes x max_num_seqs x vocabulary beside the hidden states on 7 of 8 starts; "
        "the sort of top-k and top-p (1.25 GiB at 256 x 131,072, vllm-project/vllm#32558)",
    ),
    EngineRules(
        since="0.17",
        gpu_memory_utilization=0.90,
        logits_bytes=17.0,
        graphs_in_budget=False,
        windows_need_equal_pages=True,
        source="a sampler without a sort (vllm-project/vllm#33538): 16.4 bytes of the eighth "
        "start above, which fits no sort, and 17.2 of MiniMax-M2.7 (kaito-project/kaito#2156)",
    ),
    EngineRules(
        since="0.20",
        gpu_memory_utilization=0.92,
        logits_bytes=17.0,
        graphs_in_budget=False,
        windows_need_equal_pages=True,
        source="vllm-project/vllm#38284 (default 0.92)",
    ),
    EngineRules(
        since="0.21",
        gpu_memory_utilization=0.92,
        logits_bytes=17.0,
        graphs_in_budget=True,
        windows_need_equal_pages=False,
        source="vLLM 0.21.0 (graphs profiled); vllm-project/vllm#43308 (unequal pages)",
    ),
)


class CardDefaults(Frozen):
    """Batch limits of the API server by the card's memory (vLLM engine arguments)."""

    at_least_bytes: int
    max_num_seqs: int
    max_num_batched_tokens: int


CARD_DEFAULTS: tuple[CardDefaults, ...] = (
    CardDefaults(at_least_bytes=160 * GIB, max_num_seqs=1024, max_num_batched_tokens=16_384),
    CardDefaults(at_least_bytes=70 * GIB, max_num_seqs=1024, max_num_batched_tokens=8_192),
    CardDefaults(at_least_bytes=0, max_num_seqs=256, max_num_batched_tokens=2_048),
)


class Resolved(Frozen):
    """Settings with every default filled in."""

    rules: EngineRules
    gpu_memory_utilization: float
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    block_size: int
    kv_dtype: KvDtype
    kv_cache_memory_bytes: int | None
    cuda_graphs: bool
    prefix_caching: bool
    expert_parallel: bool


@cache
def version_key(version: str) -> tuple[int, ...]:
    """Return a vLLM version as comparable numbers; a suffix such as rc1 is dropped."""
    parts = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits))
    return tuple(parts)


def rules_for(version: str) -> EngineRules:
    """Return the rules of the newest range that ``version`` has reached."""
    reached = [r for r in ENGINE_RULES if version_key(r.since) <= version_key(version)]
    return reached[-1]


def resolved(settings: VllmSettings, accelerator: Accelerator, model_limit: int | None) -> Resolved:
    """Fill in the defaults for ``accelerator``; A100 counts as a small card, as in vLLM.

    A model without a known limit needs ``max_model_len``; 8,192 stands in. A default
    of running requests is no larger than the tokens of a step (``engine/arg_utils.py``).
    """
    rules = rules_for(settings.vllm_version)
    card = _card_defaults(accelerator)
    utilization = settings.gpu_memory_utilization
    tokens = settings.max_num_batched_tokens or card.max_num_batched_tokens
    return Resolved(
        rules=rules,
        gpu_memory_utilization=rules.gpu_memory_utilization if utilization is None else utilization,
        max_model_len=settings.max_model_len or model_limit or 8_192,
        max_num_seqs=settings.max_num_seqs or min(card.max_num_seqs, tokens),
        max_num_batched_tokens=tokens,
        block_size=settings.block_size,
        kv_dtype=settings.kv_dtype,
        kv_cache_memory_bytes=settings.kv_cache_memory_bytes,
        cuda_graphs=settings.cuda_graphs,
        prefix_caching=settings.prefix_caching,
        expert_parallel=settings.expert_parallel,
    )


def _card_defaults(accelerator: Accelerator) -> CardDefaults:
    small = "A100" in accelerator.name.upper()
    for row in CARD_DEFAULTS:
        if not small and accelerator.memory_bytes >= row.at_least_bytes:
            return row
    return CARD_DEFAULTS[-1]
