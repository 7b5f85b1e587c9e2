"""Demand of each workload, with its floor and what happens to the demand above it."""

from __future__ import annotations

from planner.curves.types import DemandView
from planner.decision import Decision
from planner.report.html.model import Chart, Column, Fact, Page, Reported, Section, Table
from planner.report.html.words import anchor
from planner.report.words import clean
from planner.units import format_share


def page(reported: Reported) -> Page | None:
    """Return a section for each workload; None without any."""
    sections = (_workload(decision, reported) for decision in reported.checked.plan.decisions)
    return Page.of("demand", "Demand", sections)


def _workload(decision: Decision, reported: Reported) -> Section:
    mix, curves = decision.mix, reported.curves.get(decision.workload)

    def link(kind: str) -> str | None:
        return reported.link(decision.workload, kind)

    facts = (
        Fact(
            "Median", mix.tokens_per_minute_p50, "tokens a minute", 0, link("tokens_per_minute_p50")
        ),
        Fact(
            "Peak", mix.tokens_per_minute_peak, "tokens a minute", 0, link("tokens_per_minute_peak")
        ),
        Fact("Volume", mix.tokens_per_month, "tokens a month", 0, link("tokens_per_month")),
        Fact("Output", mix.output_fraction, "of all tokens", 2, link("output_fraction")),
        Fact("Cached", mix.cached_fraction, "of the input", 2, link("cached_fraction")),
    )
    source = f"Source: {clean(mix.source)}."
    id = anchor("demand", decision.workload)
    if curves is None:
        return Section(id, decision.workload, (source,), facts=facts, key_figures=True)
    view = curves.demand
    return Section(
        id,
        decision.workload,
        (_above(view), source),
        Table(
            f"{id}.table",
            f"Demand of {decision.workload} by share of the active minutes",
            (
                Column(
                    "share", "Share of active minutes", "at or below", 4, explains="demand-share"
                ),
                Column("tokens", "Demand", "tokens a minute", 0, explains="demand-level"),
            ),
            tuple((knot.share, knot.tokens_per_minute) for knot in view.knots),
        ),
        Chart("demand", _alt(decision, view), {"floor": view.floor_tokens_per_minute or None}),
        folded=True,
        facts=facts,
        key_figures=True,
    )


def _above(view: DemandView) -> str:
    if not view.floor_tokens_per_minute:
        return f"No floor: the demand {view.above.partition(':')[0]}."
    return (
        f"The floor carries {view.floor_tokens_per_minute:,.0f} tokens a minute. What lies above "
        f"it, {format_share(view.above_share)} of the tokens, {view.above}."
    )


def _alt(decision: Decision, view: DemandView) -> str:
    if not view.knots:
        return f"Demand of {decision.workload}: no level is known."
    low, high = view.knots[0].tokens_per_minute, view.knots[-1].tokens_per_minute
    told = f"Line: demand of {decision.workload}, from {low:,.0f} to {high:,.0f} tokens a minute"
    if view.floor_tokens_per_minute:
        return f"{told}, with the floor at {view.floor_tokens_per_minute:,.0f}."
    return f"{told}; there is no floor."
