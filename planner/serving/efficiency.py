"""How much of a card's peak its kernels reach: rows of measured factors."""

from __future__ import annotations

import itertools
from typing import Literal

from planner.base import Frozen
from planner.catalog.rows import Accelerator
from planner.serving.parallelism import Interconnect

Precision = Literal["bf16", "fp8", "fp4"]

_KERNELS = "medians over vLLM kernels, NVIDIA aiconfigurator-core 0.12.0 performance database"
_CLOSED_FORM = (
    "closed form checked against 1,042 dense aggregated runs on H100, H200 and B200 "
    "(ai-dynamo/aiconfigurator@095f58a test sample): median error of TPOT 16%"
)


class Efficiency(Frozen):
    """Shares of peak for a weight precision on a card.

    ``bandwidth`` is of memory bandwidth while weights are read, ``compute`` of
    the arithmetic peak in matrix products, ``attention`` of memory bandwidth
    while the KV cache is read.
    """

    accelerator: str
    precision: Precision
    bandwidth: float
    compute: float
    attention: float
    source: str


EFFICIENCIES: tuple[Efficiency, ...] = (
    Efficiency(
        accelerator="",
        precision="bf16",
        bandwidth=0.80,
        compute=0.70,
        attention=0.60,
        source=_CLOSED_FORM,
    ),
    Efficiency(
        accelerator="",
        precision="fp8",
        bandwidth=0.63,
        compute=0.55,
        attention=0.60,
        source=_CLOSED_FORM,
    ),
    Efficiency(
        accelerator="",
        precision="fp4",
        bandwidth=0.50,
        compute=0.40,
        attention=0.60,
        source=_CLOSED_FORM,
    ),
    Efficiency(
        accelerator="A100",
        precision="bf16",
        bandwidth=0.69,
        compute=0.70,
        attention=0.60,
        source=_KERNELS + " (bandwidth); " + _CLOSED_FORM,
    ),
    Efficiency(
        accelerator="L40S",
        precision="bf16",
        bandwidth=0.80,
        compute=0.62,
        attention=0.60,
        source=_KERNELS,
    ),
)

PREFILL_ATTENTION: tuple[tuple[int, float], ...] = (
    (512, 0.16),
    (1_024, 0.26),
    (2_048, 0.40),
    (4_096, 0.52),
    (8_192, 0.58),
    (16_384, 0.62),
)
"""Causal prefill attention: prompt tokens and share of the bf16 peak, H100 (medians
over vLLM kernels, aiconfigurator-core 0.12.0); linear between, flat outside."""

STEP_OVERHEAD_S = 1e-3
"""Scheduling and sampling of one step, seconds (closed form, see the rows)."""

LAYER_OVERHEAD_S = 8e-6
"""Kernel launches and small kernels of one layer in a step, seconds."""


class Link(Frozen):
    """An all-reduce's fixed latency and bus bandwidth at a number of GPUs."""

    interconnect: Interconnect
    gpus: int
    latency_s: float
    bus_bytes_per_s: float
    source: str


_ALLREDUCE = "vLLM custom all-reduce in a CUDA graph, aiconfigurator-core 0.12.0 measurements"

LINKS: tuple[Link, ...] = (
    Link(
        interconnect="nvlink",
        gpus=2,
        latency_s=8e-6,
        bus_bytes_per_s=300e9,
        source=_CLOSED_FORM + "; NVLink of 900 GB/s, scaled by the card's own",
    ),
    Link(interconnect="pcie", gpus=2, latency_s=27e-6, bus_bytes_per_s=19e9, source=_ALLREDUCE),
    Link(interconnect="pcie", gpus=4, latency_s=27e-6, bus_bytes_per_s=3.75e9, source=_ALLREDUCE),
    Link(interconnect="pcie", gpus=8, latency_s=27e-6, bus_bytes_per_s=1.9e9, source=_ALLREDUCE),
)

REFERENCE_NVLINK_BYTES_PER_S = 900e9
"""NVLink of the card the all-reduce bandwidth above belongs to (H100)."""

INTER_NODE_BYTES_PER_S = 50e9
INTER_NODE_LATENCY_S = 10e-6
"""Point to point between pipeline stages, per GPU (aiconfigurator-core 0.12.0)."""


def precision_of(bits: float, method: str) -> Precision:
    """Return the efficiency row's precision for a weight format."""
    if method == "none":
        return "bf16"
    return "fp8" if bits >= 8 else "fp4"


def efficiency_for(accelerator: Accelerator, precision: Precision) -> Efficiency:
    """Return the most specific row: the card's own, else the general one."""
    rows = [
        row
        for row in EFFICIENCIES
        if row.precision == precision and row.accelerator in accelerator.name
    ]
    return max(rows, key=lambda row: len(row.accelerator))


def prefill_attention_share(tokens: float) -> float:
    """Return the share of the bf16 peak that prefill attention reaches."""
    if tokens <= PREFILL_ATTENTION[0][0]:
        return PREFILL_ATTENTION[0][1]
    for (x0, y0), (x1, y1) in itertools.pairwise(PREFILL_ATTENTION):
        if tokens <= x1:
            return y0 + (y1 - y0) * (tokens - x0) / (x1 - x0)
    return PREFILL_ATTENTION[-1][1]


def link_for(accelerator: Accelerator, interconnect: Interconnect, gpus: int) -> Link:
    """Return the link row for ``gpus``, NVLink scaled to the card's own bandwidth."""
    if interconnect in ("nvlink", "nvlink_pair") and accelerator.nvlink_bytes_per_s:
        row = LINKS[0]
        scale = accelerator.nvlink_bytes_per_s / REFERENCE_NVLINK_BYTES_PER_S
        return row.model_copy(update={"bus_bytes_per_s": row.bus_bytes_per_s * scale})
    rows = [row for row in LINKS if row.interconnect == "pcie" and row.gpus >= gpus]
    return rows[0] if rows else LINKS[-1]
