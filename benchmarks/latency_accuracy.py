"""Hold the latency model against measured loads: python -m benchmarks.latency_accuracy.

Prints a line for each row: time to the first token and inter-token latency as measured and as
modelled at the measured rate. Measured by inference-sim/sim-to-real-accuracy-validation
(@7f3b270 and @dcec3fd): vLLM 0.15.1 on H100 SXM with NVLink, prompts that share their system
part, taken here as 70% cached; the first token at its 99th percentile, so that the 95th of the
model is expected below it. Scout runs in 8 bits.
"""

from __future__ import annotations

from typing import NamedTuple

from planner.catalog.loader import load_catalog
from planner.catalog.shapes import load_shape
from planner.serving.engine import VllmSettings
from planner.serving.shape import quantised_online
from planner.serving.sizing_types import Layout
from planner.serving.speed import Load, RequestProfile, load_of


class Row(NamedTuple):
    """One measured load of a replica."""

    model: str
    degree: int
    requests_per_s: float
    prompt: float
    output: float
    ttft_p99_ms: float
    itl_ms: float
    online_8_bit: bool = False


ROWS = (
    Row("Mixtral-8x7B-v0.1", 2, 20, 547, 248, 77.8, 20.7),
    Row("Mixtral-8x7B-v0.1", 4, 20, 547, 248, 44.0, 11.6),
    Row("Llama-4-Scout-17B-16E-Instruct", 2, 10, 566, 247, 105.1, 26.9, online_8_bit=True),
)


class Compared(NamedTuple):
    """A row with what the model says at its rate, and the errors relative to the measurement."""

    row: Row
    ttft_p95_ms: float
    itl_ms: float

    @property
    def ttft_error(self) -> float:
        """Modelled over measured time to the first token, less one."""
        return self.ttft_p95_ms / self.row.ttft_p99_ms - 1

    @property
    def itl_error(self) -> float:
        """Modelled over measured inter-token latency, less one."""
        return self.itl_ms / self.row.itl_ms - 1


def compared() -> tuple[Compared, ...]:
    """Return every row with the model's figures."""
    found = []
    for row in ROWS:
        load = _load(row)
        running = _running(load, row.requests_per_s)
        found.append(Compared(row, load.ttft_p95(running) * 1000, load.tpot(running) * 1000))
    return tuple(found)


def _load(row: Row) -> Load:
    shape = load_shape(row.model)
    profile = RequestProfile(
        prompt_mean=row.prompt,
        prompt_p95=row.prompt,
        output_mean=row.output,
        output_p95=row.output,
        max_tokens=round(row.output),
        cached_fraction=0.7,
    )
    asked = VllmSettings(
        vllm_version="0.15.1", max_model_len=4096, max_num_seqs=128, max_num_batched_tokens=2048
    )
    return load_of(
        quantised_online(shape) if row.online_8_bit else shape,
        Layout(tensor_parallel=row.degree),
        load_catalog().accelerator("H100-SXM-80GB"),
        "nvlink",
        asked,
        profile,
    )


def _running(load: Load, per_second: float) -> float:
    """Return the running requests at which the replica serves a rate."""
    low, high = 0.0, 128.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if load.rate(middle) < per_second else (low, middle)
    return low


def table() -> str:
    """Return the comparison as a table."""
    lines = [
        "| model | GPUs | requests/s | TTFT measured | modelled | error | ITL measured "
        "| modelled | error |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for item in compared():
        row = item.row
        lines.append(
            f"| {row.model} | {row.degree} | {row.requests_per_s:g} | {row.ttft_p99_ms:g} "
            f"| {item.ttft_p95_ms:.1f} | {item.ttft_error:+.0%} | {row.itl_ms:g} "
            f"| {item.itl_ms:.1f} | {item.itl_error:+.0%} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
