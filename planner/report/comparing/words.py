"""What the formats of a difference share: amounts, sizes and changes in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from planner.comparing.size import Size
from planner.comparing.types import (
    BlastRadius,
    BlastRow,
    CapacityRow,
    CostDiff,
    FlippedDecision,
    Money,
    Moved,
    PlaceRow,
    Side,
)
from planner.report.words import clean, verdict_word
from planner.units import counted, format_share, format_usd

Item = TypeVar("Item")

NOT_KNOWN = "not known"
ARROW = "->"
SHORT = 12
"""Characters of a digest in a text."""

_LONGEST = 90
"""Characters of a value that a line shows; JSON has all of it."""


def signed_usd(amount: float) -> str:
    """Return a change of an amount with its sign: +$1,200 or -$3.50; what rounds to 0 has none."""
    text = format_usd(abs(amount))
    return text if abs(amount) < 0.005 else f"{'+' if amount > 0 else '-'}{text}"


def signed_share(share: float) -> str:
    """Return a relative change with its sign: +12.5%; a change is never told as none: +0.018%."""
    percent = share * 100
    if 0 < abs(percent) < 0.0005:
        return f"{'+' if share > 0 else '-'}<0.001%"
    return f"{percent:+,.{3 if 0 < abs(percent) < 0.05 else 1}f}%"


def usd(amount: float | None) -> str:
    """Return an amount, or that it is not known."""
    return NOT_KNOWN if amount is None else format_usd(amount)


def money_delta(money: Money) -> str:
    """Return the change of an amount with its share of the old one."""
    if money.delta is None:
        return NOT_KNOWN
    if not money.changed:
        return "no change"
    share = f", {signed_share(money.share)}" if money.share is not None else ", from nothing"
    return f"{signed_usd(money.delta)}{share}"


def side_usd(amount: float | None, missing: Sequence[str]) -> str:
    """Return one side's amount of the stack: a lower bound where workloads are missing in it."""
    return f"at least {usd(amount)}" if missing and amount is not None else usd(amount)


def part_delta(cost: CostDiff, money: Money) -> str:
    """Return the change of one of the stack's amounts; not known where a workload's cost is not.

    What a workload without a decision would cost is in neither total: less is no saving.
    """
    return money_delta(money) if cost.total_known else NOT_KNOWN


def unknown_words(cost: CostDiff) -> list[str]:
    """Return what is not in the amounts, because no price or no decision is known."""
    lines = []
    for names, side in ((cost.unknown_old, "before"), (cost.unknown_new, "now")):
        if names:
            lines.append(
                f"no known cost {side} for {counted(len(names), 'workload')} "
                f"({', '.join(names)}): not in the total"
            )
    if cost.unpriced_options_old or cost.unpriced_options_new:
        before = changed(cost.unpriced_options_old, cost.unpriced_options_new, str)
        lines.append(f"options without a known price, never chosen: {before}")
    return lines


def short(digest: str) -> str:
    """Return the first characters of a digest, without the name of its algorithm."""
    return digest.removeprefix("sha256:")[:SHORT]


def verdict_words(side: Side) -> str:
    """Return a side's verdict in a word or two; that no option can serve comes first."""
    if side.kind == "nothing":
        return "nothing there"
    if side.infeasible and side.verdict in ("allow", "warn"):
        return "INFEASIBLE"
    return verdict_word(side.verdict)


def changed(old: Item, new: Item, said: Callable[[Item], str]) -> str:
    """Return one value where both are the same, else old -> new."""
    a, b = said(old), said(new)
    return a if a == b else f"{a} {ARROW} {b}"


def capacity_words(size: Size | None) -> str:
    """Return what serves a workload: how many, of what, where."""
    if size is None:
        return "none"
    if size.kind == "self_hosted":
        spare = f" +{size.spare_replicas} spare" if size.spare_replicas else ""
        what = (
            f"{counted(size.replicas, 'replica')}{spare} {size.layout} of {size.model} on "
            f"{counted(size.nodes, 'node')} {size.deployment_type}"
        )
    elif size.kind == "provisioned":
        term = f", {size.term_months}-month term" if size.term_months else ""
        what = f"{counted(size.units, 'unit')} {size.deployment_type} {size.model}{term}"
    else:
        what = f"{size.deployment_type} {size.model}"
    return f"{what} in {size.region}{_spill_words(size)}"


