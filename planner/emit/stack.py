"""A whole plan as a Pulumi stack: every resource, and what the stack reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from planner.emit.azure import AzureDeployments, AzureDeploymentsArgs, in_order
from planner.emit.grouping import ClusterResources, clusters
from planner.emit.kubernetes import (
    ServingCluster,
    ServingClusterArgs,
    endpoints,
    missing_kubeconfigs,
)
from planner.emit.steps import manual_steps
from planner.errors import PlannerError
from planner.plan import Plan, ProviderDeployment, rounded


def emit(plan: Plan, *, kubeconfigs: Mapping[str, pulumi.Input[str]]) -> None:
    """Register every resource of ``plan`` and export the stack's outputs.

    ``kubeconfigs`` is keyed by cluster. A cluster without one can be previewed,
    never changed. Everything is checked before the first resource is registered.
    """
    if plan.verdict in ("deny", "unavailable"):
        raise pulumi.RunError(f"the plan's verdict is {plan.verdict}: nothing is emitted.")
    try:
        found = clusters(plan)
        accounts = _azure_accounts(plan)
    except PlannerError as error:
        raise pulumi.RunError(str(error)) from None
    _require_kubeconfigs(found, kubeconfigs)
    for account, deployments in accounts.items():
        AzureDeployments(account, AzureDeploymentsArgs(account, deployments))
    for resources in found:
        ServingCluster(
            resources.cluster,
            ServingClusterArgs(resources, kubeconfigs.get(resources.cluster)),
        )
    for name, value in outputs(plan, found).items():
        pulumi.export(name, value)


def outputs(plan: Plan, found: tuple[ClusterResources, ...]) -> dict[str, Any]:
    """Return what the stack exports: plain values, the same at preview and update."""
    exported: dict[str, Any] = {
        "capacity_digest": plan.capacity_digest,
        "evidence_digest": plan.evidence_digest,
        "verdict": plan.verdict,
        "totals": plan.totals.model_dump(mode="json"),
        "decisions": _decisions(plan),
        "endpoints": {item.cluster: endpoints(item) for item in found},
        "purchases": [purchase.model_dump(mode="json") for purchase in plan.resources.purchases],
        "manual_steps": manual_steps(plan),
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


def _azure_accounts(plan: Plan) -> dict[str, tuple[ProviderDeployment, ...]]:
    """Return the Azure deployments by account, checked."""
    ours = [item for item in plan.resources.deployments if item.provider == "azure"]
    found = {
        account: tuple(item for item in ours if item.account == account)
        for account in sorted({item.account for item in ours})
    }
    for account, deployments in found.items():
        in_order(account, deployments)
    return found


def _require_kubeconfigs(
    found: tuple[ClusterResources, ...], kubeconfigs: Mapping[str, pulumi.Input[str]]
) -> None:
    """Refuse a real run that could only change some of the clusters."""
    missing = [item.cluster for item in found if item.cluster not in kubeconfigs]
    if missing and not pulumi.runtime.is_dry_run():
        raise missing_kubeconfigs(missing)
