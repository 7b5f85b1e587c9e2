"""A plan's provider side, account by account, checked before anything exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pulumi

from planner import faults
from planner.emit import aws, azure, gcp
from planner.emit.aws import BedrockCapacity, BedrockCapacityArgs
from planner.emit.azure import AzureDeployments, AzureDeploymentsArgs
from planner.emit.gcp import VertexProject, VertexProjectArgs
from planner.errors import PlannerError
from planner.plan import Plan, ProviderAccount, ProviderDeployment

_CHECKS = {"azure": azure.in_order, "aws": aws.check, "gcp": gcp.check}


@dataclass(frozen=True)
class AccountResources:
    """One provider account and the plan's deployments in it."""

    account: ProviderAccount
    deployments: tuple[ProviderDeployment, ...]


def accounts(plan: Plan) -> tuple[AccountResources, ...]:
    """Return the accounts with deployments, by name, or say what cannot be emitted."""
    declared = {item.name: item for item in plan.resources.accounts}
    found: list[AccountResources] = []
    problems: list[str] = []
    for name in sorted({item.account for item in plan.resources.deployments}):
        ours = tuple(item for item in plan.resources.deployments if item.account == name)
        account = declared.get(name) or _implied(ours[0])
        if account.create and account.provider != "azure":
            problems.append(f"account {name}: only Azure accounts can be created by the program")
        try:
            _CHECKS[account.provider](name, ours)
        except PlannerError as error:
            problems.append(str(error))
        found.append(AccountResources(account, ours))
    if problems:
        head = faults.NOT_EMITTABLE.at("accounts", "they cannot be registered")
        raise PlannerError(head, [f"  {line}" for line in problems])
    return tuple(found)


def register(
    resources: AccountResources, options: pulumi.ResourceOptions | None = None
) -> dict[str, pulumi.Input[str]]:
    """Register an account's resources; return what callers name as the model."""
    account, ours = resources.account, resources.deployments
    name = account.name
    if account.provider == "azure":
        made = account if account.create else None
        AzureDeployments(name, AzureDeploymentsArgs(name, ours, made), options)
        return {item.name: item.name for item in ours}
    named: dict[str, Any] = {item.name: item.model_id or item.model for item in ours}
    if account.provider == "gcp":
        VertexProject(name, VertexProjectArgs(name, account.account_id or name, ours), options)
    elif any(item.model_arn for item in ours):
        # Without an ARN there is nothing to make, and neither SDK nor login is needed.
        args = BedrockCapacityArgs(name, account.region, ours, account.account_id)
        named |= BedrockCapacity(name, args, options).model_ids
    return named


def _implied(deployment: ProviderDeployment) -> ProviderAccount:
    """Return an account that exists, for plans that do not describe theirs."""
    return ProviderAccount(
        name=deployment.account,
        provider=deployment.provider,
        region=deployment.region,
        resource_group=deployment.resource_group,
    )
