"""What the deployments need from people: quota, the provider's word, and purchases."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence

from planner.capacity import CapacityConfirmation, ProviderDeployment, Purchase, QuotaNeed
from planner.catalog.loader import load_catalog
from planner.decision import Decision, Outcome
from planner.declared.accounts import Account
from planner.economics.exit import AZURE_REFUND_CAP_USD, exit_cost
from planner.economics.prices import PriceBook, describe
from planner.option import Option
from planner.platform import Platform
from planner.units import format_usd

_UNITS = {"azure": "PTU", "aws": "MU", "gcp": "GSU"}
_THOUSAND_TOKENS = "1,000 tokens/min"
_THOUSAND_ENQUEUED = "1,000 enqueued tokens"
_BATCH_TYPES = ("GlobalBatch", "DataZoneBatch")


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
        unit = _unit_of(item)
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
    """Return what has to be bought beyond the units already owned.

    What is owned serves each deployment in turn, none of it twice; and Azure's cap on
    refunds is one for the whole stack, so later purchases find less of it left.
    """
    made = {(item.workload, item.kind): item for item in deployments}
    owned = {item.id: item.units for item in platform.commitments}
    refund_left, found = AZURE_REFUND_CAP_USD, list[Purchase]()
    for decision, outcome in decided:
        deployment = made.get((decision.workload, "provisioned"))
        if deployment is None or outcome.cost is None or outcome.cost.floor is None:
            continue
        needed = outcome.cost.floor.step.units
        units = needed - _take(owned, needed, outcome.option, platform)
        bought = _purchase(outcome, deployment, units, quotas, platform, book)
        if bought is not None:
            shared, used = _with_shared_refund(bought, outcome, refund_left, platform)
            refund_left -= used
            found.append(shared)
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


def _purchase(
    outcome: Outcome,
    deployment: ProviderDeployment,
    units: int,
    quotas: Sequence[QuotaNeed],
    platform: Platform,
    book: PriceBook,
) -> Purchase | None:
    option, cost = outcome.option, outcome.cost
    if option.term_months == 0 or units <= 0 or cost is None or cost.floor is None:
        return None
    price = book.provisioned(
        option.provider, option.model, option.deployment_type, option.region, option.term_months
    )
    if price is None:
        return None
    unit = book.unit(option.provider, option.model, option.deployment_type)
    leaving = cost.exit
    return Purchase(
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


def _take(owned: dict[str, int], wanted: int, option: Option, platform: Platform) -> int:
    """Return how many owned units serve the option, and take them out of ``owned``.

    Those of one model first: the others may serve another model's deployment.
    """
    fitting = [
        item
        for item in platform.commitments
        if (item.provider, item.deployment_type, item.region)
        == (option.provider, option.deployment_type, option.region)
        and item.model in (option.model, "*")
        and item.term_end > platform.as_of
    ]
    taken = 0
    for item in sorted(fitting, key=lambda item: (item.model == "*", item.id)):
        used = min(owned[item.id], wanted - taken)
        owned[item.id] -= used
        taken += used
    return taken


def _with_shared_refund(
    bought: Purchase, outcome: Outcome, refund_left_usd: float, platform: Platform
) -> tuple[Purchase, float]:
    """Return an Azure purchase with the exit cost that the cap leaves it, and its share.

    The exit of an option alone assumes the whole cap; here it is of what is bought.
    """
    if bought.provider != "azure" or bought.exit_usd is None:
        return bought, 0.0
    retires = load_catalog().model(bought.model).provider_retires.get("azure")
    leaving, whole = (
        exit_cost(
            kind=outcome.option.kind,
            provider="azure",
            term_months=bought.term_months,
            usd_per_month=bought.usd_per_month,
            as_of=platform.as_of,
            retires_on=dt.date.fromisoformat(retires) if retires else None,
            deployment_type=bought.deployment_type,
            refund_left_usd=left,
        )
        for left in (refund_left_usd, 0.0)
    )
    note = f"{leaving.note}; one yearly cap of {format_usd(AZURE_REFUND_CAP_USD)} for the stack"
    update = {"exit_usd": leaving.usd, "exit_note": note if whole.usd else leaving.note}
    return bought.model_copy(update=update), whole.usd - leaving.usd


def _unit_of(item: ProviderDeployment) -> str:
    if item.kind == "provisioned":
        return _UNITS[item.provider]
    return _THOUSAND_ENQUEUED if item.deployment_type in _BATCH_TYPES else _THOUSAND_TOKENS


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