def _spill_words(size: Size) -> str:
    """Return where what is too much goes; pay-as-you-go has nothing to spill out of."""
    if size.kind == "payg":
        return ""
    return f", spill to {size.spill}" if size.spill else ", no spill"


def row_status(row: CapacityRow) -> str:
    """Return how a workload's row is marked: new, gone, or its statuses."""
    if row.presence != "both":
        return {"added": "new", "removed": "gone"}[row.presence]
    statuses = changed(row.old_status, row.new_status, str)
    return "" if statuses == "decided" else statuses


def cells_of(row: CapacityRow, part: Callable[[Size], str]) -> str:
    """Return one figure of a workload on both sides, old -> new."""
    old = part(row.old) if row.old else None
    new = part(row.new) if row.new else None
    if row.presence == "added":
        return new or "none"
    if row.presence == "removed":
        return f"{old or 'none'} {ARROW} gone"
    return changed(old or "none", new or "none", str)


def throughput(size: Size) -> str:
    """Return peak tokens/s served by dedicated capacity of those demanded."""
    demanded = f"{size.demanded_tokens_per_s:,.0f}"
    if size.served_tokens_per_s is None:
        return f"none reserved, {demanded}"
    return f"{size.served_tokens_per_s:,.0f} of {demanded}{_rest_words(size)}"


def _rest_words(size: Size) -> str:
    """Return what becomes of a peak above the dedicated part, so that a gap explains itself."""
    if size.headroom is None or size.headroom >= 0:
        return ""
    return ", the rest spills" if size.spill else ", the rest waits or is refused"


def scale(size: Size) -> str:
    """Return how many units or replicas there are, spares apart."""
    if size.kind == "provisioned":
        return counted(size.units, "unit")
    if size.kind == "payg":
        return "pay as you go"
    spare = f"+{size.spare_replicas}" if size.spare_replicas else ""
    return f"{size.replicas}{spare} x {size.layout}"


def headroom(size: Size) -> str:
    """Return headroom over the peak and, where there are nodes, with one of them lost."""
    rooms = (size.headroom, size.headroom_node_lost)
    return " / ".join(f"{room * 100:+.0f}%" for room in rooms if room is not None) or "-"


def memory(size: Size) -> str:
    """Return the share of a GPU's budget that is taken before the KV cache."""
    return "-" if size.memory_before_kv is None else format_share(size.memory_before_kv)


def hardware(size: Size) -> str:
    """Return the GPU type, or what the provider runs."""
    return size.gpu or size.deployment_type


def place_words(row: PlaceRow) -> str:
    """Return a place that came or went, with the data that it touches."""
    sign = "+" if row.change == "added" else "-"
    return (
        f"{sign} {row.kind} {row.name}: {', '.join(row.classes)} data of {', '.join(row.workloads)}"
    )


def blast_counts(blast: BlastRadius) -> str:
    """Return how many things are destroyed, replaced, resized, updated and created."""
    counts = {
        action: sum(row.action == action for row in blast.rows)
        for action in ("destroy", "replace", "resize", "update", "create")
    }
    told = [f"{number} to {action}" for action, number in counts.items() if number]
    return ", ".join(told) or "nothing"


def thing_words(row: BlastRow) -> str:
    """Return what happens to a thing."""
    return f"{row.action} {row.kind} {row.name}{f': {row.what}' if row.what else ''}"


def moved_words(row: Moved) -> str:
    """Return an assumption that moved."""
    share = f" ({signed_share(row.share)})" if row.share is not None else ""
    return f"{row.about}: {row.what} {value(row.old)} {ARROW} {value(row.new)}{share}"


def flip_words(row: FlippedDecision) -> str:
    """Return a decision that flipped, and why the old option is no longer it."""
    old = short_option(row.workload, row.old_option) or row.old_status
    new = short_option(row.workload, row.new_option) or row.new_status
    lost = f" [{row.lost}]" if row.lost else ""
    return f"{row.workload}: {old} {ARROW} {new}{lost}: {clean(row.why)}"


def short_option(workload: str, option: str | None) -> str | None:
    """Return an option's id without its workload's name."""
    return option.removeprefix(f"{workload}/") if option else None


def value(item: object) -> str:
    """Return any value in words, cut to a line's length."""
    if item is None:
        return "none"
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, (int, float)):
        return f"{item:,.4g}" if abs(item) < 1000 else f"{item:,.0f}"
    text = clean(str(item))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}..."
