"""A floor held against the demand: what it carries, its use, and what spills."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from planner.catalog.rows import PaygPrice
from planner.demand import Demand, DemandCurve
from planner.economics.blend import MTOK, blended_usd_per_mtok
from planner.economics.bursts import Bursts, BurstyCurve, expected_overflow
from planner.economics.cost_types import FloorResult, FloorStep
from planner.economics.floor import MEDIAN, SPILL_TOLERANCE, evaluate
from planner.report.numbers.explained import Condition, Explained, Term
from planner.report.numbers.facts import Case, Sheet, worked_out
from planner.report.numbers.prices import TOKENS_PER_MTOK, blended, minutes

FEW_SEGMENTS = 16
"""Straight lines of a demand curve that are listed; a trace has one for each minute."""


@dataclass(frozen=True)
class Load:
    """Demand in a floor's weighting: its curve, its weight, its bursts and where it spills."""

    case: Case
    used: Demand
    curve: DemandCurve
    weight: Explained
    bursts: Bursts | None
    spill: PaygPrice | None
    spills: bool

    @property
    def usd_per_weighted_token(self) -> float:
        """What a weighted token above the floor costs; 0 where nobody takes it over."""
        if self.spill is None:
            return 0.0
        at = self.used.output_fraction, self.used.cached_fraction
        return blended_usd_per_mtok(self.spill, *at) / MTOK / self.weight.value

    def held(self, step: FloorStep) -> FloorResult:
        """Return a step held against this demand, as the choice of the floor does."""
        return evaluate(
            step,
            self.curve,
            spill_usd_per_weighted_token=self.usd_per_weighted_token,
            active_minutes_per_month=self.used.active_minutes_per_month,
            bursts=self.bursts,
        )


def weighted_mean(sheet: Sheet, load: Load) -> Explained:
    """Add the mean demand in the floor's weighting."""
    plain = sheet["tokens_per_minute_mean"]
    value = load.curve.mean
    title, unit = "Demand in the floor's weighting, mean", "weighted tokens/min"
    factor = load.case.multiplier()
    weighted = plain.value * load.case.choice.token_multiplier * load.weight.value
    if math.isclose(weighted, value, rel_tol=1e-9):
        return sheet.add(
            "weighted_tokens_per_minute_mean",
            title,
            value,
            unit,
            "tokens_per_minute_mean * token_multiplier * weight",
            [plain, factor, load.weight.term("weight")],
            exactness=plain.exactness,
        )
    said = "each minute of the trace by the limit that binds in it, then the mean"
    return sheet.add(
        "weighted_tokens_per_minute_mean",
        title,
        value,
        unit,
        "mean_of_minutes",
        [worked_out("mean_of_minutes", value, unit, said)],
        exactness="measured",
    )


def floor_numbers(
    sheet: Sheet, load: Load, found: FloorResult, capacity: Explained, fixed: Explained, prefix: str
) -> Explained:
    """Add use, spill and cost of a step; return its total. ``prefix`` starts the kinds."""
    mean = sheet["weighted_tokens_per_minute_mean"]
    above = _above(sheet, load, found, capacity, prefix)
    sheet.add(
        f"{prefix}/use_share",
        "Share of the floor in use, mean of the active minutes",
        found.use_share,
        "share",
        "min(1, (weighted_mean - above) / capacity)",
        [mean.term("weighted_mean"), above.term("above"), capacity.term("capacity")],
        exactness="modelled",
    )
    sheet.add(
        f"{prefix}/spill_share",
        "Share of the demand above the floor",
        found.spill_share,
        "share",
        "above / weighted_mean",
        [above.term("above"), mean.term("weighted_mean")],
        exactness="modelled",
        rule="" if load.spills else "nobody takes it over: it waits or is refused",
    )
    spill = _spill_usd(sheet, load, found, above, prefix)
    return sheet.add(
        f"{prefix}/total_usd_per_month",
        "Floor and spill together",
        found.total_usd_per_month,
        "USD/month",
        "fixed + spill",
        [fixed.term("fixed"), spill.term("spill")],
        exactness="modelled",
    )


def _spill_usd(
    sheet: Sheet, load: Load, found: FloorResult, above: Explained, prefix: str
) -> Explained:
    kind, title, unit = f"{prefix}/spill_usd_per_month", "What the spill costs", "USD/month"
    if load.spill is None:
        rule = "no target is named: what is above the floor waits or is refused, and costs nothing"
        return sheet.add(kind, title, found.spill_usd_per_month, unit, "0", [], rule=rule)
    if "spill_blended_usd_per_mtok" not in sheet:
        blended(
            sheet,
            "spill_blended_usd_per_mtok",
            "Blended price of the spill target",
            load.spill,
            "interactive",
        )
    return sheet.add(
        kind,
        title,
        found.spill_usd_per_month,
        unit,
        "above * active_minutes_per_month * spill_blended / tokens_per_mtok / weight",
        [
            above.term("above"),
            minutes(sheet, load.used),
            sheet["spill_blended_usd_per_mtok"].term("spill_blended"),
            TOKENS_PER_MTOK,
            load.weight.term("weight"),
        ],
        exactness="modelled",
        rule="a weighted token is 1 / weight tokens, and spill pays the interactive price",
    )


