"""What has to be asked for and signed: quota, and commitments for a person to sign."""

from __future__ import annotations

from planner.capacity import Purchase
from planner.economics.exit import AZURE_REFUND_CAP_USD
from planner.report.numbers.explained import Term
from planner.report.numbers.facts import Case, Facts, Sheet, constant, row, worked_out


def quota_kind(account: str, deployment_type: str, model: str) -> str:
    """Return how the kinds of a quota begin; they stand among the stack's totals."""
    return f"quotas/{account}/{deployment_type}/{model}"


def quota_numbers(sheet: Sheet, facts: Facts) -> None:
    """Add each quota that the plan needs, what is there, and what is missing."""
    resources, platform = facts.plan.resources, facts.stack.platform
    for quota in resources.quotas:
        kind = quota_kind(quota.account, quota.deployment_type, quota.model)
        needs = {
            item.name: item.capacity
            for item in resources.deployments
            if (item.account, item.deployment_type) == (quota.account, quota.deployment_type)
            and quota.model in ("*", item.model)
        }
        said = (
            f"deployments {', '.join(needs)}: units of a floor, or thousands of tokens a minute "
            "at the peak (above a floor, where it spills) with a margin of 1.2"
        )
        need = sheet.add(
            f"{kind}/need",
            f"Quota of {quota.deployment_type} in {quota.account} that is needed",
            quota.need,
            quota.unit,
            "sum(capacities)",
            [worked_out("capacities", tuple(needs.values()), quota.unit, said)],
        )
        if quota.have is None or quota.missing is None:
            continue
        account = next(item for item in platform.accounts if item.name == quota.account)
        held = tuple(
            item.units for item in account.quotas if item.deployment_type == quota.deployment_type
        )
        where = f"{facts.platform_file} accounts[{account.name}].quotas[{quota.deployment_type}]"
        declared = Term("declared", held, quota.unit, "declared", f"{where}.units")
        have = sheet.add(
            f"{kind}/have",
            f"Quota of {quota.deployment_type} in {quota.account} that is there",
            quota.have,
            quota.unit,
            "sum(declared)",
            [declared],
            exactness="declared",
        )
        sheet.add(
            f"{kind}/missing",
            f"Quota of {quota.deployment_type} in {quota.account} to ask for",
            quota.missing,
            quota.unit,
            "max(0, need - have)",
            [need, have],
        )


def purchase_numbers(sheet: Sheet, case: Case) -> None:
    """Add what a commitment of this workload comes to, where one has to be signed."""
    purchases = case.facts.plan.resources.purchases
    bought = next((item for item in purchases if item.workload == case.workload.name), None)
    chosen = case.decision.chosen
    if bought is None or chosen is None:
        return
    option = chosen.option
    price = case.facts.book.provisioned(
        option.provider, option.model, option.deployment_type, option.region, option.term_months
    )
    assert price is not None  # noqa: S101 - a purchase has a price
    owned = bought.deployed_units - bought.units
    units = sheet.add(
        "purchase/units",
        "Units to buy beyond those that are owned",
        bought.units,
        "units",
        "units - owned",
        [sheet["floor/units"], worked_out("owned", owned, "units", "serve this deployment")],
    )
    usd = sheet.add(
        "purchase/usd_per_month",
        "Price of the units to buy",
        bought.usd_per_month,
        "USD/month",
        "units * usd_per_unit_month",
        [units, row("usd_per_unit_month", price.usd_per_unit_month, "USD/unit/month", price)],
    )
    if bought.exit_usd is None:
        return
    title, kind = "Cost of leaving what is bought", "purchase/exit_usd"
    months = sheet.numbers.get(sheet.id_of("exit/stranded_months"))
    if months is None or not bought.exit_usd:
        sheet.add(kind, title, bought.exit_usd, "USD", "0", [], rule=bought.exit_note)
        return
    refund = 0.0
    if bought.provider == "azure":
        refund = max(0.0, AZURE_REFUND_CAP_USD - _used(purchases, bought, months.value))
    sheet.add(
        kind,
        title,
        bought.exit_usd,
        "USD",
        "stranded_months * usd_per_month - min(stranded_months * usd_per_month, refund_left)",
        [
            months,
            usd,
            constant(
                "refund_left",
                refund,
                "USD",
                "one yearly cap of refunds for the stack, less what purchases before this one use"
                if bought.provider == "azure"
                else "nothing is refunded",
            ),
        ],
        rule=bought.exit_note,
    )


def _used(purchases: tuple[Purchase, ...], bought: Purchase, months: float) -> float:
    """Return what earlier Azure purchases use of the cap on refunds."""
    used = 0.0
    for item in purchases[: purchases.index(bought)]:
        if item.provider == "azure" and item.exit_usd is not None:
            at_stake = min(float(item.term_months), months) * item.usd_per_month
            used += max(0.0, at_stake - item.exit_usd)
    return used
