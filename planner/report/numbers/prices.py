"""Blended pay-as-you-go prices and what a month's tokens cost at them."""

from __future__ import annotations

from planner.catalog.rows import PaygPrice
from planner.demand import Demand
from planner.economics.blend import MTOK, bill_usd_per_month, blended_usd_per_mtok, has_batch_price
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Case, Sheet, constant, row
from planner.workload import Tier

TOKENS_PER_MTOK = constant("tokens_per_mtok", MTOK, "tokens", "price lists are per million")


def blended(sheet: Sheet, kind: str, title: str, price: PaygPrice, tier: Tier) -> Explained:
    """Add the price of a million tokens of the workload's mix."""
    mix = [sheet["output_fraction"], sheet["cached_fraction"]]
    f, c = (item.value for item in mix)
    value = blended_usd_per_mtok(price, f, c, tier)
    unit = "USD/Mtok"
    if tier == "batch" and has_batch_price(price):
        return sheet.add(
            kind,
            title,
            value,
            unit,
            "(1 - output_fraction) * batch_input + output_fraction * batch_output",
            [
                mix[0],
                row("batch_input", price.batch_input_usd_per_mtok or 0.0, unit, price),
                row("batch_output", price.batch_output_usd_per_mtok or 0.0, unit, price),
            ],
            rule="batch prices carry no cache discount",
        )
    cached = price.cached_input_usd_per_mtok
    return sheet.add(
        kind,
        title,
        value,
        unit,
        "(1 - output_fraction) * ((1 - cached_fraction) * input + cached_fraction * cached_input)"
        " + output_fraction * output",
        [
            *mix,
            row("input", price.input_usd_per_mtok, unit, price),
            row(
                "cached_input", price.input_usd_per_mtok if cached is None else cached, unit, price
            ),
            row("output", price.output_usd_per_mtok, unit, price),
        ],
        rule="cached input has no price of its own: it costs what input costs"
        if cached is None
        else "",
    )


def bill(
    sheet: Sheet, case: Case, kind: str, title: str, price: PaygPrice, at: Explained, tier: Tier
) -> Explained:
    """Add what all of the month's tokens cost at the blended price ``at``."""
    return sheet.add(
        kind,
        title,
        bill_usd_per_month(price, case.used.split_per_month(), tier),
        "USD/month",
        "tokens_per_month * token_multiplier / tokens_per_mtok * blended",
        [sheet["tokens_per_month"], case.multiplier(), TOKENS_PER_MTOK, at.term("blended")],
        exactness=sheet["tokens_per_month"].exactness,
    )


def minutes(sheet: Sheet, demand: Demand) -> Explained:
    """Add the active minutes of a month, once."""
    if "active_minutes_per_month" in sheet:
        return sheet["active_minutes_per_month"]
    return sheet.add(
        "active_minutes_per_month",
        "Minutes a month in which the demand arrives",
        demand.active_minutes_per_month,
        "min/month",
        "active_hours_per_month * 60",
        [sheet["active_hours_per_month"]],
    )


def usd(symbol: str, value: float, how: str) -> Term:
    """Return an amount that was worked out elsewhere as a term."""
    return Term(symbol, value, "USD/month", "worked_out", "", how)