def _above(
    sheet: Sheet, load: Load, found: FloorResult, capacity: Explained, prefix: str
) -> Explained:
    """Add the demand above a step: the integral, and what bursts inside a minute add."""
    step, unit = found.step, "weighted tokens/min"
    mean = sheet["weighted_tokens_per_minute_mean"]
    value = found.spill_share * mean.value
    plain = _plain_above(sheet, load, step.capacity, capacity, prefix)
    variance = load.bursts.variance_per_token(step.units) if load.bursts else 0.0
    title = "Demand above the floor, mean of the active minutes"
    if variance <= 0:
        return sheet.add(
            f"{prefix}/above",
            title,
            value,
            unit,
            "plain_above",
            [plain.term("plain_above")],
            exactness=plain.exactness,
        )
    cells = BurstyCurve(curve=load.curve).cells
    over = tuple(expected_overflow(level, step.capacity, variance) for _, level in cells)
    said = (
        f"(w - F) N(d) + sd n(d) with sd^2 = {variance:,.6g} x w: arrivals inside a minute are "
        "compound Poisson over the provider's smoothing window (planner.economics.bursts)"
    )
    return sheet.add(
        f"{prefix}/above",
        title,
        value,
        unit,
        "min(weighted_mean, max(plain_above, sum_of_products(shares, overflows)))",
        [
            mean.term("weighted_mean"),
            plain.term("plain_above"),
            worked_out("shares", tuple(s for s, _ in cells), "share", "cells of the curve"),
            worked_out("overflows", over, unit, said),
        ],
        exactness="modelled",
        rule="the mean of (W - F)+ over the demand curve, bursts inside a minute included",
    )


def _plain_above(
    sheet: Sheet, load: Load, level: float, capacity: Explained, prefix: str
) -> Explained:
    curve, unit = load.curve, "weighted tokens/min"
    title = "Demand above the floor, bursts left out"
    rule = "the area between the demand curve and the floor"
    kind = f"{prefix}/plain_above"
    if len(curve.shares) > FEW_SEGMENTS:
        said = f"of the {len(curve.shares) - 2:,} minutes of the trace"
        value = curve.expected_above(level)
        area = worked_out("area", value, unit, said)
        return sheet.add(kind, title, value, unit, "area", [area], exactness="measured", rule=rule)
    widths, means = [], []
    for (left, right), (low, high) in zip(
        pairwise(curve.shares), pairwise(curve.levels), strict=True
    ):
        if high <= level:
            continue
        widths.append(right - left)
        over = high - level
        means.append((low + high) / 2 - level if low >= level else over * over / 2 / (high - low))
    if not widths:
        return sheet.add(kind, title, 0, unit, "0", [], rule="no minute exceeds the floor")
    return sheet.add(
        kind,
        title,
        curve.expected_above(level),
        unit,
        "sum_of_products(shares, above)",
        [
            worked_out("shares", tuple(widths), "share", "of the minutes, by straight line"),
            worked_out(
                "above",
                tuple(means),
                unit,
                f"mean of the line above {level:,.0f}, of {capacity.id}",
            ),
        ],
        rule=rule,
    )


def cheaper_than(
    load: Load, chosen: FloorStep, others: Sequence[FloorStep], unit: str
) -> tuple[Condition, ...]:
    """Return that a step costs no more than those beside it that the rules admit."""
    objectives = load.case.workload.objectives
    median = load.curve.quantile(MEDIAN) if objectives.dedicated else 0.0
    owed = median if load.spills else load.curve.peak
    allowed = objectives.max_spill_share + SPILL_TOLERANCE

    def costs(symbol: str, step: FloorStep, held: FloorResult) -> Term:
        said = f"{step.units:,} {unit} and their spill"
        return worked_out(symbol, held.total_usd_per_month, "USD/month", said)

    total = costs("total", chosen, load.held(chosen))
    found = []
    for at, step in enumerate(others, start=1):
        held = load.held(step)
        if step.capacity < owed or (load.spills and held.spill_share > allowed):
            continue
        term = costs(f"total_{at}", step, held)
        words = f"cost with {step.units:,} {unit}"
        found.append(Condition(words, f"total <= total_{at} * 1.000001", (total, term)))
    return tuple(found)
