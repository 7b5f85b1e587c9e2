"""The plan as text: one line for each workload, then totals; and what the policy says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from planner.capacity import Purchase
from planner.decision import Decision, Outcome
from planner.economics.cost_types import FloorResult
from planner.plan import Plan
from planner.purchases import NOT_SIGNABLE
from planner.report.findings import blocking, findings_text
from planner.report.words import verdict_word
from planner.units import counted, format_share, format_usd, usd_a_month


def summary(plan: Plan) -> str:
    """Return the summary a preview shows."""
    lines = [f"Plan for {plan.stack}, as of {plan.as_of}: {headline_word(plan)}"]
    lines += [f"  {workload_line(decision)}" for decision in plan.decisions]
    denials = [f for f in plan.findings if f.verdict in ("deny", "unavailable")]
    barred = [d for d in plan.decisions if d.status in ("denied", "blocked")]
    for found in (denials, *(list(blocking(decision)) for decision in barred)):
        lines += ["", *findings_text(found)] if found else []
    lines += [f"  warning: {line}" for line in _warned(plan)]
    lines += [f"  warning: {text}" for text in plan.warnings]
    lines += [f"  user-given: {text}" for text in plan.overrides]
    lines += [f"  {purchase_line(item)}" for item in plan.resources.purchases]
    lines += list(_totals(plan))
    return "\n".join(lines) + "\n"


def headline_word(plan: Plan) -> str:
    """Return the policy's verdict, unless it is feasibility that stops the plan."""
    verdict = verdict_word(plan.verdict)
    stopped = any(decision.status == "infeasible" for decision in plan.decisions)
    return (
        f"INFEASIBLE (policy: {verdict})"
        if stopped and plan.verdict in ("allow", "warn")
        else verdict
    )


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
        usd_a_month(_total(outcome)),
    ]
    if outcome.cost and outcome.cost.floor and outcome.cost.floor.step.units:
        parts.append(floor_words(outcome.cost.floor, outcome))
    provisioned = outcome.option.kind == "provisioned"
    if provisioned and outcome.cost and (outcome.cost.dedication_usd_per_month or 0) > 0:
        parts.append(
            f"price of dedication {usd_a_month(outcome.cost.dedication_usd_per_month or 0)}"
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
            f"{counted(size.replicas, 'replica')} ({spares}) on {size.nodes + size.spare_nodes} "
            f"{option.hardware.instance} in {option.region}"
            + (f", spill to {option.spill.deployment_type}" if option.spill else "")
        )
    words = f"{option.deployment_type} {option.model} in {option.region}"
    if option.kind == "provisioned" and outcome.cost and outcome.cost.floor:
        term = f"{option.term_months}-month term" if option.term_months else "hourly, no term"
        spill = f", spill to {option.spill.deployment_type}" if option.spill else ", no spill"
        words = f"{counted(outcome.cost.floor.step.units, 'unit')} {words} ({term}{spill})"
    return words


def purchase_line(item: Purchase) -> str:
    """Return what a person has to sign for, by the digest that the signature names."""
    word = "to sign" if item.signable else NOT_SIGNABLE.lower()
    return (
        f"{word}: {item.workload}, {item.units:,} {item.unit} for "
        f"{counted(item.term_months, 'month')}, {usd_a_month(item.usd_per_month)}; order digest "
        f"{item.order_digest}"
    )


def floor_words(floor: FloorResult, outcome: Outcome) -> str:
    """Return a floor in words; what nobody takes over waits or is refused."""
    unit = "replica" if outcome.option.kind == "self_hosted" else "unit"
    over = "spills" if outcome.option.spill else "waits or is refused"
    return (
        f"floor {counted(floor.step.units, unit)}, {format_share(floor.use_share)} used, "
        f"{format_share(floor.spill_share)} {over}"
    )


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
        f"  total a month: {format_usd(totals.total_usd_per_month)} = fixed "
        f"{format_usd(totals.fixed_usd_per_month)} + usage "
        f"{format_usd(totals.variable_usd_per_month)} + engineering "
        f"{format_usd(totals.engineering_usd_per_month)}"
        + (
            f"; {totals.currency} {totals.reported_per_month:,.0f} with unrecoverable tax"
            if totals.currency != "USD"
            else ""
        )
    )
    if totals.sunk_usd_per_month:
        sunk = usd_a_month(totals.sunk_usd_per_month)
        yield f"  besides, {sunk} is already committed and paid whatever is decided"
    if totals.undecided_workloads:
        yield (
            f"  no decision for {counted(totals.undecided_workloads, 'workload')}: not in the total"
        )
    yield (
        f"  {counted(totals.nodes, 'GPU node')}, {counted(totals.gpus, 'GPU')}, "
        f"{counted(totals.provisioned_units, 'provisioned unit')}"
    )
    yield f"  capacity digest {plan.capacity_digest}"
    yield f"  evidence digest {plan.evidence_digest}"


def _total(outcome: Outcome) -> float:
    return (outcome.cost.total_usd_per_month if outcome.cost else None) or 0.0
