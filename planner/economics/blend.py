"""The blended pay-as-you-go price of a mix of input, cached input and output."""

from __future__ import annotations

from planner.catalog.rows import PaygPrice
from planner.demand import TokenSplit
from planner.workload import Tier

MTOK = 1e6
"""Tokens in the unit of the price lists."""


def blended_usd_per_1k(
    input_usd_per_1k: float, output_usd_per_1k: float, output_fraction: float
) -> float:
    """Return input price x (1 - f) + output price x f, per 1,000 tokens.

    The reference formula without a cache; f is the share of tokens that are output.
    """
    return input_usd_per_1k * (1 - output_fraction) + output_usd_per_1k * output_fraction


def has_batch_price(price: PaygPrice) -> bool:
    """Return whether both of the batch prices are known; batch work pays them then."""
    return (
        price.batch_input_usd_per_mtok is not None and price.batch_output_usd_per_mtok is not None
    )


def blended_usd_per_mtok(
    price: PaygPrice, output_fraction: float, cached_fraction: float, tier: Tier = "interactive"
) -> float:
    """Return USD per million tokens of a mix.

    (1 - f)((1 - c) x input + c x cached input) + f x output. Cached input without
    a price of its own costs what input costs. Batch prices carry no cache discount.
    """
    f, c = output_fraction, cached_fraction
    batch = (price.batch_input_usd_per_mtok, price.batch_output_usd_per_mtok)
    if tier == "batch" and batch[0] is not None and batch[1] is not None:
        return (1 - f) * batch[0] + f * batch[1]
    cached = price.cached_input_usd_per_mtok
    cached = price.input_usd_per_mtok if cached is None else cached
    return (1 - f) * ((1 - c) * price.input_usd_per_mtok + c * cached) + (
        f * price.output_usd_per_mtok
    )


def bill_usd_per_month(price: PaygPrice, split: TokenSplit, tier: Tier = "interactive") -> float:
    """Return the pay-as-you-go bill of a month's tokens, USD."""
    if split.total <= 0:
        return 0.0
    prompt = split.uncached_input + split.cached_input
    cached_fraction = split.cached_input / prompt if prompt > 0 else 0.0
    blended = blended_usd_per_mtok(price, split.output / split.total, cached_fraction, tier)
    return split.total / MTOK * blended
