"""What leaving costs, by each provider's rule.

A commitment is a bet on the model: if the model goes inside the term, the months
left are paid for nothing unless the provider lets them serve something else.
Rules as read on 2026-11-29: Azure reservations are independent of the model, may
be exchanged, and are refunded up to USD 50,000 of cancelled commitment in twelve
months (MicrosoftDocs/azure-docs, reservations/microsoft-foundry.md, 2026-01-15; a
fee of 12% that an older text announces is not charged as read); Google orders name a
model version and cannot be cancelled, but may move to another model of the
publisher; Bedrock model units cannot be deleted before their term ends and serve one
model, and its Reserved tier bills until the account manager removes it (AWS
documentation, provisioned throughput and service tiers).
"""

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

from planner.catalog.rows import Provider
from planner.economics.cost_types import ExitCost
from planner.economics.discount import months_between
from planner.units import format_usd
from planner.workload import Kind

AZURE_REFUND_CAP_USD = 50_000.0
"""Cancelled commitment that Azure refunds in a rolling twelve months."""


class _Rule(NamedTuple):
    """A provider's rule: its name, what it refunds, what a change of model loses, the way out."""

    name: str
    refund_usd: float
    model_change_usd: float
    way: str


def exit_cost(
    *,
    kind: Kind,
    provider: Provider,
    term_months: int,
    usd_per_month: float,
    as_of: dt.date,
    retires_on: dt.date | None,
    deployment_type: str = "",
    successor_of_publisher: bool | None = None,
    refund_left_usd: float = AZURE_REFUND_CAP_USD,
) -> ExitCost:
    """Return the cost of leaving when the model goes inside the term, USD.

    ``usd_per_month`` is the commitment. Where no retirement date is published the
    whole term is at stake: an upper bound, because unknown is not 0.
    ``successor_of_publisher`` says whether the same publisher has a model to move a
    Google order to; None, unknown, loses the months left. ``refund_left_usd`` is
    what others in the stack leave of Azure's yearly cap, which they share.
    """
    if kind == "payg":
        return ExitCost(usd=0.0, rule="pay-as-you-go", note="nothing is committed")
    if kind == "self_hosted":
        note = "on-demand nodes are released at once; another model can run on them"
        return ExitCost(usd=0.0, rule="self-hosted on demand", note=note)
    if term_months == 0:
        return ExitCost(usd=0.0, rule="hourly", note="no term: deleting the deployment ends it")
    if retires_on is None:
        stranded, when = float(term_months), "no retirement date is published; the whole term"
    else:
        lived = max(0.0, months_between(as_of, retires_on))
        stranded = max(0.0, term_months - lived)
        when = f"the model retires on {retires_on}, {stranded:.1f} months of the term"
    remaining = stranded * usd_per_month
    rule = _rule(provider, deployment_type, remaining, successor_of_publisher, refund_left_usd)
    if stranded == 0:
        return ExitCost(usd=0.0, rule=rule.name, note=f"the model outlives the term ({retires_on})")
    note = f"{when} ({format_usd(remaining)}) at stake; {rule.way}"
    return ExitCost(
        usd=remaining - rule.refund_usd,
        rule=rule.name,
        note=note,
        usd_if_model_changes=rule.model_change_usd,
    )


def _rule(
    provider: Provider,
    deployment_type: str,
    remaining_usd: float,
    successor_of_publisher: bool | None,
    refund_left_usd: float,
) -> _Rule:
    if provider == "azure":
        refund = min(remaining_usd, max(0.0, refund_left_usd), AZURE_REFUND_CAP_USD)
        way = (
            f"{format_usd(refund)} refundable; exchangeable, and the units may serve another "
            "model at no loss"
        )
        return _Rule("Azure reservation: exchange or capped refund", refund, 0.0, way)
    if provider == "gcp":
        way = "no cancellation; may switch to another model of the same publisher"
        lost = 0.0 if successor_of_publisher else remaining_usd
        return _Rule("Google order: bound to a model version", 0.0, lost, way)
    if deployment_type == "reserved":
        way = "no cancellation; bills on until the account manager removes it"
        return _Rule("Bedrock Reserved tier: removed on request", 0.0, remaining_usd, way)
    way = "no deletion before the term ends; the units serve this model only"
    return _Rule("Bedrock model units: bound to a model", 0.0, remaining_usd, way)
