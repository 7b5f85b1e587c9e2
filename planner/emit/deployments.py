"""What deployments of every provider have in common: tags, and what none of them takes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planner import faults
from planner.errors import PlannerError
from planner.plan import ProviderDeployment


def cost_tags(deployment: ProviderDeployment) -> dict[str, str]:
    """Return the tags by which a bill is told apart: workload, tier and owner."""
    tags = {"workload": deployment.workload, "tier": deployment.tier}
    return tags | {"owner": deployment.owner} if deployment.owner else tags


def tag_problems(deployment: ProviderDeployment, allowed: re.Pattern[str], told: str) -> list[str]:
    """Return a problem for each tag that the provider would refuse, at most 256 characters."""
    return [
        f"deployment {deployment.name}: {name} {value!r} cannot be a tag: at most 256 of {told}"
        for name, value in cost_tags(deployment).items()
        if not allowed.fullmatch(value)
    ]


def common_problems(account: str, deployments: Sequence[ProviderDeployment]) -> list[str]:
    """Return what no provider takes: a name twice, nothing asked for, another account's."""
    names = [deployment.name for deployment in deployments]
    problems = [
        f"deployment {name} occurs twice" for name in sorted(set(names)) if names.count(name) > 1
    ]
    for deployment in deployments:
        if deployment.capacity < 1:
            problems.append(f"deployment {deployment.name} has a capacity of {deployment.capacity}")
        if deployment.account != account:
            problems.append(f"deployment {deployment.name} belongs to {deployment.account}")
    return problems


def refuse(account: str, problems: Sequence[str]) -> None:
    """Raise every problem of an account at once, if there is one."""
    if problems:
        raise PlannerError(faults.NOT_EMITTABLE.at(f"account {account}", "; ".join(problems)))
