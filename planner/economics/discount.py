"""The value of time, and which terms may be compared at all.

Payments of the first twelve months count in full; a payment of month m > 12 is
divided by (1 + r)^((m - 12)/12) at the stated annual rate r.
"""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Sequence
from functools import lru_cache

from planner.units import HOURS_PER_MONTH

UNDISCOUNTED_MONTHS = 12
DAYS_PER_MONTH = HOURS_PER_MONTH / 24


def months_between(start: dt.date, end: dt.date) -> float:
    """Return the months of 730 hours from ``start`` to ``end``, negative if earlier."""
    return (end - start).days / DAYS_PER_MONTH


def add_months(start: dt.date, months: int) -> dt.date:
    """Return the same day ``months`` calendar months later, or that month's last day."""
    years, month = divmod(start.month - 1 + months, 12)
    year = start.year + years
    last = calendar.monthrange(year, month + 1)[1]
    return dt.date(year, month + 1, min(start.day, last))


def discount_factor(month: int, rate_per_year: float) -> float:
    """Return today's value of one dollar paid in ``month`` (the first is 1)."""
    later = max(0, month - UNDISCOUNTED_MONTHS)
    return float((1 + rate_per_year) ** (-later / 12))


def present_value_usd(monthly_usd: Sequence[float], rate_per_year: float) -> float:
    """Return the value today of monthly payments, the first in month 1."""
    return sum(
        usd * discount_factor(month, rate_per_year)
        for month, usd in enumerate(monthly_usd, start=1)
    )


def level_usd_per_month(monthly_usd: Sequence[float], rate_per_year: float) -> float:
    """Return the level monthly payment of the same value over the same months."""
    factors = [discount_factor(m, rate_per_year) for m in range(1, len(monthly_usd) + 1)]
    return present_value_usd(monthly_usd, rate_per_year) / sum(factors)


@lru_cache(maxsize=1024)
def paid_share(months_paid: float, horizon_months: int, rate_per_year: float) -> float:
    """Return which share of a level payment's value the first ``months_paid`` months are.

    Within twelve months that is months over months; beyond, later months weigh less.
    """
    factors = [discount_factor(month, rate_per_year) for month in range(1, horizon_months + 1)]
    paid = sum(
        factor * min(1.0, max(0.0, months_paid - index)) for index, factor in enumerate(factors)
    )
    return paid / sum(factors)


def comparable(first_term_months: int, second_term_months: int) -> bool:
    """Return whether two prices may be compared: terms of like length.

    Term 0 can be left at any time, so it stands beside any term as what the term
    is a discount on; two different terms do not compare.
    """
    return 0 in (first_term_months, second_term_months) or (first_term_months == second_term_months)
