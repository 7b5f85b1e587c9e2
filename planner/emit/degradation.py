"""The degradation ladder as a stack tells it: to people, and to a gateway in front."""

from __future__ import annotations

from typing import Any

from planner.canonical import plain
from planner.plan import Plan, ProviderDeployment


def degradation(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Return each decided workload's steps under pressure, in order, with what holds them."""
    return {
        decision.workload: [plain(rung) for rung in decision.ladder]
        for decision in plan.decisions
        if decision.ladder
    }


def spill_targets(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return where a gateway sends a workload's overflow; nothing wider may stand in for it.

    Overflow that the provider itself sends on is not here: a gateway would send it twice.
    """
    return {
        source.workload: _target(target)
        for source in plan.resources.deployments
        for target in plan.resources.deployments
        if (target.account, target.name) == (source.account, source.gateway_spill_to)
    } | {
        decision.workload: _target(target)
        for decision in plan.decisions
        if decision.chosen is not None and decision.chosen.option.kind == "self_hosted"
        for target in plan.resources.deployments
        if target.workload == decision.workload
    }


def _target(target: ProviderDeployment) -> dict[str, Any]:
    return {
        "deployment": target.name,
        "provider": target.provider,
        "account": target.account,
        "region": target.region,
        "deployment_type": target.deployment_type,
        "scope": target.scope,
        "model": target.model_id or target.model,
        "request_headers": dict(target.request_headers),
    }
