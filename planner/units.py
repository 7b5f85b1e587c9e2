"""Units used across the planner: bytes, hours, and how they are printed."""

from __future__ import annotations

import math

MIB = 2**20
GIB = 2**30
GB = 10**9

HOURS_PER_MONTH = 730.0
"""Billing hours in a month (8,760 / 12), the convention of the cloud price lists."""

HOURS_PER_WEEK = 168.0
MINUTES_PER_HOUR = 60.0


def format_bytes(count: float) -> str:
    """Return a byte count in GiB with two decimals."""
    return f"{count / GIB:,.2f} GiB"


def format_usd(amount: float) -> str:
    """Return an amount of dollars: whole above 100, else with cents."""
    return f"${amount:,.0f}" if abs(amount) >= 100 else f"${amount:,.2f}"


def usd_a_month(amount: float) -> str:
    """Return a monthly amount of dollars: $29 a month."""
    return f"{format_usd(amount)} a month"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, plural unless it is one: 1 node, 2 replicas."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_availability(share: float) -> str:
    """Return an availability with two digits of its gap to 1, rounded down.

    0.999994 stays 0.999994: a promise never grows to 1 in print.
    """
    if not 0.0 < share < 1.0:
        return f"{share:g}"
    # A relative sliver keeps 0.95 from turning into 0.949 by binary rounding.
    places = math.ceil(-math.log10(1 - share)) + 1
    scale = 10**places
    return f"{math.floor(share * scale * (1 + 1e-15)) / scale:.{places}f}".rstrip("0")


def format_share(share: float) -> str:
    """Return a share (0..1) as a percentage with one decimal; what is there is never 0.0%."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{share * 100:.1f}%"
