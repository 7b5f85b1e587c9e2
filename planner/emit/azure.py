"""Model deployments in an Azure account, as Pulumi resources; the account too, if wanted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from planner import faults
from planner.catalog.rows import SCOPES
from planner.emit.deployments import common_problems, cost_tags, refuse, tag_problems
from planner.emit.sdks import cloud_sdk
from planner.errors import PlannerError
from planner.plan import ProviderAccount, ProviderDeployment

MODEL_FORMAT = "OpenAI"
_NAME = re.compile(r"[0-9a-zA-Z]([0-9a-zA-Z._-]{0,62})[0-9a-zA-Z]")
_ACCOUNT_NAME = re.compile(r"[0-9a-zA-Z][0-9a-zA-Z-]{0,62}[0-9a-zA-Z]")
_TAG_VALUE = re.compile(r"[^\n]{0,256}")
_UPGRADES = {"provisioned": "NoAutoUpgrade", "payg": "OnceCurrentVersionExpired"}


@dataclass(frozen=True)
class AzureDeploymentsArgs:
    """The deployments of one account.

    Attributes:
        account: name of the account (a Cognitive Services resource).
        deployments: all of them; their order here does not matter.
        create: the account itself, where the program creates it; None where it exists.
    """

    account: str
    deployments: tuple[ProviderDeployment, ...]
    create: ProviderAccount | None = None


class AzureDeployments(pulumi.ComponentResource):
    """An account's deployments: pay-as-you-go first, then what spills over to them.

    Azure takes one change of an account at a time, so each waits for the one
    before. A provisioned deployment is protected: capacity given back may not be
    had again. So is an account made here: a deleted one bills until it is purged.
    """

    account: pulumi.CustomResource | None
    deployments: dict[str, pulumi.CustomResource]

    def __init__(
        self, name: str, args: AzureDeploymentsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("llm-capacity:azure:AzureDeployments", name, None, opts)
        self.deployments = {}
        ordered = in_order(args.account, args.deployments)
        before: list[pulumi.Resource] = []
        self.account = self._account(name, args.create) if args.create else None
        if self.account is not None:
            before = [self.account]
        for deployment in ordered:
            resource = self._deployment(name, deployment, before)
            self.deployments[deployment.name] = resource
            before = [resource]
        self.register_outputs({"names": list(self.deployments)})

    def _account(self, name: str, account: ProviderAccount) -> pulumi.CustomResource:
        resource: pulumi.CustomResource = cloud_sdk("azure", "cognitiveservices").Account(
            f"{name}-account",
            resource_group_name=resource_group(account.resource_group, f"account {account.name}"),
            account_name=account.name,
            location=account.region,
            # The kind that serves models of every publisher, not OpenAI's alone.
            kind="AIServices",
            sku={"name": "S0"},
            identity={"type": "SystemAssigned"},
            properties={
                # Entra ID needs a domain of the account's own; keys are left off.
                "custom_sub_domain_name": account.name,
                "disable_local_auth": True,
            },
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        return resource

    def _deployment(
        self, name: str, deployment: ProviderDeployment, before: Sequence[pulumi.Resource]
    ) -> pulumi.CustomResource:
        model: dict[str, Any] = {
            "format": deployment.model_format or MODEL_FORMAT,
            "name": deployment.model_id or deployment.model,
        }
        if deployment.model_version is not None:
            model["version"] = deployment.model_version
        properties: dict[str, Any] = {
            "model": model,
            "version_upgrade_option": _UPGRADES[deployment.kind],
        }
        if deployment.spillover_to is not None:
            properties["spillover_deployment_name"] = deployment.spillover_to
        resource: pulumi.CustomResource = cloud_sdk("azure", "cognitiveservices").Deployment(
            f"{name}-{deployment.name}",
            resource_group_name=resource_group(
                deployment.resource_group, f"deployment {deployment.name}"
            ),
            account_name=deployment.account,
            deployment_name=deployment.name,
            properties=properties,
            sku={"name": deployment.deployment_type, "capacity": deployment.capacity},
            tags=cost_tags(deployment),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=list(before),
                protect=deployment.kind == "provisioned",
                delete_before_replace=True,
            ),
        )
        return resource


def in_order(account: str, deployments: Sequence[ProviderDeployment]) -> list[ProviderDeployment]:
    """Return the deployments as they must be created, or say why they cannot be."""
    payg = {deployment.name: deployment for deployment in deployments if deployment.kind == "payg"}
    problems = common_problems(account, deployments)
    if not _ACCOUNT_NAME.fullmatch(account):
        problems.append("the name and its subdomain take 2 to 64 letters, digits and hyphens")
    for deployment in deployments:
        if not _NAME.fullmatch(deployment.name):
            problems.append(f"deployment {deployment.name}: a name takes 2 to 64 characters")
        problems += tag_problems(deployment, _TAG_VALUE, "characters on one line")
        if deployment.resource_group is None:
            problems.append(f"deployment {deployment.name} needs the account's resource_group")
        if deployment.spillover_to is None:
            continue
        if deployment.kind == "payg":
            problems.append(f"deployment {deployment.name} is pay-as-you-go and cannot spill over")
        elif deployment.spillover_to not in payg:
            problems.append(
                f"deployment {deployment.name} spills over to {deployment.spillover_to}, "
                "which is no pay-as-you-go deployment of the account"
            )
        elif _is_wider(payg[deployment.spillover_to], deployment):
            target = payg[deployment.spillover_to]
            problems.append(
                f"deployment {deployment.name} has scope {deployment.scope} and spills over to "
                f"{target.name} of scope {target.scope}, which is wider"
            )
    refuse(account, problems)
    return sorted(deployments, key=lambda item: (item.kind != "payg", item.name))


def resource_group(name: str | None, what: str) -> str:
    """Return the resource group, which Azure resources cannot do without."""
    if name is None:
        raise PlannerError(faults.SITE_INCOMPLETE.at(what, "it needs a resource_group"))
    return name


def _is_wider(target: ProviderDeployment, source: ProviderDeployment) -> bool:
    if target.scope is None or source.scope is None or source.spill_waiver is not None:
        return False
    return SCOPES.index(target.scope) > SCOPES.index(source.scope)
