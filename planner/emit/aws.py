"""Bedrock capacity of one AWS account and region, as Pulumi resources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from planner.bedrock import COMMITMENTS
from planner.emit.deployments import common_problems, cost_tags, refuse, tag_problems
from planner.emit.sdks import cloud_sdk
from planner.plan import ProviderDeployment

_NAME = re.compile(r"(?=.{1,63}$)([0-9a-zA-Z][_-]?)+")
_TAG_VALUE = re.compile(r"[a-zA-Z0-9\s._:/=+@-]{0,256}")


@dataclass(frozen=True)
class BedrockCapacityArgs:
    """The Bedrock deployments of one account.

    Attributes:
        account: name of the account in the platform file.
        region: AWS region that all of them are in.
        deployments: provisioned throughput and pay-as-you-go; what has no ARN, such as
            the reserved tier, has no resource and is left to the manual steps.
        account_id: AWS account number; where given, no other account is ever changed.
    """

    account: str
    region: str
    deployments: tuple[ProviderDeployment, ...]
    account_id: str | None = None


class BedrockCapacity(pulumi.ComponentResource):
    """Model units with their commitment, and inference profiles that carry cost tags.

    Creating model units with a term is their purchase, and every change but one of
    tags replaces them: inside a term both sets are billed until it ends. So they are
    protected: the engine refuses to replace or delete them before a person unprotects
    them. They are not retained on deletion, because what is forgotten bills on.
    """

    provider: pulumi.ProviderResource
    units: dict[str, pulumi.CustomResource]
    profiles: dict[str, pulumi.CustomResource]
    model_ids: dict[str, pulumi.Output[str]]
    """What callers name as the model, by deployment."""

    def __init__(
        self, name: str, args: BedrockCapacityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("llm-capacity:aws:BedrockCapacity", name, None, opts)
        check(args.account, args.deployments)
        self.provider = cloud_sdk("aws").Provider(
            f"{name}-provider",
            region=args.region,
            allowed_account_ids=[args.account_id] if args.account_id else None,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.units, self.profiles, self.model_ids = {}, {}, {}
        for deployment in sorted(args.deployments, key=lambda item: item.name):
            if deployment.model_arn is None:
                continue
            if deployment.kind == "provisioned":
                self._units(name, deployment)
            else:
                self._profile(name, deployment)
        self.register_outputs({"model_ids": self.model_ids})

    def _units(self, name: str, deployment: ProviderDeployment) -> None:
        resource = cloud_sdk("aws", "bedrock").ProvisionedModelThroughput(
            f"{name}-{deployment.name}",
            provisioned_model_name=deployment.name,
            model_arn=deployment.model_arn,
            model_units=deployment.capacity,
            commitment_duration=COMMITMENTS[deployment.term_months],
            tags=cost_tags(deployment),
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=self.provider,
                protect=True,
            ),
        )
        self.units[deployment.name] = resource
        self.model_ids[deployment.name] = resource.provisioned_model_arn

    def _profile(self, name: str, deployment: ProviderDeployment) -> None:
        resource = cloud_sdk("aws", "bedrock").InferenceProfile(
            f"{name}-{deployment.name}",
            name=deployment.name,
            # Bedrock takes letters, digits, ':' and '.', parted by single ' ', '_' or '-'.
            description=f"{deployment.workload} {deployment.tier}",
            model_source={"copy_from": deployment.model_arn},
            tags=cost_tags(deployment),
            opts=pulumi.ResourceOptions(parent=self, provider=self.provider),
        )
        self.profiles[deployment.name] = resource
        self.model_ids[deployment.name] = resource.arn


def check(account: str, deployments: Sequence[ProviderDeployment]) -> None:
    """Say everything that Bedrock would not take, before anything is registered."""
    problems = common_problems(account, deployments)
    for item in deployments:
        if item.model_id is None:
            problems.append(
                f"deployment {item.name}: the catalog has no Bedrock id of {item.model}"
            )
        if not _NAME.fullmatch(item.name):
            problems.append(
                f"deployment {item.name}: Bedrock takes no two hyphens in a row and at most 63 "
                "characters"
            )
        problems += tag_problems(item, _TAG_VALUE, "letters, digits, spaces and _.:/=+@-")
        if item.spillover_to is not None:
            problems.append(
                f"deployment {item.name} spills over to {item.spillover_to}: Bedrock sends "
                "nothing on, a gateway has to"
            )
        bought = item.kind == "provisioned" and item.deployment_type == "provisioned"
        if bought and item.term_months not in COMMITMENTS:
            problems.append(
                f"deployment {item.name}: Bedrock sells model units without a term, for 1 month "
                f"or for 6, not for {item.term_months}"
            )
    refuse(account, problems)
