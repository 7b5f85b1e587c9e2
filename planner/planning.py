"""The planner's one direction of flow: options, gate, evaluation, decision, plan."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.catalog.beyond import beyond_inference_of
from planner.catalog.loader import Catalog
from planner.cautions import cautions
from planner.decide import decide, engineering_is_sunk
from planner.decision import Decision
from planner.declare import Stack
from planner.demand import Demand
from planner.economics.overrides import overrides_in_use
from planner.economics.prices import PriceBook
from planner.evaluate import Setting
from planner.option import Option
from planner.options import options_of
from planner.plan import Inputs, Plan, Resources, Totals
from planner.policy.document import Operation, Terms, options_document, plan_document
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options, gate_plan
from planner.policy.verdicts import Finding, OptionVerdict, Verdict, run_verdict
from planner.policy.waivers import WaiverBook
from planner.questions import Baseline, decided_facts, emitted_facts
from planner.resources import resources_of
from planner.serving.shape import ModelShape
from planner.stack_inputs import price_book, stack_demand


@dataclass(frozen=True)
class Planned:
    """A plan, and what the policy record needs besides it."""

    plan: Plan
    documents: tuple[dict[str, Any], ...]
    findings: tuple[Finding, ...]


def make_plan(
    stack: Stack,
    catalog: Catalog,
    engine: PolicyEngine,
    *,
    evaluated_at: dt.datetime,
    waivers: WaiverBook,
    shape_of: Callable[[str], ModelShape],
    operation: Operation = "preview",
    baseline: Baseline | None = None,
) -> Planned:
    """Return the plan of ``stack``: gate first, then size, price and choose.

    ``operation`` says what follows: some rules warn before a preview and deny before a
    change. ``baseline`` is the approved plan that protection is compared with.
    Raises PolicyUnavailable when the engine gives no complete answer; a denial
    or an infeasible workload is in the plan, not raised.
    """
    platform = stack.platform
    terms = Terms(operation, platform.regimes, platform.agreements)
    book = price_book(stack, catalog)
    options = {
        workload.name: options_of(workload, platform, catalog, book) for workload in stack.workloads
    }
    everything = [option for group in options.values() for option in group]
    asked = options_document(
        stack.workloads,
        everything,
        stack=stack.name,
        as_of=platform.as_of,
        evaluated_at=evaluated_at,
        groups={group.name: group.countries for group in catalog.groups},
        beyond_inference={option.id: beyond_inference_of(option, catalog) for option in everything},
        terms=terms,
    )
    verdicts = gate_options(engine, asked, everything, waivers)
    demands = {workload.name: stack_demand(workload, stack) for workload in stack.workloads}
    decisions, engineering_usd = _decisions(
        stack, options, verdicts, demands, catalog, book, shape_of
    )
    resources = resources_of(
        decisions, platform, catalog, book, workloads=stack.workloads, shape_of=shape_of
    )
    totals = _totals(decisions, resources, stack, engineering_usd)
    # A plan with an undecided workload cannot proceed: its total is no budget question.
    whole = all(decision.chosen is not None for decision in decisions)
    question = plan_document(
        list(decided_facts(decisions, stack, catalog, baseline)),
        stack=stack.name,
        as_of=platform.as_of,
        evaluated_at=evaluated_at,
        budget_usd_per_month=platform.budget_usd_per_month if whole else None,
        total_usd_per_month=totals.total_usd_per_month if whole else None,
        terms=terms,
        emitted=emitted_facts(resources, stack, catalog),
        baseline=baseline.digest if baseline else None,
    )
    found = gate_plan(engine, question, waivers)
    plan = Plan(
        stack=stack.name,
        as_of=platform.as_of.isoformat(),
        verdict=_verdict(decisions, found),
        decisions=decisions,
        findings=found,
        resources=resources,
        totals=totals,
        inputs=Inputs(
            input_digest=stack.input_digest,
            catalog_digest=catalog.digest,
            policy_digest=engine.facts.bundle_digest or "unknown: the server reports none",
        ),
        overrides=tuple(str(item) for item in overrides_in_use(_chosen(decisions), book, catalog)),
        warnings=tuple(cautions(decisions, stack.workloads, demands, platform, catalog, book)),
    )
    judged = [f for verdict in verdicts.values() for f in verdict.findings]
    return Planned(plan, (asked, question), (*judged, *found))


def _decisions(
    stack: Stack,
    options: Mapping[str, Sequence[Option]],
    verdicts: Mapping[str, OptionVerdict],
    demands: Mapping[str, Demand],
    catalog: Catalog,
    book: PriceBook,
    shape_of: Callable[[str], ModelShape],
) -> tuple[tuple[Decision, ...], float]:
    engineering = stack.platform.engineering
    usd = engineering.usd_per_month if engineering else 0.0
    sunk = engineering_is_sunk(stack.workloads, options, verdicts)
    setting = Setting(
        platform=stack.platform,
        catalog=catalog,
        book=book,
        shape_of=shape_of,
        engineering_usd_per_month=0.0 if sunk else usd,
    )
    return tuple(
        decide(
            workload,
            options[workload.name],
            verdicts,
            demands[workload.name],
            setting,
            engineering_usd_per_month=usd,
        )
        for workload in stack.workloads
    ), usd


def _chosen(decisions: Sequence[Decision]) -> list[Option]:
    return [decision.chosen.option for decision in decisions if decision.chosen]


def _totals(
    decisions: Sequence[Decision], resources: Resources, stack: Stack, engineering_usd: float
) -> Totals:
    chosen = [decision.chosen for decision in decisions if decision.chosen]
    costs = [outcome.cost for outcome in chosen if outcome.cost]
    fixed = sum(cost.fixed_usd_per_month or 0.0 for cost in costs)
    variable = sum(cost.variable_usd_per_month or 0.0 for cost in costs)
    hosts = any(outcome.self_hosted for outcome in chosen)
    engineering = engineering_usd if hosts else 0.0
    total = fixed + variable + engineering
    currency = stack.platform.currency
    return Totals(
        fixed_usd_per_month=fixed,
        variable_usd_per_month=variable,
        engineering_usd_per_month=engineering,
        total_usd_per_month=total,
        sunk_usd_per_month=sum(
            owned.usd_per_month
            for owned in stack.platform.commitments
            if owned.term_end > stack.platform.as_of
        ),
        undecided_workloads=len(decisions) - len(chosen),
        currency=currency.code,
        reported_per_month=total * currency.per_usd * (1 + currency.unrecoverable_tax),
        gpus=sum(pool.max_nodes * pool.gpus_per_node for pool in resources.node_pools),
        nodes=sum(pool.max_nodes for pool in resources.node_pools),
        provisioned_units=sum(
            item.capacity for item in resources.deployments if item.kind == "provisioned"
        ),
    )


def _verdict(decisions: Sequence[Decision], findings: Sequence[Finding]) -> Verdict:
    statuses = {decision.status for decision in decisions}
    verdicts = {finding.verdict for finding in findings}
    verdicts |= {outcome.verdict for d in decisions if (outcome := d.chosen) is not None}
    return run_verdict(statuses, verdicts)
