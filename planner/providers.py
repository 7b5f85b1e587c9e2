"""From decisions to what is deployed at providers: names, sizes, spill, headers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from planner import bedrock, vertex
from planner.capacity import ProviderAccount, ProviderDeployment
from planner.catalog.loader import Catalog
from planner.catalog.routing import overflow_of, routing_requirement
from planner.catalog.rows import ModelRow
from planner.decision import Decision, Outcome
from planner.options import Option
from planner.platform import Account, Platform

QUOTA_MARGIN = 1.2
"""Pay-as-you-go quota asked for above the expected peak: minutes are not smooth."""

SPILL_RULE = "RES-003"
"""The policy rule that a spill target's scope is no wider than its source's."""


def deployments_of(
    decided: Sequence[tuple[Decision, Outcome]], platform: Platform, catalog: Catalog
) -> tuple[ProviderDeployment, ...]:
    """Return every provider deployment, a spill target before what spills to it."""
    found = [item for d, o in decided for item in _deployments(d, o, platform, catalog)]
    return tuple(_with_headers(item, found) for item in found)


def routing_of(decided: Sequence[tuple[Decision, Outcome]], catalog: Catalog) -> dict[str, str]:
    """Return what callers' routers must do, by workload; nothing where nothing is asked."""
    asked = {
        decision.workload: routing_requirement(
            option.provider,
            option.deployment_type,
            option.model,
            option.spill.deployment_type if option.spill else None,
            catalog=catalog,
        )
        for decision, outcome in decided
        if (option := outcome.option).kind != "payg"
    }
    return {name: text for name, text in asked.items() if text is not None}


def accounts_of(
    deployments: Iterable[ProviderDeployment], platform: Platform
) -> tuple[ProviderAccount, ...]:
    """Return the accounts that hold deployments, by name."""
    used = {item.account for item in deployments}
    return tuple(
        ProviderAccount(
            name=account.name,
            provider=account.provider,
            region=account.region,
            resource_group=account.resource_group,
            account_id=account.account_id,
            create=account.create,
        )
        for account in sorted(platform.accounts, key=lambda item: item.name)
        if account.name in used
    )


def _deployments(
    decision: Decision, outcome: Outcome, platform: Platform, catalog: Catalog
) -> Iterator[ProviderDeployment]:
    option, cost = outcome.option, outcome.cost
    row, spill = catalog.model(option.model), option.spill
    floor = cost.floor if cost else None
    peak = decision.mix.tokens_per_minute_peak
    spill_name = None
    if spill is not None:
        spill_name = f"{decision.workload}-spill"
        target = _deployment(
            decision, row, _account(platform, spill.account), spill.deployment_type, "payg", catalog
        )
        above = max(peak - outcome.floor_tokens_per_minute, 0.0)
        yield target.model_copy(
            update={"name": spill_name, "scope": spill.scope, "capacity": _thousands(above)}
        )
    if option.kind == "self_hosted" or option.account is None:
        return
    account = _account(platform, option.account)
    primary = _deployment(decision, row, account, option.deployment_type, option.kind, catalog)
    units = floor.step.units if floor else 0
    itself = spill is not None and _sends_on(option, spill.deployment_type, catalog)
    yield primary.model_copy(
        update={
            "scope": option.scope,
            "capacity": _thousands(peak) if option.kind == "payg" else units,
            "term_months": option.term_months,
            "spillover_to": spill_name if itself else None,
            "gateway_spill_to": None if itself else spill_name,
            "spill_waiver": _spill_waiver(outcome),
        }
    )


def _deployment(
    decision: Decision,
    row: ModelRow,
    account: Account,
    deployment_type: str,
    kind: Literal["payg", "provisioned"],
    catalog: Catalog,
) -> ProviderDeployment:
    """Return the deployment with its names; scope, size and spill are the caller's."""
    given = account.model_versions.get(row.name)
    azure = account.provider == "azure"
    named, arn = row.provider_ids.get(account.provider), None
    if account.provider == "aws":
        named = bedrock.model_id(row, deployment_type, given)
        arn = bedrock.model_arn(
            named,
            deployment_type,
            region=account.region,
            partition=catalog.region("aws", account.region).partition,
            account_id=account.account_id,
        )
    return ProviderDeployment(
        name=decision.workload,
        workload=decision.workload,
        owner=decision.owner,
        tier=decision.tier,
        provider=account.provider,
        account=account.name,
        resource_group=account.resource_group,
        region=account.region,
        model=row.name,
        model_version=given or (row.azure_version if azure else None),
        model_format=row.azure_format if azure else None,
        model_id=named,
        model_arn=arn,
        deployment_type=deployment_type,
        kind=kind,
        capacity=0,
        spillover_to=None,
    )


def _with_headers(
    item: ProviderDeployment, everything: Sequence[ProviderDeployment]
) -> ProviderDeployment:
    if item.provider != "gcp":
        return item
    orders = [
        other
        for other in everything
        if (other.account, other.model, other.kind) == (item.account, item.model, "provisioned")
    ]
    beside = any(
        other.workload != item.workload or other.gateway_spill_to == item.name for other in orders
    )
    headers = vertex.request_headers(
        item.kind, spills=item.spillover_to is not None, beside_an_order=beside
    )
    return item.model_copy(update={"request_headers": headers})


def _sends_on(option: Option, spill_type: str, catalog: Catalog) -> bool:
    """Return whether the provider itself sends the overflow to that type."""
    row = overflow_of(catalog, option.provider, option.deployment_type)
    if row is None or row.by in ("gateway", "refused"):
        return False
    if row.by == "default":
        return row.target == spill_type
    return any(
        unit.spillover
        for unit in catalog.provisioned_units
        if (unit.provider, unit.model, unit.deployment_type)
        == (option.provider, option.model, option.deployment_type)
    )


def _spill_waiver(outcome: Outcome) -> str | None:
    """Return the waiver of a spill target that is wider than its source, if one is used."""
    used = (f.waiver for f in outcome.findings if f.rule_id == SPILL_RULE and f.waiver)
    return next((waiver.id for waiver in used), None)


def _thousands(tokens_per_minute: float) -> int:
    return max(1, math.ceil(tokens_per_minute * QUOTA_MARGIN / 1000))


def _account(platform: Platform, name: str) -> Account:
    return next(account for account in platform.accounts if account.name == name)
