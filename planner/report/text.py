"""The plan as text: one line for each workload, then totals; and one workload in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from planner.decision import Decision, Outcome
from planner.economics.cost_types import Cost, FloorResult
from planner.plan import Plan
from planner.policy.verdicts import Finding
from planner.units import GIB, format_share, format_usd

SHOWN_ITEMS = 8
"""Items of a list that a text shows; JSON holds them all."""


def summary(plan: Plan) -> str:
    """Return the summary a preview shows."""
    lines = [f"Plan for {plan.stack}, as of {plan.as_of}: {plan.verdict.upper()}"]
    lines += [f"  {workload_line(decision)}" for decision in plan.decisions]
    denials = [f for f in plan.findings if f.verdict in ("deny", "unavailable")]
    denials += [f for d in plan.decisions if d.status in ("denied", "blocked") for f in blocking(d)]
    for finding in denials:
        lines += ["", *finding_lines(finding)]
    lines += [f"  warning: {line}" for line in _warned(plan)]
    lines += [f"  warning: {text}" for text in plan.warnings]
    lines += [f"  user-given: {text}" for text in plan.overrides]
    lines += list(_totals(plan))
    return "\n".join(lines) + "\n"


def _warned(plan: Plan) -> Iterator[str]:
    """Yield the policy's warnings on the plan and on what was chosen, a line each."""
    for finding in plan.findings:
        if finding.verdict == "warn":
            yield f"{finding.rule_id} {finding.subject}: {finding.message}"
    for decision in plan.decisions:
        if decision.chosen is None:
            continue
        option = decision.chosen.option
        for finding in decision.chosen.findings:
            if finding.verdict == "warn":
                told = finding.message.replace(option.id, option.deployment_type)
                yield f"{finding.rule_id} {decision.workload}: {told}"


def workload_line(decision: Decision) -> str:
    """Return the workload's one line."""
    if decision.chosen is None:
        return f"{decision.workload}: {decision.status.upper()} - {decision.explanation}"
    outcome = decision.chosen
    parts = [
        f"{decision.workload}: {option_words(outcome)}",
        f"{format_usd(_total(outcome))}/month",
    ]
    if outcome.cost and outcome.cost.floor and outcome.cost.floor.step.units:
        parts.append(_floor_words(outcome.cost.floor))
    provisioned = outcome.option.kind == "provisioned"
    if provisioned and outcome.cost and (outcome.cost.dedication_usd_per_month or 0) > 0:
        parts.append(
            f"price of dedication {format_usd(outcome.cost.dedication_usd_per_month or 0)}"
        )
    parts.append(f"tightest: {decision.tightest_objective}")
    parts.append(_runner_up_words(decision))
    return "; ".join(parts)


def option_words(outcome: Outcome) -> str:
    """Return an option in words: what, where, how big."""
    option = outcome.option
    if outcome.self_hosted is not None and option.hardware is not None:
        size = outcome.self_hosted
        spares = f"+{size.spare_replicas} spare" if size.spare_replicas else "no spare"
        return (
            f"self-hosted {option.model} TP{size.replica.layout.tensor_parallel} x "
            f"{size.replicas} replicas ({spares}) on {size.nodes + size.spare_nodes} "
            f"{option.hardware.instance} in {option.region}"
            + (f", spill to {option.spill.deployment_type}" if option.spill else "")
        )
    words = f"{option.deployment_type} {option.model} in {option.region}"
    if option.kind == "provisioned" and outcome.cost and outcome.cost.floor:
        term = f"{option.term_months}-month term" if option.term_months else "hourly, no term"
        spill = f", spill to {option.spill.deployment_type}" if option.spill else ", no spill"
        words = f"{outcome.cost.floor.step.units} units {words} ({term}{spill})"
    return words


def finding_lines(finding: Finding) -> list[str]:
    """Return a finding as a block that needs no Rego to read."""
    return [
        f"  {finding.verdict.upper()} {finding.rule_id} {finding.title} [{finding.severity}]",
        f"    subject:  {finding.subject}",
        f"    why:      {finding.message}",
        f"    observed: {_value(finding.observed)}",
        f"    expected: {_value(finding.expected)}",
        f"    remedy:   {finding.remedy}",
        f"    citation: {finding.citation.document}, {finding.citation.clause}",
    ]


def blocking(decision: Decision) -> Iterator[Finding]:
    """Yield the findings that keep a workload from having any option, each rule once."""
    outcomes = [o for o in decision.others if o.option.pinned] or list(decision.others)
    seen: set[tuple[str, str]] = set()
    for outcome in outcomes:
        for finding in outcome.findings:
            key = (finding.rule_id, finding.subject)
            if finding.verdict in ("deny", "unavailable") and key not in seen:
                seen.add(key)
                yield finding


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
        if decision.flip is not None:
            lines.append(f"    {_flip_words(decision)}")
    if decision.ladder:
        lines += ["", "  under pressure:"] + [f"    {step}" for step in decision.ladder]
    lines += ["", "  not chosen:"]
    ranked = sorted(
        decision.others,
        key=lambda o: (o.extra_usd_per_month is None, o.extra_usd_per_month or 0, o.option.id),
    )
    lines += [f"    {o.option.id}: {o.lost}: {o.why.replace(o.option.id, 'it')}" for o in ranked]
    findings = [f for f in plan.findings if f.subject == decision.workload]
    for finding in [*findings, *(blocking(decision) if decision.chosen is None else ())]:
        lines += ["", *finding_lines(finding)]
    return "\n".join(lines) + "\n"


