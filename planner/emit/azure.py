"""Model deployments in an Azure account, as Pulumi resources."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pulumi

from planner.errors import PlannerError
from planner.plan import ProviderDeployment

MODEL_FORMAT = "OpenAI"
_UPGRADES = {"provisioned": "NoAutoUpgrade", "payg": "OnceCurrentVersionExpired"}


@dataclass(frozen=True)
class AzureDeploymentsArgs:
    """The deployments of one account."""

    account: str
    deployments: tuple[ProviderDeployment, ...]


class AzureDeployments(pulumi.ComponentResource):
    """An account's deployments: pay-as-you-go first, then what spills over to them.

    Azure takes one change of an account at a time, so each waits for the one
    before. A provisioned deployment is protected: capacity given back may not be
    had again.
    """

    deployments: dict[str, pulumi.CustomResource]

    def __init__(
        self, name: str, args: AzureDeploymentsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("llm-capacity:azure:AzureDeployments", name, None, opts)
        self.deployments = {}
        before: list[pulumi.Resource] = []
        for deployment in in_order(args.account, args.deployments):
            resource = self._deployment(name, deployment, before)
            self.deployments[deployment.name] = resource
            before = [resource]
        self.register_outputs({"names": list(self.deployments)})

    def _deployment(
        self, name: str, deployment: ProviderDeployment, before: list[pulumi.Resource]
    ) -> pulumi.CustomResource:
        service = azure_native("cognitiveservices")
        model: dict[str, Any] = {
            "format": deployment.model_format or MODEL_FORMAT,
            "name": deployment.model,
        }
        if deployment.model_version is not None:
            model["version"] = deployment.model_version
        properties: dict[str, Any] = {
            "model": model,
            "version_upgrade_option": _UPGRADES[deployment.kind],
        }
        if deployment.spillover_to is not None:
            properties["spillover_deployment_name"] = deployment.spillover_to
        resource: pulumi.CustomResource = service.Deployment(
            f"{name}-{deployment.name}",
            resource_group_name=resource_group(
                deployment.resource_group, f"deployment {deployment.name}"
            ),
            account_name=deployment.account,
            deployment_name=deployment.name,
            properties=properties,
            sku={"name": deployment.deployment_type, "capacity": deployment.capacity},
            tags={"workload": deployment.workload, "tier": deployment.tier},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=before,
                protect=deployment.kind == "provisioned",
                delete_before_replace=True,
            ),
        )
        return resource


def in_order(account: str, deployments: tuple[ProviderDeployment, ...]) -> list[ProviderDeployment]:
    """Return the deployments as they must be created, or say why they cannot be."""
    names = [deployment.name for deployment in deployments]
    payg = {deployment.name for deployment in deployments if deployment.kind == "payg"}
    problems = [
        f"deployment {name} occurs twice" for name in sorted(set(names)) if names.count(name) > 1
    ]
    for deployment in deployments:
        if deployment.resource_group is None:
            problems.append(f"deployment {deployment.name} needs the account's resource_group")
        if deployment.capacity < 1:
            problems.append(f"deployment {deployment.name} has a capacity of {deployment.capacity}")
        if deployment.account != account:
            problems.append(f"deployment {deployment.name} belongs to {deployment.account}")
        if deployment.spillover_to is None:
            continue
        if deployment.kind == "payg":
            problems.append(f"deployment {deployment.name} is pay-as-you-go and cannot spill over")
        elif deployment.spillover_to not in payg:
            problems.append(
                f"deployment {deployment.name} spills over to {deployment.spillover_to}, "
                "which is no pay-as-you-go deployment of the account"
            )
    if problems:
        raise PlannerError(f"account {account}: " + "; ".join(problems))
    return sorted(deployments, key=lambda item: (item.kind != "payg", item.name))


def resource_group(name: str | None, what: str) -> str:
    """Return the resource group, which Azure resources cannot do without."""
    if name is None:
        raise PlannerError(f"{what} needs a resource_group: add it to its account or cluster.")
    return name


def azure_native(module: str) -> ModuleType:
    """Return a module of the Azure SDK, which is large and an optional extra."""
    try:
        return importlib.import_module(f"pulumi_azure_native.{module}")
    except ImportError as error:
        raise pulumi.RunError(
            "the plan has Azure resources, and the Azure SDK is not installed. "
            "Install it: pip install 'llm-capacity[azure]'"
        ) from error
