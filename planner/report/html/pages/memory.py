"""What fills the memory of one GPU of each self-hosted workload: the KV budget."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decision import Decision, SelfHosted
from planner.report.html.model import Chart, Column, Fact, Page, Reported, Section, Table
from planner.report.html.words import anchor
from planner.serving.sizing_types import MemoryLedger
from planner.units import GIB

COLUMNS = (
    Column("part", "Part"),
    Column("gib", "Memory", "GiB", 2, explains="memory-gib"),
    Column("bytes", "Memory", "bytes"),
    Column("share", "Of the GPU", "share", 3, explains="memory-share"),
)


_KINDS = (
    "weights_bytes",
    "activation_bytes",
    "non_torch_bytes",
    "graph_bytes",
    "kv_pool_bytes",
    "not_given_bytes",
)
"""What explains each of the parts, in their order."""


def page(reported: Reported) -> Page | None:
    """Return a section for each workload on own GPUs; None without any."""
    sections = (
        _workload(decision, decision.chosen.self_hosted, reported)
        for decision in reported.checked.plan.decisions
        if decision.chosen is not None and decision.chosen.self_hosted is not None
    )
    return Page.of("memory", "Memory of a GPU", sections)


def parts_of(ledger: MemoryLedger) -> Iterator[tuple[str, int]]:
    """Yield what fills a GPU and its bytes: the parts add up to its memory."""
    yield "weights", ledger.weights_bytes
    yield "activation", ledger.activation_bytes
    yield "outside PyTorch", ledger.non_torch_bytes
    yield "CUDA graphs", ledger.graph_bytes
    yield "KV pool", ledger.kv_pool_bytes
    given = (
        ledger.weights_bytes
        + ledger.activation_bytes
        + ledger.non_torch_bytes
        + ledger.graph_bytes
        + ledger.kv_pool_bytes
    )
    yield "not given to the engine", ledger.total_bytes - given


def _workload(decision: Decision, size: SelfHosted, reported: Reported) -> Section:
    replica, ledger = size.replica, size.replica.ledger
    id = anchor("memory", decision.workload)
    rows = tuple(
        (part, count / GIB, count, count / ledger.total_bytes) for part, count in parts_of(ledger)
    )
    explain = reported.links(
        {(at, "bytes"): (decision.workload, kind) for at, kind in enumerate(_KINDS)}
    )

    def link(kind: str) -> str | None:
        return reported.link(decision.workload, kind)

    chosen = decision.chosen
    hardware = chosen.option.hardware if chosen is not None else None
    card = hardware.accelerator if hardware is not None else "GPU"
    text = (
        f"{chosen.option.model if chosen else ''}, {replica.layout.label} on {card}, weights "
        f"{replica.precision}, KV cache {replica.kv_dtype}. vLLM may take "
        f"{ledger.gpu_memory_utilization:g} of the card; what weights and overheads leave is "
        "the KV pool.",
    )
    alt = f"Stacked bar: memory of one {card} of {decision.workload}, GiB: " + ", ".join(
        f"{part} {gib:.2f}" for part, gib, _, _ in rows
    )
    return Section(
        id,
        decision.workload,
        text,
        Table(f"{id}.table", f"Memory of one GPU of {decision.workload}", COLUMNS, rows, explain),
        Chart("memory", f"{alt}."),
        folded=True,
        facts=(
            Fact(
                "KV pool", ledger.kv_pool_bytes / GIB, "GiB a GPU", 2, explain=link("kv_pool_bytes")
            ),
            Fact("Holds", ledger.kv_tokens, "tokens", explain=link("kv_tokens")),
            Fact(
                "KV of a token",
                ledger.kv_bytes_per_token,
                "bytes a GPU",
                explain=link("kv_bytes_per_token"),
            ),
            Fact(
                "Full-length requests",
                ledger.max_concurrency,
                "at once",
                2,
                explain=link("max_concurrency"),
            ),
            Fact("Planned batch", replica.max_num_seqs, "requests", explain=link("max_num_seqs")),
            Fact("Limited by", replica.limited_by.replace("_", " ")),
        ),
        key_figures=True,
    )
