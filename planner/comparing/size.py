"""How big what was chosen is, and how much room it leaves."""

from __future__ import annotations

from planner.base import Frozen
from planner.decision import Mix, Outcome, SelfHosted
from planner.workload import Kind

SECONDS_PER_MINUTE = 60.0


class Size(Frozen):
    """The capacity chosen for a workload.

    ``gpu`` is the accelerator, None where the provider has the machines. ``units`` counts
    provisioned units. ``served_tokens_per_s`` is what the dedicated part carries in the
    workload's own tokens, None for pay-as-you-go, which has none; demand is the peak.
    ``headroom`` is the share of the peak that is served beyond it, below 0 where the rest
    spills or waits. ``headroom_node_lost`` is the same with one node of a self-hosted
    deployment gone. ``memory_before_kv`` is the share of vLLM's budget for a GPU (its memory
    times ``gpu_memory_utilization``) that weights, activations and the rest take before the
    KV cache gets what is left.
    """

    kind: Kind
    model: str
    region: str
    deployment_type: str
    gpu: str | None = None
    units: int = 0
    term_months: int = 0
    replicas: int = 0
    spare_replicas: int = 0
    nodes: int = 0
    layout: str | None = None
    spill: str | None = None
    served_tokens_per_s: float | None = None
    demanded_tokens_per_s: float = 0.0
    headroom: float | None = None
    headroom_node_lost: float | None = None
    memory_before_kv: float | None = None


def size_of(chosen: Outcome, mix: Mix) -> Size:
    """Return the size of an outcome held against its demand."""
    option, hosted = chosen.option, chosen.self_hosted
    peak = mix.tokens_per_minute_peak
    size = Size(
        kind=option.kind,
        model=option.model,
        region=option.region,
        deployment_type=option.deployment_type,
        term_months=option.term_months,
        spill=f"{option.spill.deployment_type}@{option.spill.region}" if option.spill else None,
        demanded_tokens_per_s=peak / SECONDS_PER_MINUTE,
    )
    if hosted is not None:
        return size.model_copy(update=_hosted(chosen, hosted, peak))
    if option.kind == "provisioned":
        floor = chosen.cost.floor if chosen.cost else None
        return size.model_copy(
            update={
                "units": floor.step.units if floor else 0,
                "served_tokens_per_s": chosen.floor_tokens_per_minute / SECONDS_PER_MINUTE,
                "headroom": _room(chosen.floor_tokens_per_minute, peak),
            }
        )
    return size


def _hosted(chosen: Outcome, hosted: SelfHosted, peak: float) -> dict[str, object]:
    replica, ledger = hosted.replica, hosted.replica.ledger
    budget = ledger.total_bytes * ledger.gpu_memory_utilization
    # Replicas on one node go with it; one over several nodes goes with any of them.
    lost = max(1, hosted.gpus_per_node // replica.layout.gpus)
    left = max(0, hosted.replicas + hosted.spare_replicas - lost)
    return {
        "gpu": chosen.option.hardware.accelerator if chosen.option.hardware else None,
        "replicas": hosted.replicas,
        "spare_replicas": hosted.spare_replicas,
        "nodes": hosted.nodes + hosted.spare_nodes,
        "layout": replica.layout.label,
        "served_tokens_per_s": hosted.replicas * replica.tokens_per_minute / SECONDS_PER_MINUTE,
        "headroom": _room(hosted.replicas * replica.tokens_per_minute, peak),
        "headroom_node_lost": _room(left * replica.tokens_per_minute, peak),
        "memory_before_kv": 1 - ledger.kv_pool_bytes / budget if budget else None,
    }


def _room(served: float, peak: float) -> float | None:
    return served / peak - 1 if peak else None
