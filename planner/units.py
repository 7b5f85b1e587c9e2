"""Units used across the planner: bytes, hours, and how they are printed."""

from __future__ import annotations

KIB = 2**10
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


def format_share(share: float) -> str:
    """Return a share (0..1) as a percentage with one decimal."""
    return f"{share * 100:.1f}%"
