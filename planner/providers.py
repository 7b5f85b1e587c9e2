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
from planner.declared.accounts import Account
from planner.economics.blend import MTOK, has_batch_price
from planner.economics.prices import PriceBook
from planner.option import Option
from planner.platform import Platform

BATCH_HOURS = 24
"""Hours in which a batch is to be done: what is submitted in them is enqueued at once."""

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
    tokens = _billed_tokens(decision, outcome)
    spill_name = None
    if spill is not None:
        spill_name = f"{decision.workload}-spill"
        target = _deployment(
            decision, row, _account(platform, spill.account), spill.deployment_type, "payg", catalog
        )
        above = max(peak - outcome.floor_tokens_per_minute, 0.0)
        yield target.model_copy(
            update={
                "name": spill_name,
                "scope": spill.scope,
                "capacity": _thousands(above * tokens * _quota_weight(target, decision, row)),
            }
        )
    if option.kind == "self_hosted" or option.account is None:
        return
    account = _account(platform, option.account)
    primary = _deployment(decision, row, account, option.deployment_type, option.kind, catalog)
    units = floor.step.units if floor else 0
    wanted = _thousands(peak * tokens * _quota_weight(primary, decision, row))
    batch = _batch_type(option, decision, platform, catalog)
    if batch is not None:
        wanted = _thousands(_tokens_in_a_batch(decision) * tokens)
        primary = primary.model_copy(update={"deployment_type": batch})
    itself = spill is not None and sends_on(option, spill.deployment_type, catalog)
    yield primary.model_copy(
        update={
            "scope": option.scope,
            "capacity": wanted if option.kind == "payg" else units,
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


def sends_on(option: Option, spill_type: str, catalog: Catalog) -> bool:
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


def _batch_type(
    option: Option, decision: Decision, platform: Platform, catalog: Catalog
) -> str | None:
    """Return the type that batch prices hold for, where batch work is planned at them.

    Azure has one of its own, with the scope of the interactive type: work sent to the
    interactive deployment pays the interactive price.
    """
    if option.kind != "payg" or decision.tier != "batch":
        return None
    named = catalog.deployment_type(option.provider, option.deployment_type).batch_type
    if named is None or named == option.deployment_type:
        return None
    book = PriceBook.build(platform.as_of, payg=catalog.payg_prices, rates=platform.rates)
    price = book.payg(option.provider, option.model, option.deployment_type, option.region)
    return named if price is not None and has_batch_price(price) else None


def _tokens_in_a_batch(decision: Decision) -> float:
    """Return the most of the workload's tokens that can wait in the queue together."""
    mix = decision.mix
    hours = min(BATCH_HOURS, mix.active_hours_per_month)
    share = hours / mix.active_hours_per_month if mix.active_hours_per_month > 0 else 1.0
    return mix.tokens_per_month * share


def _billed_tokens(decision: Decision, outcome: Outcome) -> float:
    """Return the model's tokens for one of the workload's: quota counts what is billed.

    A price a million tokens is of the model's tokens, the total of all of them; where
    there is neither, the workload's own count stands.
    """
    cost, month = outcome.cost, decision.mix.tokens_per_month
    if cost is None or not cost.usd_per_mtok or not cost.total_usd_per_month or month <= 0:
        return 1.0
    return cost.total_usd_per_month / cost.usd_per_mtok * MTOK / month


def _quota_weight(item: ProviderDeployment, decision: Decision, row: ModelRow) -> float:
    if item.provider != "aws":
        return 1.0
    return bedrock.quota_weight(row, decision.mix.output_fraction)


def _thousands(tokens_per_minute: float) -> int:
    return max(1, math.ceil(tokens_per_minute * QUOTA_MARGIN / 1000))


def _account(platform: Platform, name: str) -> Account:
    return next(account for account in platform.accounts if account.name == name)
