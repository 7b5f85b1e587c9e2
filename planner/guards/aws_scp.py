"""Residency as an AWS service control policy: where Bedrock may be asked, and through what.

A cross-region profile sends a request on, and the policy is asked again in the region that it
arrives in, which a plain denial of regions then refuses (aws-solutions/
aws-control-tower-customizations#211). So the regions that an admitted profile may use are
allowed with it. A global profile arrives with the region "unspecified", which is allowed only
where the plan has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.bedrock import PROFILES, arn_partition
from planner.catalog.loader import Catalog
from planner.guards.terms import GuardedAccount

UNSPECIFIED = "unspecified"
"""What aws:RequestedRegion holds for a request that came through a global profile."""

LONGEST_POLICY = 5_120
"""Characters that a service control policy may have, without white space."""

INFERENCE = (
    "bedrock:InvokeModel",
    "bedrock:InvokeModelWithResponseStream",
    "bedrock:CreateModelInvocationJob",
    "bedrock:CreateProvisionedModelThroughput",
)
"""What sends prompts, or makes what they are sent to; Converse needs InvokeModel too."""

Statement = dict[str, Any]


def aws_scp(accounts: Sequence[GuardedAccount], catalog: Catalog) -> dict[str, Any]:
    """Return the policy document of all accounts.

    Each account has statements of its own where all have numbers to be told apart by;
    otherwise all may do what the plan does in one of them, and else what all of them may.
    """
    told_apart = all(account.account_id for account in accounts)
    numbers = sorted({account.account_id or "" for account in accounts})
    groups = (
        [[account for account in accounts if account.account_id == number] for number in numbers]
        if told_apart
        else [list(accounts)]
    )
    statements: list[Statement] = []
    for group in groups:
        only = group[0].account_id if told_apart else None
        statements += _statements(group, only, catalog)
    return {"Version": "2012-10-17", "Statement": statements}


def _statements(
    group: Sequence[GuardedAccount], number: str | None, catalog: Catalog
) -> list[Statement]:
    kinds = set.intersection(*(set(account.admitted) for account in group))
    kinds.update(*(account.planned for account in group))
    profiles = [name for name in PROFILES if name in kinds]
    partition = arn_partition(catalog.region("aws", group[0].region).partition)
    every = f"arn:{partition}:bedrock:*:*:inference-profile"
    admitted = [f"{every}/{name}.*" for name in profiles]
    denied = [f"{every}/{name}.*" for name in PROFILES if name not in kinds]
    own = {"StringEquals": {"aws:PrincipalAccount": number}} if number else {}
    suffix = number or ""
    outside: dict[str, Any] = {
        **own,
        "StringNotEquals": {"aws:RequestedRegion": _regions(group, profiles, catalog)},
    }
    unlisted = [name for name in profiles if name != "global" and not _listed(name, catalog)]
    if unlisted:
        # Nobody publishes where these go: what comes through one has to be let in anywhere.
        outside["ArnNotLike"] = {
            "bedrock:InferenceProfileArn": [f"{every}/{name}.*" for name in unlisted]
        }
    other: dict[str, Any] = {**own, "ArnLike": {"bedrock:InferenceProfileArn": [f"{every}/*"]}}
    if admitted:
        other["ArnNotLike"] = {"bedrock:InferenceProfileArn": admitted}
    statements: list[Statement] = [
        {
            "Sid": f"DenyInferenceOutsideResidency{suffix}",
            "Effect": "Deny",
            "Action": list(INFERENCE),
            "Resource": "*",
            "Condition": outside,
        },
        {
            "Sid": f"DenyInferenceThroughOtherProfiles{suffix}",
            "Effect": "Deny",
            "Action": list(INFERENCE),
            "Resource": "*",
            "Condition": other,
        },
    ]
    if denied:
        # A profile of one's own copies another, whose name no later call shows.
        statements.append(
            {
                "Sid": f"DenyWiderProfiles{suffix}",
                "Effect": "Deny",
                "Action": [*INFERENCE, "bedrock:CreateInferenceProfile"],
                "Resource": denied,
                **({"Condition": own} if own else {}),
            }
        )
    return statements


def _regions(
    group: Sequence[GuardedAccount], profiles: Sequence[str], catalog: Catalog
) -> list[str]:
    """Return the regions in which a request may arrive."""
    countries = set.intersection(*(set(account.countries) for account in group))
    inside = {
        region.name
        for region in catalog.regions
        if region.cloud == "aws" and region.country in countries
    }
    arrives = {region for name in profiles for region in _listed(name, catalog)}
    anywhere = {UNSPECIFIED} if "global" in profiles else set()
    return sorted(inside | arrives | anywhere | {account.region for account in group})


def _listed(profile: str, catalog: Catalog) -> tuple[str, ...]:
    """Return the regions that a profile is known to use."""
    return next(
        (zone.regions for zone in catalog.zones if (zone.provider, zone.name) == ("aws", profile)),
        (),
    )
