"""Whether a difference is worth a comment, and whether its cost passes a threshold."""

from __future__ import annotations

import re
from typing import Literal

from planner import faults
from planner.base import Frozen
from planner.comparing.types import CENT, PlanDiff
from planner.errors import InputError, PlanDiffers
from planner.units import format_usd

_AMOUNT = re.compile(r"(?:USD|\$)?\s*(\d[\d,]*(?:\.\d+)?)\s*(%?)", re.IGNORECASE)

DEFAULT_COST_FLOOR_USD = 1.0
"""USD a month: a change of cost alone that is no larger is no news."""


class Threshold(Frozen):
    """How much the monthly cost may change: an amount in USD, or a share of the old cost.

    ``text`` is what the user wrote.
    """

    direction: Literal["increase", "decrease"]
    amount: float
    is_share: bool
    text: str


def threshold_of(option: str, text: str, direction: Literal["increase", "decrease"]) -> Threshold:
    """Return the threshold in ``text``: ``500`` is USD a month, ``10%`` a share of the old cost."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        what = f"{text!r} is no amount"
        raise InputError([faults.BAD_AMOUNT.at(option, what)])
    amount = float(match[1].replace(",", ""))
    is_share = bool(match[2])
    return Threshold(
        direction=direction,
        amount=amount / 100 if is_share else amount,
        is_share=is_share,
        text=text.strip(),
    )


def passed(diff: PlanDiff, threshold: Threshold) -> PlanDiffers | None:
    """Return the error of a change beyond the threshold, None within it.

    A workload without a known cost makes the change unknown: it is taken to be beyond. What
    costs something where nothing was paid before is more than any share.
    """
    cost, where = diff.cost, f"stack {diff.stack}"
    if not cost.total_known:
        names = ", ".join(sorted({*cost.unknown_old, *cost.unknown_new}))
        what = f"by how much its cost changes cannot be told: no known cost for {names}"
        return PlanDiffers(faults.COST_CHANGED.at(where, what))
    old, new = cost.total.old or 0.0, cost.total.new or 0.0
    change = new - old if threshold.direction == "increase" else old - new
    limit = threshold.amount * old if threshold.is_share else threshold.amount
    if change - limit < CENT:
        return None
    verb = f"{threshold.direction}s"
    what = (
        f"its cost {verb} by {format_usd(change)} a month, from {format_usd(old)} to "
        f"{format_usd(new)}; --fail-on-{threshold.direction} {threshold.text} allows "
        f"{format_usd(limit)}"
    )
    return PlanDiffers(faults.COST_CHANGED.at(where, what))


def is_news(diff: PlanDiff, cost_floor_usd: float = DEFAULT_COST_FLOOR_USD) -> bool:
    """Return whether a reviewer has to know: anything but a change of cost within the floor.

    Both directions count. Assumptions that moved nothing are no news; that the cost is not
    known on one side is.
    """
    cost, residency = diff.cost, diff.residency
    silent = (
        diff.same_capacity
        and diff.same_findings
        and not any(row.changed for row in diff.capacity if row.presence != "both")
        and not any(row.old_status != row.new_status for row in diff.capacity)
        and not (residency.places or residency.moved or residency.protection)
        and cost.unknown_old == cost.unknown_new
    )
    if not silent:
        return True
    moved = [cost.total.delta, *(row.total.delta for row in cost.rows)]
    return any(abs(delta) > cost_floor_usd for delta in moved if delta is not None)
