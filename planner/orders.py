"""What the deployments need from people: quota, the provider's word, and purchases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from planner.capacity import CapacityConfirmation, ProviderDeployment, Purchase, QuotaNeed
from planner.decision import Decision, Outcome
from planner.economics.prices import PriceBook, describe
from planner.economics.provisioned import owned_units
from planner.options import Option
from planner.platform import Account, Platform

_UNITS = {"azure": "PTU", "aws": "MU", "gcp": "GSU"}
_THOUSAND_TOKENS = "1,000 tokens/min"


def quotas_of(
    deployments: Iterable[ProviderDeployment], platform: Platform
) -> tuple[QuotaNeed, ...]:
    """Return the quota that the deployments need, summed over those that share one.

    Azure's provisioned units are counted for all models of a type together; tokens
    per minute and Bedrock's model units for each model. Google has no quota to ask
    for: its orders are approved one by one, and pay-as-you-go shares what there is.
    """
    accounts = {account.name: account for account in platform.accounts}
    needs: dict[tuple[str, str, str, str], int] = defaultdict(int)
    for item in deployments:
        if item.provider == "gcp" or item.deployment_type == "reserved":
            continue
        shared = item.provider == "azure" and item.kind == "provisioned"
        unit = _UNITS[item.provider] if item.kind == "provisioned" else _THOUSAND_TOKENS
        needs[item.account, item.deployment_type, "*" if shared else item.model, unit] += (
            item.capacity
        )
    return tuple(
        QuotaNeed(
            provider=account.provider,
            account=account.name,
            region=account.region,
            deployment_type=deployment_type,
            model=model,
            unit=unit,
            need=need,
            have=_declared_quota(account, deployment_type),
        )
        for (name, deployment_type, model, unit), need in sorted(needs.items())
        for account in (accounts[name],)
    )


def purchases_of(
    decided: Sequence[tuple[Decision, Outcome]],
    deployments: Sequence[ProviderDeployment],
    quotas: Sequence[QuotaNeed],
    platform: Platform,
    book: PriceBook,
) -> tuple[Purchase, ...]:
    """Return what has to be bought beyond the units already owned."""
    made = {(item.workload, item.kind): item for item in deployments}
    found = []
    for decision, outcome in decided:
        deployment = made.get((decision.workload, "provisioned"))
        if deployment is not None:
            found += list(_purchases(outcome, deployment, quotas, platform, book))
    return tuple(found)


def confirmation(
    platform: Platform, account: str, deployment_type: str, model: str
) -> CapacityConfirmation | None:
    """Return the provider's word on a deployment, the confirmations of it taken together."""
    rows = [
        row
        for row in platform.confirmed_capacity
        if (row.account, row.deployment_type, row.model) == (account, deployment_type, model)
    ]
    if not rows:
        return None
    return CapacityConfirmation(
        units=sum(row.units for row in rows),
        date=max(row.date for row in rows).isoformat(),
        ref="; ".join(dict.fromkeys(row.ref for row in rows)),
    )


def _purchases(
    outcome: Outcome,
    deployment: ProviderDeployment,
    quotas: Sequence[QuotaNeed],
    platform: Platform,
    book: PriceBook,
) -> Iterator[Purchase]:
    option, cost = outcome.option, outcome.cost
    if option.term_months == 0 or cost is None or cost.floor is None:
        return
    units = cost.floor.step.units - _owned(option, platform)
    price = book.provisioned(
        option.provider, option.model, option.deployment_type, option.region, option.term_months
    )
    if units <= 0 or price is None:
        return
    unit = book.unit(option.provider, option.model, option.deployment_type)
    leaving = cost.exit
    yield Purchase(
        workload=deployment.workload,
        owner=deployment.owner,
        provider=option.provider,
        account=deployment.account,
        deployment_type=option.deployment_type,
        region=option.region,
        model=option.model,
        model_id=deployment.model_id,
        unit=unit.unit if unit else _UNITS[option.provider],
        units=units,
        deployed_units=cost.floor.step.units,
        term_months=option.term_months,
        usd_per_month=units * price.usd_per_unit_month,
        use_share=cost.floor.use_share,
        break_even=cost.break_even,
        exit_rule=leaving.rule if leaving else "",
        exit_usd=leaving.usd if leaving else None,
        exit_note=leaving.note if leaving else "",
        price_source=describe(price),
        quota=_quota_of(deployment, quotas),
        capacity_confirmed=confirmation(
            platform, deployment.account, option.deployment_type, option.model
        ),
        request_headers=deployment.request_headers,
    )


def _owned(option: Option, platform: Platform) -> int:
    owned = owned_units(
        platform.commitments,
        provider=option.provider,
        model=option.model,
        deployment_type=option.deployment_type,
        region=option.region,
        as_of=platform.as_of,
    )
    return sum(item.units for item in owned)


def _quota_of(deployment: ProviderDeployment, quotas: Sequence[QuotaNeed]) -> QuotaNeed | None:
    wanted = (deployment.account, deployment.deployment_type)
    return next(
        (
            quota
            for quota in quotas
            if (quota.account, quota.deployment_type) == wanted
            and quota.model in ("*", deployment.model)
        ),
        None,
    )


def _declared_quota(account: Account, deployment_type: str) -> int | None:
    held = [quota.units for quota in account.quotas if quota.deployment_type == deployment_type]
    return sum(held) if held else None
