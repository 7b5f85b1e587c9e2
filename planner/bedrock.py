"""How Amazon names a model: its id under a deployment type, and its ARN."""

from __future__ import annotations

from planner.catalog.rows import ModelRow, Partition

PROFILES = ("us", "eu", "apac", "jp", "au", "global")
"""Deployment types that go through a cross-region profile, which prefixes the id."""

COMMITMENTS: dict[int, str | None] = {0: None, 1: "OneMonth", 6: "SixMonths"}
"""Terms in months that Bedrock sells model units for, by the API's name."""

QUOTA_TOKENS_PER_OUTPUT_TOKEN = 5
"""What an output token of Claude takes from a quota of tokens a minute (Bedrock user guide,
how tokens are counted: 10,000 of output use 50,000 of quota); the bill counts it once."""

_BURNT_FASTER = "anthropic.claude"

BASE_MODELS_IN_UNITS = ("amazon.nova", "amazon.titan")
"""Beginnings of the ids that Bedrock lists for model units as read (pt-supported, 2026)."""

_ARN_PARTITIONS: dict[Partition, str] = {
    "public": "aws",
    "us_gov": "aws-us-gov",
    "eu_sovereign": "aws-eusc",
}


def model_id(row: ModelRow, deployment_type: str, variant: str | None = None) -> str | None:
    """Return the id that a caller names; None where the catalog has none for Bedrock.

    ``variant`` is the context variant that provisioned throughput is sold by.
    """
    base = row.provider_ids.get("aws")
    if base is None:
        return None
    if deployment_type in PROFILES:
        return f"{deployment_type}.{base}"
    return f"{base}:{variant}" if variant and deployment_type == "provisioned" else base


def model_arn(
    named: str | None,
    deployment_type: str,
    *,
    region: str,
    partition: Partition,
    account_id: str | None,
) -> str | None:
    """Return the ARN of a model or of the cross-region profile that leads to it.

    A profile belongs to the account, so without its number there is no ARN; a
    reserved tier is bought for a model id and has no resource either.
    """
    if named is None or deployment_type == "reserved":
        return None
    service = f"arn:{arn_partition(partition)}:bedrock:{region}"
    if deployment_type not in PROFILES:
        return f"{service}::foundation-model/{named}"
    return f"{service}:{account_id}:inference-profile/{named}" if account_id else None


def arn_partition(partition: Partition) -> str:
    """Return how ARNs write one of Amazon's separate clouds."""
    return _ARN_PARTITIONS[partition]


def quota_weight(row: ModelRow, output_fraction: float) -> float:
    """Return what a token of the mix takes from a quota of tokens a minute.

    Cached input counts in full: the quota is held for the whole prompt when a call starts.
    """
    faster = row.provider_ids.get("aws", "").startswith(_BURNT_FASTER)
    per_output = QUOTA_TOKENS_PER_OUTPUT_TOKEN if faster else 1
    return 1 - output_fraction + per_output * output_fraction


def is_listed_in_units(row: ModelRow) -> bool:
    """Return whether Bedrock lists the base model for provisioned throughput, as read."""
    return row.provider_ids.get("aws", "").startswith(BASE_MODELS_IN_UNITS)
