"""What gives way under pressure, in order, for a workload on its chosen option."""

from __future__ import annotations

from planner.decision import Outcome
from planner.economics.floor import SPILL_TOLERANCE
from planner.units import format_share
from planner.workload import Workload


def degradation_ladder(workload: Workload, chosen: Outcome) -> tuple[str, ...]:
    """Return the steps in the order taken: shed batch, spill, queue, reject early."""
    steps = [_first(workload), _spill(workload, chosen)]
    if chosen.self_hosted is not None:
        replica = chosen.self_hosted.replica
        longest = min(replica.ledger.max_model_len, replica.ledger.kv_tokens)
        steps.append(
            f"queue within limits, {replica.max_num_seqs} running requests a replica; beyond "
            "that answer 503 early instead of queueing without end"
        )
        steps.append(
            f"a request above {longest:,} tokens is rejected at once: shorten it, or ask for "
            "a larger max-model-len"
        )
    else:
        steps.append("answer 429 with retry-after; clients back off")
    return tuple(step for step in steps if step)


def _first(workload: Workload) -> str:
    if workload.tier == "batch":
        return "shed first: batch waits for its window and never competes with interactive"
    return "batch on the same platform is shed first; it has its own deployments"


def _spill(workload: Workload, chosen: Outcome) -> str:
    option, floor = chosen.option, chosen.cost.floor if chosen.cost else None
    if option.spill is not None and floor is not None:
        return (
            f"spill to {option.spill.deployment_type} in {option.spill.region} "
            f"({format_share(floor.spill_share)} of demand expected): cost degrades, not service"
        )
    if option.kind == "payg":
        return ""
    if workload.classification == "restricted":
        return "no spill: restricted data has no admissible place to spill to"
    if floor is not None and floor.spill_share > SPILL_TOLERANCE:
        return (
            "no spill target is used: capacity covers the peak of whole minutes, and "
            f"{format_share(floor.spill_share)} of demand waits in bursts inside them"
        )
    return "no spill target is used: capacity covers the peak"
