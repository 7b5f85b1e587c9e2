"""Cost against volume of each workload: the chosen option beside those that it beat.

The table is wide, one column for each line, as the chart of kind "cost" reads it. The
crossovers have a table of their own, which the chart marks.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.choose import TIE_USD
from planner.curves.types import CostCurve, CostLine
from planner.decision import Decision, Outcome
from planner.report.html.amounts import tokens_words
from planner.report.html.model import Chart, Column, Page, Reported, Section, Table
from planner.report.html.words import anchor
from planner.units import format_usd


def page(reported: Reported) -> Page | None:
    """Return cost against volume of each decided workload; None without any."""
    sections = (
        section
        for decision in reported.checked.plan.decisions
        for section in _sections(decision, reported)
    )
    return Page.of("cost", "Cost against volume", sections)


def _sections(decision: Decision, reported: Reported) -> Iterator[Section]:
    curves = reported.curves.get(decision.workload)
    if curves is None or curves.cost is None:
        return
    cost, id = curves.cost, anchor("cost", decision.workload)
    titles = _titles(cost)
    crossed = f"{id}.crossovers.table" if cost.crossovers else None
    chosen = next(title for line, title in zip(cost.lines, titles, strict=True) if line.chosen)
    yield Section(
        id,
        decision.workload,
        tuple(_told(decision, cost, coarse=curves.coarse)),
        Table(
            f"{id}.table",
            f"USD a month of {decision.workload} by volume; empty where an option cannot serve",
            (
                Column("volume", "Volume", "tokens a month", 0, explains="cost-volume"),
                *(
                    Column(f"line{at}", title, "USD a month", 2, explains="cost-usd")
                    for at, title in enumerate(titles, start=1)
                ),
            ),
            tuple(
                (volume, *(line.usd_per_month[at] for line in cost.lines))
                for at, volume in enumerate(cost.tokens_per_month)
            ),
        ),
        Chart(
            "cost",
            _alt(decision, cost),
            {"now": cost.tokens_per_month_now, "chosen": chosen},
            {} if crossed is None else {"crossovers": crossed},
        ),
        folded=True,
    )
    if crossed is not None:
        labels = dict(zip((line.option for line in cost.lines), titles, strict=True))
        yield Section(
            f"{id}.crossovers",
            f"Crossovers of {decision.workload}",
            ("Where the chosen option and another one cost the same, the mix as it is.",),
            Table(
                crossed,
                f"Volumes of {decision.workload} at which the cheaper option changes",
                (
                    Column("volume", "Volume", "tokens a month", 0, explains="cost-crossover"),
                    Column("usd", "Cost there", "USD a month", 2, explains="cost-crossover"),
                    Column("below", "Cheaper below"),
                    Column("above", "Cheaper above"),
                ),
                tuple(
                    (
                        found.tokens_per_month,
                        found.usd_per_month,
                        labels[found.from_option],
                        labels[found.to_option],
                    )
                    for found in cost.crossovers
                ),
            ),
            folded=True,
            level=4,
        )


def _titles(cost: CostCurve) -> tuple[str, ...]:
    """Return a title for each line: its label, with the id where two share one."""
    labels = [line.label for line in cost.lines]
    return tuple(
        label if labels.count(label) == 1 else f"{label} [{line.option}]"
        for line, label in zip(cost.lines, labels, strict=True)
    )


def _told(decision: Decision, cost: CostCurve, *, coarse: bool) -> Iterator[str]:
    chosen = next(line for line in cost.lines if line.chosen)
    now = cost.tokens_per_month_now
    today = _at(cost, chosen, now)
    if today is not None:
        yield f"{_upper(chosen.label)}: {format_usd(today)} a month at today's {_volume(now)}."
    yield from _turns(cost, chosen)
    unable = next(
        (
            volume
            for volume, usd in zip(cost.tokens_per_month, chosen.usd_per_month, strict=True)
            if volume > now and usd is None
        ),
        None,
    )
    if unable is not None:
        yield f"It cannot serve {_volume(unable)} a month as it is bounded now."
    for line in cost.lines:
        price = _at(cost, line, now)
        if not line.admissible and price is not None:
            yield f"{line.label}: {format_usd(price)} today, for comparison alone."
    engineering = max((_engineering(o) for o in _outcomes(decision)), default=0.0)
    if engineering > 0 and any(line.label.startswith("self-hosted") for line in cost.lines):
        yield f"Self-hosting is drawn with its engineering line, {format_usd(engineering)} a month."
    if coarse:
        yield "Drawn at few volumes, because this stack has very many workloads."


def _turns(cost: CostCurve, chosen: CostLine) -> Iterator[str]:
    """Yield between which volumes the chosen option is the cheapest of those drawn."""
    rivals = [line for line in cost.lines if line.admissible and not line.chosen]
    if not rivals:
        yield "No other option could serve this workload, so there is nothing to cross."
        return
    now = cost.tokens_per_month_now
    if (dearer := _cheaper_at(cost, chosen, now)) is not None:
        yield f"{_upper(dearer.label)} would cost less today: what is live is kept."
        return
    above, below = _turn(cost, chosen, up=True), _turn(cost, chosen, up=False)
    if above is None and below is None:
        yield "No option drawn beside it costs less at any of these volumes."
    if above is not None:
        yield f"The cheapest drawn up to {_volume(above[0])} a month, then {above[1].label}."
    if below is not None:
        yield f"Below {_volume(below[0])} a month {below[1].label} costs less."


def _turn(cost: CostCurve, chosen: CostLine, *, up: bool) -> tuple[float, CostLine] | None:
    """Return the volume nearest to today's beyond which another option is cheaper.

    A crossover where there is one; the volume drawn where the other option begins to serve.
    """
    now = cost.tokens_per_month_now
    found: list[tuple[float, CostLine]] = []
    for crossover in cost.crossovers:
        volume = crossover.tokens_per_month
        leads_to = crossover.to_option if up else crossover.from_option
        if (volume > now) == up and leads_to != chosen.option:
            found.append((volume, next(x for x in cost.lines if x.option == leads_to)))
    for volume in cost.tokens_per_month:
        cheaper = _cheaper_at(cost, chosen, volume)
        if cheaper is not None and volume != now and (volume > now) == up:
            found.append((volume, cheaper))
    return min(found, key=lambda item: abs(item[0] - now), default=None)


def _cheaper_at(cost: CostCurve, chosen: CostLine, volume: float) -> CostLine | None:
    """Return the cheapest option below the chosen one at a volume; None without one."""
    held = _at(cost, chosen, volume)
    if held is None:
        return None
    served = [
        (usd, line)
        for line in cost.lines
        if line.admissible and (usd := _at(cost, line, volume)) is not None
    ]
    usd, line = min(served, key=lambda item: item[0])
    return line if usd < held - TIE_USD else None


def _at(cost: CostCurve, line: CostLine, volume: float) -> float | None:
    return line.usd_per_month[cost.tokens_per_month.index(volume)]


def _outcomes(decision: Decision) -> Iterator[Outcome]:
    if decision.chosen is not None:
        yield decision.chosen
    yield from decision.others


def _engineering(outcome: Outcome) -> float:
    """Return what is compared above the option's own cost."""
    total = outcome.cost.total_usd_per_month if outcome.cost is not None else None
    compared = outcome.compared_usd_per_month
    return 0.0 if total is None or compared is None else compared - total


def _alt(decision: Decision, cost: CostCurve) -> str:
    low, high = cost.tokens_per_month[0], cost.tokens_per_month[-1]
    names = "; ".join(line.label for line in cost.lines)
    return (
        f"Lines: USD a month of {decision.workload} from {_volume(low)} to {_volume(high)} a "
        f"month, both on log scales: {names}."
    )


def _volume(tokens: float) -> str:
    return f"{tokens_words(tokens)} tokens"


def _upper(text: str) -> str:
    """Return text that begins a sentence; a model's or a deployment's name stays as it is."""
    return f"S{text[1:]}" if text.startswith("self-hosted") else text
