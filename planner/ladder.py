"""What gives way under pressure, in order, for a workload on its chosen option."""

from __future__ import annotations

from planner.catalog.loader import Catalog
from planner.decision import Outcome, Rung
from planner.economics.floor import SPILL_TOLERANCE
from planner.providers import sends_on
from planner.units import format_share
from planner.workload import Workload


def degradation_ladder(workload: Workload, chosen: Outcome, catalog: Catalog) -> tuple[Rung, ...]:
    """Return the steps in the order taken: shed batch, spill, queue, reject early."""
    hosted = chosen.self_hosted
    rungs = [_first(workload, chosen), _spill(workload, chosen, catalog)]
    if hosted is None:
        rungs.append(
            Rung(
                step="answer 429 with retry-after; clients back off",
                by="provider",
                held_by="its own limits; the backing off is the callers' to build",
            )
        )
        return tuple(rung for rung in rungs if rung is not None)
    replica = hosted.replica
    longest = min(replica.ledger.max_model_len, replica.ledger.kv_tokens)
    rungs += [
        Rung(
            step=f"queue within limits, {replica.max_num_seqs} running requests a replica; beyond "
            "that answer 503 early instead of queueing without end",
            by="platform",
            held_by="vLLM's --max-num-seqs, --max-num-queued-reqs and --max-num-queued-tokens, "
            "where its release has them",
        ),
        Rung(
            step=f"a request above {longest:,} tokens is rejected at once: shorten it, or ask for "
            "a larger max-model-len",
            by="platform",
            held_by="vLLM's --max-model-len",
        ),
    ]
    return tuple(rung for rung in rungs if rung is not None)


def _first(workload: Workload, chosen: Outcome) -> Rung:
    on_cluster = chosen.self_hosted is not None
    if workload.tier == "batch":
        return Rung(
            step="shed first: batch waits for its window and never competes with interactive",
            by="platform" if on_cluster else "caller",
            held_by="PriorityClass of the batch tier: below all others, preempting nobody"
            if on_cluster
            else "the job's own scheduler: it waits and tries again",
        )
    return Rung(
        step="batch on the same platform is shed first; it has its own deployments",
        by="platform" if on_cluster else "caller",
        held_by="PriorityClass of the interactive tier, a quota and pools for each tier"
        if on_cluster
        else "separate deployments; whoever runs batch has to stop it",
    )


def _spill(workload: Workload, chosen: Outcome, catalog: Catalog) -> Rung | None:
    option, floor = chosen.option, chosen.cost.floor if chosen.cost else None
    if option.spill is not None and floor is not None:
        step = (
            f"spill to {option.spill.deployment_type} in {option.spill.region} "
            f"({format_share(floor.spill_share)} of demand expected): cost degrades, not service"
        )
        if option.account and sends_on(option, option.spill.deployment_type, catalog):
            return Rung(step=step, by="provider", held_by="its own spillover, as it is deployed")
        return Rung(
            step=step,
            by="gateway",
            held_by=f"a router in front, to the stack's output spill_targets.{workload.name}",
        )
    if option.kind == "payg":
        return None
    if workload.classification == "restricted":
        step = "no spill: restricted data has no admissible place to spill to"
    elif floor is not None and floor.spill_share > SPILL_TOLERANCE:
        step = (
            "no spill target is used: capacity covers the peak of whole minutes, and "
            f"{format_share(floor.spill_share)} of demand waits in bursts inside them"
        )
    else:
        step = "no spill target is used: capacity covers the peak"
    hosted = chosen.self_hosted is not None
    return Rung(
        step=step,
        by="platform" if hosted else "gateway",
        held_by="servers reach nothing that their network policy does not name"
        if hosted
        else "no target is deployed: a router in front must not invent one",
    )
