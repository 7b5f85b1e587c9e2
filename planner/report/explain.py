"""One workload of a plan in full: every number behind its decision."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decision import Decision, Outcome
from planner.economics.cost_types import Cost
from planner.plan import Plan
from planner.report.findings import blocking, findings_text
from planner.report.text import floor_words, option_words, purchase_line
from planner.units import GIB, counted, format_availability, format_share, format_usd, usd_a_month


def explain(plan: Plan, decision: Decision) -> str:
    """Return everything the plan knows of one workload, with its numbers."""
    mix = decision.mix
    lines = [
        f"{decision.workload} ({decision.tier}, {decision.classification}, owner {decision.owner})",
        f"  status: {decision.status} - {decision.explanation}",
        f"  residency: {', '.join(decision.residency)}",
        f"  demand: p50 {mix.tokens_per_minute_p50:,.0f}, p90 {mix.tokens_per_minute_p90:,.0f}, "
        f"peak {mix.tokens_per_minute_peak:,.0f} tokens/min over "
        f"{mix.active_hours_per_month:,.0f} active h/month; "
        f"{mix.tokens_per_month / 1e9:,.3f} B tokens/month (growth factor "
        f"{mix.growth_factor:.3f} included)",
        f"  mix: output fraction {mix.output_fraction:g}, cached share of input "
        f"{mix.cached_fraction:g}",
        f"  source: {mix.source}",
    ]
    if decision.chosen is not None:
        lines += ["", f"  chosen: {option_words(decision.chosen)}"]
        lines += [f"    {line}" for line in _outcome_lines(decision.chosen)]
        own = (item for item in plan.resources.purchases if item.workload == decision.workload)
        lines += [f"    {purchase_line(item)}" for item in own]
        if decision.flip is not None:
            lines.append(f"    {_flip_words(decision)}")
    if decision.ladder:
        lines += ["", "  under pressure:"] + [
            f"    {rung.step} [{rung.by}: {rung.held_by}]" for rung in decision.ladder
        ]
    lines += ["", "  not chosen:"]
    ranked = sorted(
        decision.others,
        key=lambda o: (o.extra_usd_per_month is None, o.extra_usd_per_month or 0, o.option.id),
    )
    lines += [f"    {o.option.id}: {o.lost}: {o.why.replace(o.option.id, 'it')}" for o in ranked]
    findings = [f for f in plan.findings if f.subject == decision.workload]
    for found in (findings, list(blocking(decision)) if decision.chosen is None else []):
        lines += ["", *findings_text(found)] if found else []
    return "\n".join(lines) + "\n"


def _outcome_lines(outcome: Outcome) -> Iterator[str]:
    cost = outcome.cost
    if outcome.self_hosted is not None:
        yield from _memory_lines(outcome)
    if cost is not None:
        yield from _cost_lines(cost, outcome)
    if outcome.latency is not None:
        latency = outcome.latency
        yield (
            f"latency ({latency.basis}): TTFT p95 {_ms(latency.ttft_p95_ms)}, "
            f"ITL p95 {_ms(latency.itl_p95_ms)}; {latency.source}"
        )
    if outcome.availability is not None:
        yield f"availability: {format_availability(outcome.availability)}"
    yield from outcome.notes


def _memory_lines(outcome: Outcome) -> Iterator[str]:
    size = outcome.self_hosted
    assert size is not None  # noqa: S101 - the caller has checked
    ledger = size.replica.ledger
    yield (
        f"memory per GPU (GiB): {ledger.total_bytes / GIB:.2f} x "
        f"{ledger.gpu_memory_utilization:g} - weights {ledger.weights_bytes / GIB:.2f} - "
        f"activation {ledger.activation_bytes / GIB:.2f} - non-torch "
        f"{ledger.non_torch_bytes / GIB:.2f} - graphs {ledger.graph_bytes / GIB:.2f} = "
        f"KV pool {ledger.kv_pool_bytes / GIB:.2f}"
    )
    yield (
        f"KV: {ledger.kv_bytes_per_token:,} B/token/GPU, {ledger.kv_tokens:,} tokens, "
        f"{ledger.max_concurrency:.2f} requests of {ledger.max_model_len:,} tokens"
    )
    yield (
        f"each replica: up to {size.replica.max_num_seqs} running requests, "
        f"{size.replica.requests_per_minute:,.1f} requests/min, limited by "
        f"{size.replica.limited_by}"
    )
    for degree, replicas, nodes, usd in size.per_layout_usd:
        yield (
            f"TP{degree}: {counted(replicas, 'replica')} on {counted(nodes, 'node')}, "
            f"{usd_a_month(usd)}"
        )


def _cost_lines(cost: Cost, outcome: Outcome) -> Iterator[str]:
    if cost.status != "known":
        yield f"cost: {cost.status}, {', '.join(cost.missing)}"
        return
    yield (
        f"cost a month: fixed {format_usd(cost.fixed_usd_per_month or 0)} + usage "
        f"{format_usd(cost.variable_usd_per_month or 0)} = "
        f"{format_usd(cost.total_usd_per_month or 0)}"
        + (f" ({format_usd(cost.usd_per_mtok)} per million tokens)" if cost.usd_per_mtok else "")
    )
    if cost.floor is not None and cost.floor.step.units:
        yield floor_words(cost.floor, outcome)
    if cost.p50_reference is not None:
        reference = cost.p50_reference
        yield f"reference floor at p50: {floor_words(reference, outcome)}, " + (
            usd_a_month(reference.total_usd_per_month)
        )
    if cost.dedication_usd_per_month is not None:
        yield f"above the same demand pay-as-you-go: {usd_a_month(cost.dedication_usd_per_month)}"
    if cost.break_even is not None:
        even = cost.break_even
        at = even.note
        if even.tokens_per_month is not None:
            at = (
                f"{even.tokens_per_month / 1e9:,.3f} B tokens/month "
                f"({format_share(even.utilization or 0)} of capacity)"
            ) + (f"; {even.note}" if even.note else "")
        yield (
            f"break-even at f={even.output_fraction:g}, cached {even.cached_fraction:g}, "
            f"{format_usd(even.blended_usd_per_mtok)} per million: {at}"
        )
    if cost.exit is not None:
        yield f"exit: {format_usd(cost.exit.usd)}; {cost.exit.note}"
    yield from (f"price: {source}" for source in cost.price_sources)


def _flip_words(decision: Decision) -> str:
    flip = decision.flip
    assert flip is not None  # noqa: S101 - the caller has checked
    if flip.demand_factor == 1.0:
        return f"{flip.runner_up} is cheaper today already; what is live is kept for the gain band"
    demand = (
        f"demand x {flip.demand_factor:.3g}"
        if flip.demand_factor is not None
        else "no demand from 0.01 to 100 times this one"
    )
    mix = (
        f"output fraction {flip.output_fraction:.3g}"
        if flip.output_fraction is not None
        else "no output fraction"
    )
    return f"flips to {flip.runner_up} at {demand}; at {mix}"


def _ms(value: float | None) -> str:
    return f"{value:,.0f} ms" if value is not None else "not known"
