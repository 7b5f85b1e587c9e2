"""Break-even of each commitment against the mix: its output and its cached share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.curves.types import BreakEvenCurve, BreakEvenPoint
from planner.decision import Decision
from planner.report.html.amounts import tokens_words
from planner.report.html.model import Chart, Column, Page, Reported, Section, Table, Value
from planner.report.html.words import anchor
from planner.units import format_share, format_usd

COLUMNS = (
    Column("tokens", "Break-even", "tokens a month", 0, explains="even-tokens"),
    Column("needed", "Needs of the capacity", "share", 3, explains="even-needed"),
    Column("blended", "Pay-as-you-go", "USD per million tokens", 4, explains="even-blended"),
)


def page(reported: Reported) -> Page | None:
    """Return the break-even of each workload with a commitment; None without any."""
    sections = (
        section
        for decision in reported.checked.plan.decisions
        for section in _sections(decision, reported)
    )
    return Page.of("break-even", "Break-even against the mix", sections)


def _sections(decision: Decision, reported: Reported) -> Iterator[Section]:
    curves = reported.curves.get(decision.workload)
    curve = curves.break_even if curves is not None else None
    if curve is None:
        return
    id = anchor("break-even", decision.workload)
    yield _section(
        id,
        decision.workload,
        (_today(curve), _moves("output fraction", curve.by_output_fraction)),
        "output fraction",
        curve.by_output_fraction,
        curve.output_fraction_now,
        curve,
    )
    yield _section(
        f"{id}.cached",
        f"{decision.workload}: cached input",
        (_moves("cached share of the input", curve.by_cached_fraction),),
        "cached share of the input",
        curve.by_cached_fraction,
        curve.cached_fraction_now,
        curve,
    )


def _section(
    id: str,
    title: str,
    text: tuple[str, ...],
    axis: str,
    points: Sequence[BreakEvenPoint],
    now: float,
    curve: BreakEvenCurve,
) -> Section:
    within = [point for point in points if point.tokens_per_month is not None]
    alt = (
        f"Line: break-even tokens a month of {title} by {axis}, from "
        f"{format_share(points[0].share)} to {format_share(points[-1].share)}; today "
        f"{format_share(now)}."
    )
    params: dict[str, Value] = {"now": now, "volume": curve.tokens_per_month_now, "axis": axis}
    return Section(
        id,
        title,
        text,
        Table(
            f"{id}.table",
            f"Break-even of {title} by {axis}; empty where it lies beyond the capacity",
            (Column("share", axis.capitalize(), "share", 4, explains="even-share"), *COLUMNS),
            tuple(
                (
                    point.share,
                    point.tokens_per_month,
                    point.needed_share,
                    point.blended_usd_per_mtok,
                )
                for point in points
            ),
        ),
        # Without a break-even within the capacity there is nothing to draw.
        Chart("break_even", alt, params) if len(within) > 1 else None,
        folded=True,
        level=3 if text[0].startswith("The commitment") else 4,
    )


def _today(curve: BreakEvenCurve) -> str:
    commitment = f"The commitment of {format_usd(curve.commitment_usd_per_month)} a month"
    now = next(p for p in curve.by_output_fraction if p.share == curve.output_fraction_now)
    if now.tokens_per_month is not None:
        share = f", {format_share(now.utilization)} of its capacity" if now.utilization else ""
        return (
            f"{commitment} costs what {curve.against} would at "
            f"{tokens_words(now.tokens_per_month)} tokens a month{share}; today's volume is "
            f"{tokens_words(curve.tokens_per_month_now)}."
        )
    if now.needed_share is None:
        return f"{commitment} never breaks even with {curve.against} at today's mix."
    return (
        f"{commitment} never breaks even with {curve.against}: at today's mix it would take "
        f"{format_share(now.needed_share)} of its capacity."
    )


def _moves(what: str, points: Sequence[BreakEvenPoint]) -> str:
    """Return how the break-even moves over a share: its ends, or that there is none."""
    some = f"an {what}" if what[0] in "aeiou" else f"a {what}"
    within = [(p.share, p.tokens_per_month) for p in points if p.tokens_per_month is not None]
    if not within:
        least = min((p.needed_share for p in points if p.needed_share is not None), default=None)
        nearest = f": at the best it takes {format_share(least)} of it" if least else ""
        return f"At no {what} drawn does it lie within the capacity{nearest}."
    (first, low), (last, high) = within[0], within[-1]
    if first == last:
        return f"The break-even lies within the capacity only at {some} of {format_share(first)}."
    gap = (
        ""
        if len(within) == len(points)
        else f"; it lies within the capacity at {len(within)} of {len(points)} values drawn"
    )
    if low == high:
        return (
            f"The break-even stays at {tokens_words(low)} tokens a month from {some} of "
            f"{format_share(first)} to {format_share(last)}{gap}."
        )
    return (
        f"The break-even is {tokens_words(low)} tokens a month at {some} of "
        f"{format_share(first)}, and {tokens_words(high)} at {format_share(last)}{gap}."
    )