def _outcome_lines(outcome: Outcome) -> Iterator[str]:
    cost = outcome.cost
    if outcome.self_hosted is not None:
        yield from _memory_lines(outcome)
    if cost is not None:
        yield from _cost_lines(cost)
    if outcome.latency is not None:
        latency = outcome.latency
        yield (
            f"latency ({latency.basis}): TTFT p95 {_ms(latency.ttft_p95_ms)}, "
            f"ITL p95 {_ms(latency.itl_p95_ms)}; {latency.source}"
        )
    if outcome.availability is not None:
        yield f"availability: {outcome.availability:.7g}"
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
        yield f"TP{degree}: {replicas} replicas on {nodes} nodes, {format_usd(usd)}/month"


def _cost_lines(cost: Cost) -> Iterator[str]:
    if cost.status != "known":
        yield f"cost: {cost.status}, {', '.join(cost.missing)}"
        return
    yield (
        f"cost: fixed {format_usd(cost.fixed_usd_per_month or 0)} + variable "
        f"{format_usd(cost.variable_usd_per_month or 0)} = "
        f"{format_usd(cost.total_usd_per_month or 0)}/month"
        + (f" ({format_usd(cost.usd_per_mtok)} per million tokens)" if cost.usd_per_mtok else "")
    )
    if cost.floor is not None and cost.floor.step.units:
        yield _floor_words(cost.floor)
    if cost.p50_reference is not None:
        reference = cost.p50_reference
        yield f"reference floor at p50: {_floor_words(reference)}, " + (
            f"{format_usd(reference.total_usd_per_month)}/month"
        )
    if cost.dedication_usd_per_month is not None:
        yield f"above the same demand pay-as-you-go: {format_usd(cost.dedication_usd_per_month)}"
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


def _floor_words(floor: FloorResult) -> str:
    return (
        f"floor {floor.step.units} units, {format_share(floor.use_share)} used, "
        f"{format_share(floor.spill_share)} spills"
    )


def _flip_words(decision: Decision) -> str:
    flip = decision.flip
    assert flip is not None  # noqa: S101 - the caller has checked
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


def _runner_up_words(decision: Decision) -> str:
    other = next((o for o in decision.others if o.option.id == decision.runner_up), None)
    if other is not None:
        return f"runner-up {option_words(other)}: {other.why}"
    reasons = Counter(str(outcome.lost) for outcome in decision.others)
    if not reasons:
        return "no other option"
    counted = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"no other option could win ({counted})"


def _totals(plan: Plan) -> Iterator[str]:
    totals = plan.totals
    yield ""
    yield (
        f"  total {format_usd(totals.total_usd_per_month)}/month = fixed "
        f"{format_usd(totals.fixed_usd_per_month)} + variable "
        f"{format_usd(totals.variable_usd_per_month)} + engineering "
        f"{format_usd(totals.engineering_usd_per_month)}"
        + (
            f"; {totals.currency} {totals.reported_per_month:,.0f} with unrecoverable tax"
            if totals.currency != "USD"
            else ""
        )
    )
    if totals.sunk_usd_per_month:
        sunk = format_usd(totals.sunk_usd_per_month)
        yield f"  besides, {sunk}/month is already committed and paid whatever is decided"
    if totals.undecided_workloads:
        yield f"  {totals.undecided_workloads} workloads have no decision and are not in the total"
    yield (
        f"  {totals.nodes} GPU nodes, {totals.gpus} GPUs, "
        f"{totals.provisioned_units} provisioned units"
    )
    yield f"  capacity digest {plan.capacity_digest}"
    yield f"  evidence digest {plan.evidence_digest}"


def _total(outcome: Outcome) -> float:
    return (outcome.cost.total_usd_per_month if outcome.cost else None) or 0.0


def _ms(value: float | None) -> str:
    return f"{value:,.0f} ms" if value is not None else "not known"


def _value(value: object) -> str:
    """Return a finding's observed or expected value in words; long lists are cut, and say so."""
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')} {_value(value[key])}" for key in sorted(value))
    if isinstance(value, (list, tuple)):
        shown = ", ".join(str(item) for item in value[:SHOWN_ITEMS])
        more = len(value) - SHOWN_ITEMS
        return f"{shown} and {more} more" if more > 0 else shown or "(none)"
    return str(value)


def check_document(plan: Plan) -> dict[str, object]:
    """Return what the policy says, as plain data: verdict, findings by workload."""
    return {
        "stack": plan.stack,
        "verdict": plan.verdict,
        "workloads": {
            decision.workload: {
                "status": decision.status,
                "explanation": decision.explanation,
                "findings": [f.model_dump(mode="json") for f in blocking(decision)],
            }
            for decision in plan.decisions
        },
        "plan_findings": [finding.model_dump(mode="json") for finding in plan.findings],
        "capacity_digest": plan.capacity_digest,
        "evidence_digest": plan.evidence_digest,
    }


def check_text(plan: Plan) -> str:
    """Return what the policy says: for each workload what it bars, then the plan's findings."""
    lines = [f"Policy on {plan.stack}, as of {plan.as_of}: {plan.verdict.upper()}"]
    for decision in plan.decisions:
        barred = Counter(
            finding.rule_id
            for outcome in decision.others
            for finding in outcome.findings
            if finding.verdict in ("deny", "unavailable")
        )
        counted = ", ".join(f"{rule} x {count}" for rule, count in sorted(barred.items()))
        lines.append(
            f"  {decision.workload}: {decision.status}"
            + (f"; options barred: {counted}" if counted else "; no option barred")
        )
        if decision.status in ("denied", "blocked"):
            for finding in blocking(decision):
                lines += finding_lines(finding)
    for finding in plan.findings:
        lines += finding_lines(finding)
    return "\n".join(lines) + "\n"
