"""What a plan takes away from the one in force, where taking away cannot be undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner.capacity import ProviderDeployment, Resources
from planner.plan import Plan

Key = tuple[str, str, str]


_PAID_TO_THE_END = "what is bought for its {}-month term is paid to the end"
_PAID = {
    "azure": "the reservation for its {}-month term bills on, until exchanged or refunded",
    "gcp": "an order shrinks at its renewal only: its {}-month term is paid to the end",
}
"""What going smaller inside a term saves: nothing by itself."""


def protection_of(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return how each workload of an approved plan is protected, by name.

    Keys are ``classification`` and ``jurisdictions`` (as declared).
    """
    return {
        decision.workload: {
            "classification": decision.classification,
            "jurisdictions": list(decision.residency),
        }
        for decision in plan.decisions
    }


def scale_down_warnings(old: Resources, new: Resources) -> list[str]:
    """Return what going from ``old`` to ``new`` gives back or breaks, sorted.

    Only provisioned deployments count: pay-as-you-go has nothing to give back, and
    GPU nodes on demand are released and rented again at the same price.
    """
    before, after = _provisioned(old), _provisioned(new)
    found: list[str] = []
    for key in sorted(before):
        found += _warnings(before[key], after.get(key))
    return found


def _provisioned(resources: Resources) -> dict[Key, ProviderDeployment]:
    return {
        (item.provider, item.account, item.name): item
        for item in resources.deployments
        if item.kind == "provisioned"
    }


def _warnings(old: ProviderDeployment, new: ProviderDeployment | None) -> Iterator[str]:
    name = f"{old.name} ({old.deployment_type}, {old.provider} account {old.account})"
    unsold = "they may not be there again, quota or not"
    term = f" before its {old.term_months}-month term ends" if old.term_months else ""
    if new is None:
        yield f"{name} is removed{term}: {old.capacity:,} units are given back for good; {unsold}"
        if old.term_months:
            yield f"{name}: what is bought for its {old.term_months}-month term is paid to the end"
        return
    changed = _replacing(old, new)
    if changed:
        what = ", ".join(changed)
        yield f"{name} is replaced ({what}): {old.capacity:,} units are given back; {unsold}"
    elif new.capacity < old.capacity:
        yield (
            f"{name} shrinks from {old.capacity:,} to {new.capacity:,} units: "
            f"{old.capacity - new.capacity:,} are given back for good; {unsold}"
        )
    if old.term_months and (changed or new.capacity < old.capacity):
        yield f"{name}: {_PAID.get(old.provider, _PAID_TO_THE_END)}".format(old.term_months)
    bedrock = old.provider == "aws" and (changed or new.capacity != old.capacity)
    if bedrock and old.term_months:
        yield (
            f"{name}: every change replaces model units, and a replacement inside the "
            f"{old.term_months}-month term is billed beside the old ones until it ends: twice"
        )


def _replacing(old: ProviderDeployment, new: ProviderDeployment) -> list[str]:
    """Return the changes that no provider makes in place."""
    named = {
        "model": (old.model, new.model),
        "deployment type": (old.deployment_type, new.deployment_type),
        "region": (old.region, new.region),
        "resource group": (old.resource_group, new.resource_group),
    }
    if old.provider == "aws":
        named["model ARN"] = (old.model_arn, new.model_arn)
        named["term"] = (f"{old.term_months} months", f"{new.term_months} months")
    return [f"{what} {a} to {b}" for what, (a, b) in named.items() if a != b]
