"""Purchase records: what a person signs, as files beside the plan. Nothing is bought here.

A record whose capacity the provider has not confirmed says so in capitals and is
not signable. A signature names the order's digest: another price, size or term is
another order.
"""

from __future__ import annotations

import json
from typing import Any

from planner.canonical import plain, rounded
from planner.capacity import Purchase
from planner.plan import Plan
from planner.steps import is_bought_by_creation
from planner.units import format_share, format_usd

MISSING = "missing"
NOT_SIGNABLE = "NOT SIGNABLE: CAPACITY IS NOT CONFIRMED"
_BLANK = {"name": "", "role": "", "date": "", "signature": ""}
_RULE = "_" * 40


def purchase_records(plan: Plan) -> dict[str, str]:
    """Return each record as JSON and as Markdown, by file name; equal plans give equal bytes."""
    files: dict[str, str] = {}
    for item in plan.resources.purchases:
        record = purchase_record(item, plan)
        files[f"{item.workload}.json"] = (
            json.dumps(record, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
        )
        files[f"{item.workload}.md"] = _markdown(item, plan)
    return dict(sorted(files.items()))


def purchase_record(item: Purchase, plan: Plan) -> dict[str, Any]:
    """Return what is bought, what it costs, when it pays, how to leave, and who may sign."""
    even = item.break_even
    record = {
        "schema_version": 1,
        "stack": plan.stack,
        "as_of": plan.as_of,
        "capacity_digest": plan.capacity_digest,
        "order": item.order,
        "order_digest": item.order_digest,
        "owner": item.owner,
        "units_deployed": item.deployed_units,
        "cost": {
            "usd_per_month": item.usd_per_month,
            "usd_over_term": item.usd_per_month * item.term_months,
            "price_source": item.price_source,
        },
        "break_even": None
        if even is None
        else {
            "utilization": even.utilization,
            "output_fraction": even.output_fraction,
            "cached_fraction": even.cached_fraction,
            "note": even.note,
        },
        "use_share": item.use_share,
        "exit": {"usd": item.exit_usd, "rule": item.exit_rule, "note": item.exit_note},
        "quota": None if item.quota is None else plain(item.quota),
        "capacity_confirmed": MISSING
        if item.capacity_confirmed is None
        else plain(item.capacity_confirmed),
        "signable": item.signable,
        "status": "ready to sign" if item.signable else NOT_SIGNABLE,
        "request_headers": item.request_headers,
        "how_to_buy": _how_to_buy(item),
        "approver": dict(_BLANK),
    }
    return {name: rounded(value) for name, value in record.items()}


def unsigned(plan: Plan, signed: frozenset[str]) -> tuple[Purchase, ...]:
    """Return the purchases that nobody has validly signed for.

    ``signed`` are order digests; the signature of an order whose capacity is not
    confirmed counts for nothing.
    """
    return tuple(
        item
        for item in plan.resources.purchases
        if not item.signable or item.order_digest not in signed
    )


def _markdown(item: Purchase, plan: Plan) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in _rows(item))
    banner = "" if item.signable else f"\n**{NOT_SIGNABLE}.** {_what_is_missing(item)}\n"
    signature = (
        f"Name: {_RULE}\n\nRole: {_RULE}\n\nDate: {_RULE}\n\nSignature: {_RULE}"
        if item.signable
        else f"{NOT_SIGNABLE}. Declare the provider's answer and plan again."
    )
    return f"""# Purchase record: {item.workload}
{banner}
Stack {plan.stack}, as of {plan.as_of}. Nothing is bought before a person has signed.
The sequence is quota, confirmed capacity, deployment, purchase.

| | |
|---|---|
{rows}

Order digest: `{item.order_digest}`

Capacity digest of the plan: `{plan.capacity_digest}`

## Approval

{signature}
"""


def _rows(item: Purchase) -> list[tuple[str, str]]:
    even, quota, word = item.break_even, item.quota, item.capacity_confirmed
    named = f" ({item.model_id})" if item.model_id and item.model_id != item.model else ""
    months = "month" if item.term_months == 1 else "months"
    term_usd = item.usd_per_month * item.term_months
    rows = [
        ("What", f"{item.deployment_type} for {item.model}{named}"),
        ("Where", f"{item.provider} account {item.account}, {item.region}"),
        ("How many", f"{item.units:,} {item.unit}; {item.deployed_units:,} deployed in all"),
        ("Term", f"{item.term_months} {months}"),
        ("Cost", f"{format_usd(item.usd_per_month)} a month, {format_usd(term_usd)} over the term"),
        ("Price", item.price_source or "not recorded"),
        ("How to buy", _how_to_buy(item)),
        ("Break-even", _break_even(item)),
        ("Use planned", "not known" if item.use_share is None else format_share(item.use_share)),
        ("Exit", _exit(item)),
        ("Quota", _quota(item)),
        (
            "Capacity confirmed",
            MISSING.upper() if word is None else f"{word.units:,} units, {word.date}, {word.ref}",
        ),
    ]
    if even is not None:
        mix = f"output {format_share(even.output_fraction)} of tokens, cache hits "
        rows.insert(8, ("Mix", f"{mix}{format_share(even.cached_fraction)} of input"))
    if quota is not None and quota.missing:
        rows.append(("Quota missing", f"{quota.missing:,} {quota.unit}"))
    rows += [
        ("Callers send", f"`{name}: {value}`")
        for name, value in sorted(item.request_headers.items())
    ]
    return [(name, value.replace("|", "\\|")) for name, value in rows]


def _how_to_buy(item: Purchase) -> str:
    if item.provider == "azure":
        return (
            "a reservation for this deployment type, region and scope, once the deployment runs; "
            "it lowers the price and holds no capacity"
        )
    if item.provider == "gcp":
        return (
            "an order in the console by someone with aiplatform.provisionedThroughputs.create; "
            "no API of Pulumi or Terraform has it"
        )
    if is_bought_by_creation(item):
        return "the program creates the units, and so buys them, once the order digest is signed"
    return "through the account manager: no API creates the reserved tier"


def _break_even(item: Purchase) -> str:
    even = item.break_even
    if even is None:
        return "not known: no pay-as-you-go price to compare with"
    if even.utilization is None:
        return even.note
    note = f"; {even.note}" if even.note else ""
    return f"{format_share(even.utilization)} of capacity{note}"


def _exit(item: Purchase) -> str:
    cost = "not known" if item.exit_usd is None else format_usd(item.exit_usd)
    return "; ".join(part for part in (cost, item.exit_rule, item.exit_note) if part)


def _quota(item: Purchase) -> str:
    quota = item.quota
    if quota is None:
        return "none is asked for: each order is approved by the provider"
    have = "not declared" if quota.have is None else f"{quota.have:,}"
    return f"{have} there, {quota.need:,} {quota.unit} needed for all that share it"


def _what_is_missing(item: Purchase) -> str:
    word = item.capacity_confirmed
    needed = max(item.deployed_units, item.units)
    if word is None:
        return f"Ask the provider whether {needed:,} units can be deployed, and declare the answer."
    return f"{word.units:,} of {needed:,} units are confirmed ({word.date}, {word.ref})."
