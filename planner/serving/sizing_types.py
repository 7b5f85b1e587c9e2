"""What sizing says of a self-hosted replica: fit, capacity and latency."""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen


class Layout(Frozen):
    """How a model is spread over GPUs.

    ``tensor_parallel`` GPUs share each layer, ``pipeline_parallel`` stages share
    the layers. ``attention_data_parallel`` ranks each hold the whole attention
    and the KV cache of their own requests, and share the experts with the other
    ranks. ``expert_parallel`` deals whole experts to GPUs instead of slicing each.
    """

    tensor_parallel: int
    pipeline_parallel: int = 1
    expert_parallel: bool = False
    attention_data_parallel: int = 1

    @property
    def gpus(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.pipeline_parallel * self.attention_data_parallel

    @property
    def expert_ranks(self) -> int:
        """GPUs of a stage that share its routed experts, sliced or dealt."""
        return self.tensor_parallel * self.attention_data_parallel

    @property
    def label(self) -> str:
        """Short name, such as TP8, TP2 PP2 or TP1 DP8 EP."""
        parts = [f"TP{self.tensor_parallel}"]
        if self.pipeline_parallel > 1:
            parts.append(f"PP{self.pipeline_parallel}")
        if self.attention_data_parallel > 1:
            parts.append(f"DP{self.attention_data_parallel}")
        if self.expert_parallel:
            parts.append("EP")
        return " ".join(parts)


class MemoryLedger(Frozen):
    """vLLM's memory sum for one GPU of a replica, in bytes.

    ``kv_pool_bytes`` = total x utilization - weights - activation - non_torch
    - graphs, never below 0. ``kv_tokens`` and ``max_concurrency`` are for
    requests of ``max_model_len``; ``reason`` says why ``fits`` is False.
    """

    total_bytes: int
    gpu_memory_utilization: float
    weights_bytes: int
    activation_bytes: int
    non_torch_bytes: int
    graph_bytes: int
    kv_pool_bytes: int
    kv_bytes_per_token: int
    kv_fixed_bytes_per_sequence: int
    kv_tokens: int
    max_model_len: int
    max_concurrency: float
    fits: bool
    reason: str


class Replica(Frozen):
    """One replica at its planned load: what it holds, serves and how fast.

    ``max_num_seqs`` is the planned running batch; ``requests_per_minute`` the
    rate it sustains within the objectives; latencies are p95 at that rate, in
    milliseconds. ``limited_by`` names what caps the rate.
    """

    layout: Layout
    precision: str
    kv_dtype: str
    ledger: MemoryLedger
    max_num_seqs: int
    max_num_batched_tokens: int
    requests_per_minute: float
    tokens_per_minute: float
    ttft_p95_ms: float
    itl_p95_ms: float
    prefill_share: float
    limited_by: Literal["kv_cache", "itl", "ttft", "compute", "bandwidth"]


class Refusal(Frozen):
    """Why a layout cannot serve: illegal, does not fit, or misses an objective.

    ``shortfall`` states by how much, in words with numbers; ``nearest`` the
    nearest setting that would work, or "" when none is known.
    """

    layout: Layout
    kind: Literal["illegal", "does_not_fit", "misses_objective", "request_too_long"]
    shortfall: str
    nearest: str
