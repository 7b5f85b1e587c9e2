"""A whole plan as a Pulumi stack: every resource, and what the stack reports."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pulumi

from planner import faults
from planner.canonical import plain
from planner.comparing import snapshot_of
from planner.comparing.packed import packed
from planner.deployed import OUTPUT
from planner.emit.degradation import degradation, spill_targets
from planner.emit.grouping import ClusterResources, clusters
from planner.emit.kubernetes import (
    ServingCluster,
    ServingClusterArgs,
    endpoints,
    missing_kubeconfigs,
)
from planner.emit.providers import AccountResources, accounts, register
from planner.emit.refusal import refuse
from planner.emit.steps import manual_steps
from planner.errors import PlannerError
from planner.plan import Plan, rounded
from planner.purchases import purchase_record, unsigned
from planner.steps import is_bought_by_creation

SIGNED_KEY = "llm-capacity:signed-purchases"


def emit(
    plan: Plan,
    *,
    kubeconfigs: Mapping[str, pulumi.Input[str]],
    signed_purchases: Collection[str] = (),
) -> None:
    """Register every resource of ``plan`` and export the stack's outputs.

    See :func:`register_plan`, which does it without exporting.
    """
    found = register_plan(plan, kubeconfigs=kubeconfigs, signed_purchases=signed_purchases)
    for name, value in found.items():
        pulumi.export(name, value)


def register_plan(
    plan: Plan,
    *,
    kubeconfigs: Mapping[str, pulumi.Input[str]],
    signed_purchases: Collection[str] = (),
    parent: pulumi.Resource | None = None,
) -> dict[str, Any]:
    """Register every resource of ``plan`` below ``parent``; return what there is to report.

    ``kubeconfigs`` is keyed by cluster. A cluster without one can be previewed,
    never changed. ``signed_purchases`` are the order digests that a person signed:
    a resource whose creation is a purchase can be previewed without, never created.
    Everything is checked before the first resource is registered.
    """
    if plan.verdict in ("deny", "unavailable"):
        what = f"the plan's verdict is {plan.verdict}: nothing is emitted"
        raise pulumi.RunError(str(faults.NOT_ALLOWED.at(f"stack {plan.stack}", what)))
    try:
        found = clusters(plan)
        providers = accounts(plan)
    except PlannerError as error:
        raise pulumi.RunError(str(error)) from None
    _require_kubeconfigs(found, kubeconfigs)
    _require_signatures(plan, signed_purchases)
    options = pulumi.ResourceOptions(parent=parent)
    callers = _register(providers, options)
    for resources in found:
        ServingCluster(
            resources.cluster,
            ServingClusterArgs(resources, kubeconfigs.get(resources.cluster)),
            options,
        )
    return {**outputs(plan, found), "model_ids": callers}


def outputs(plan: Plan, found: tuple[ClusterResources, ...]) -> dict[str, Any]:
    """Return what the stack exports: plain values, the same at preview and update."""
    exported: dict[str, Any] = {
        "capacity_digest": plan.capacity_digest,
        "evidence_digest": plan.evidence_digest,
        "verdict": plan.verdict,
        OUTPUT: packed(snapshot_of(plan).deployed().to_json()),
        "totals": plan.totals.model_dump(mode="json"),
        "decisions": _decisions(plan),
        "endpoints": {item.cluster: endpoints(item) for item in found},
        "notes": [note for item in found for note in item.notes()],
        "purchases": [purchase_record(item, plan) for item in plan.resources.purchases],
        "steps": [plain(step) for step in plan.resources.steps],
        "manual_steps": manual_steps(plan),
        "degradation": degradation(plan),
        "spill_targets": spill_targets(plan),
    }
    return {name: rounded(value) for name, value in exported.items()}


def _decisions(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return what was chosen for each workload, and why."""
    found: dict[str, dict[str, Any]] = {}
    for decision in plan.decisions:
        summary: dict[str, Any] = {"status": decision.status, "why": decision.explanation}
        if decision.chosen is not None:
            option, cost = decision.chosen.option, decision.chosen.cost
            summary |= {
                "option": option.id,
                "kind": option.kind,
                "model": option.model,
                "provider": option.provider,
                "region": option.region,
                "deployment_type": option.deployment_type,
                "usd_per_month": cost.total_usd_per_month if cost else None,
            }
        found[decision.workload] = summary
    return found


def _register(
    providers: tuple[AccountResources, ...], options: pulumi.ResourceOptions
) -> dict[str, Any]:
    """Register every account's resources; return what callers name as the model."""
    named: dict[str, Any] = {}
    for resources in providers:
        named |= register(resources, options)
    return named


def _require_signatures(plan: Plan, signed: Collection[str]) -> None:
    """Refuse a real run that would buy what nobody has signed for; say so at preview."""
    pending = [item for item in unsigned(plan, frozenset(signed)) if is_bought_by_creation(item)]
    if not pending:
        return
    lines = [
        f"  {item.workload}: {item.units} {item.unit}, {item.term_months} months, "
        f"purchases/{item.workload}.md, order {item.order_digest}"
        + ("" if item.signable else " (NOT SIGNABLE: CAPACITY IS NOT CONFIRMED)")
        for item in pending
    ]
    what = "creating these units is their purchase, which nobody signed for"
    fix = f"Once signed, add the digests: pulumi config set --path '{SIGNED_KEY}[0]' ORDER_DIGEST."
    refuse(faults.NOT_SIGNED.at(f"stack {plan.stack}", what, fix), lines)


def _require_kubeconfigs(
    found: tuple[ClusterResources, ...], kubeconfigs: Mapping[str, pulumi.Input[str]]
) -> None:
    """Refuse a real run that could only change some of the clusters."""
    missing = [item.cluster for item in found if item.cluster not in kubeconfigs]
    if missing and not pulumi.runtime.is_dry_run():
        raise missing_kubeconfigs(missing)
