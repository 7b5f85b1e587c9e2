"""Provisioned units: what they carry, how many, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.rows import ProvisionedPrice, ProvisionedUnit
from planner.decision import Outcome
from planner.economics.cost_types import FloorResult, FloorStep
from planner.economics.floor import MEDIAN
from planner.economics.provisioned import owned_units, sunk_units
from planner.economics.unit_load import output_equivalent, unit_bursts, unit_curve, unit_weight
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Case, Sheet, row, worked_out
from planner.report.numbers.floor import Load, cheaper_than, floor_numbers, weighted_mean


@dataclass(frozen=True)
class Units:
    """The units of a chosen outcome: the unit's row, its price's, and what is owned."""

    case: Case
    outcome: Outcome
    unit: ProvisionedUnit
    price: ProvisionedPrice | None

    def charged(self, units: int) -> float:
        """Return how many of ``units`` are paid for, on average over the horizon."""
        return units - self.sunk(units)

    def sunk(self, units: int) -> float:
        """Return how many of ``units`` are owned already, on average over the horizon."""
        option, platform = self.outcome.option, self.case.facts.stack.platform
        owned = owned_units(
            platform.commitments,
            provider=option.provider,
            model=option.model,
            deployment_type=option.deployment_type,
            region=option.region,
            as_of=platform.as_of,
        )
        rate = platform.deciding.discount_rate_per_year
        return sunk_units(units, owned, self.case.workload.horizon_months, rate)

    def step(self, units: int) -> FloorStep:
        """Return the step of so many units."""
        each = self.price.usd_per_unit_month if self.price else 0.0
        return FloorStep(
            units=units,
            capacity=units * self.unit.input_tokens_per_minute,
            fixed_usd_per_month=self.charged(units) * each,
        )


def provisioned_numbers(sheet: Sheet, case: Case, outcome: Outcome) -> Load:
    """Add units, floor and spill; return the load that the floor was held against."""
    option, cost = outcome.option, outcome.cost
    assert cost is not None  # noqa: S101 - chosen options are priced
    book = case.facts.book
    unit = book.unit(option.provider, option.model, option.deployment_type)
    assert unit is not None  # noqa: S101 - a chosen option has a unit
    place = (option.provider, option.model, option.deployment_type, option.region)
    units = Units(case, outcome, unit, book.provisioned(*place, option.term_months))
    spill = option.spill
    target = (
        book.payg(spill.provider, option.model, spill.deployment_type, spill.region)
        if spill
        else None
    )
    load = Load(
        case=case,
        used=case.used,
        curve=unit_curve(case.used, unit),
        weight=_weight(sheet, case, unit),
        bursts=unit_bursts(case.used, unit),
        spill=target,
        spills=spill is not None,
    )
    weighted_mean(sheet, load)
    if cost.floor is not None:
        _step_numbers(sheet, units, load, cost.floor, "floor")
        sheet.add(
            "floor_tokens_per_minute",
            "What the floor carries, in the workload's own tokens",
            outcome.floor_tokens_per_minute,
            "tokens/min",
            "capacity / weight / token_multiplier",
            [
                sheet["floor/capacity"],
                load.weight.term("weight"),
                case.multiplier(),
            ],
        )
    if cost.p50_reference is not None:
        _step_numbers(sheet, units, load, cost.p50_reference, "p50_reference")
    return load


def _weight(sheet: Sheet, case: Case, unit: ProvisionedUnit) -> Explained:
    f, c = sheet["output_fraction"], sheet["cached_fraction"]
    counted = (
        "(1 - output_fraction) * (1 - cached_fraction * (1 - cached_input_weight))"
        " + output_fraction * output_weight"
    )
    terms: list[Term | Explained] = [
        f,
        c,
        row("cached_input_weight", unit.cached_input_weight, "input tokens", unit),
        row("output_weight", unit.output_weight, "input tokens", unit),
    ]
    if unit.output_tokens_per_minute is not None:
        counted = f"max({counted}, output_fraction * input_tpm / output_tpm)"
        terms += [
            row("input_tpm", unit.input_tokens_per_minute, "tokens/min", unit),
            row("output_tpm", unit.output_tokens_per_minute, "tokens/min", unit),
        ]
    return sheet.add(
        "unit_weight",
        f"Input-equivalents of a {unit.unit} that a token of the mix takes",
        unit_weight(case.used, unit),
        "input tokens per token",
        counted,
        terms,
        rule="the tighter of the input and the output limit counts"
        if output_equivalent(unit)
        else "",
    )


def _step_numbers(sheet: Sheet, units: Units, load: Load, found: FloorResult, prefix: str) -> None:
    unit, count = units.unit, found.step.units
    number = _count(sheet, units, load, found, prefix)
    capacity = sheet.add(
        f"{prefix}/capacity",
        "What the units carry",
        found.step.capacity,
        "weighted tokens/min",
        "units * input_tokens_per_minute",
        [
            number.term("units"),
            row("input_tokens_per_minute", unit.input_tokens_per_minute, "tokens/min", unit),
        ],
    )
    sheet.add(
        f"{prefix}/nodes",
        "Own nodes of the floor",
        found.step.nodes,
        "nodes",
        "0",
        [],
        rule="the units are the provider's: nobody's own nodes stand behind them",
    )
    terms: list[Term | Explained] = [number.term("units")]
    formula = "units * usd_per_unit_month"
    if units.sunk(count):
        formula = "(units - owned) * usd_per_unit_month"
        said = "units already paid for, by the share of the horizon's value that they last"
        terms.append(worked_out("owned", units.sunk(count), "units", said))
    if units.price is not None:
        each = units.price.usd_per_unit_month
        terms.append(row("usd_per_unit_month", each, "USD/unit/month", units.price))
    else:
        said = "no price is known: only units that are owned already count"
        terms.append(worked_out("usd_per_unit_month", 0, "USD/unit/month", said))
    fixed = sheet.add(
        f"{prefix}/fixed_usd_per_month",
        "What the units cost, used or not",
        found.step.fixed_usd_per_month,
        "USD/month",
        formula,
        terms,
        rule="an hourly price is taken for 730 hours"
        if not units.outcome.option.term_months
        else f"a month of the {units.outcome.option.term_months}-month term",
    )
    floor_numbers(sheet, load, found, capacity, fixed, prefix)


def _count(sheet: Sheet, units: Units, load: Load, found: FloorResult, prefix: str) -> Explained:
    """Add the number of units: the least that covers a level, or the cheapest of the grid."""
    unit, count = units.unit, found.step.units
    grid = [
        row("minimum_units", unit.minimum_units, "units", unit),
        row("step_units", unit.step_units, "units", unit),
    ]
    level = load.curve.quantile(MEDIAN) if prefix == "p50_reference" else load.curve.peak
    formula = (
        "minimum_units + max(0, ceil((level / input_tokens_per_minute - minimum_units)"
        " / step_units - 0.000000001)) * step_units"
    )
    steps = (level / unit.input_tokens_per_minute - unit.minimum_units) / unit.step_units
    least = unit.minimum_units + max(0, -int(-(steps - 1e-9) // 1)) * unit.step_units
    if least == count and (prefix == "p50_reference" or not load.spills):
        what = "median" if prefix == "p50_reference" else "peak"
        return sheet.add(
            f"{prefix}/units",
            f"{unit.unit}s that cover the {what} of the demand",
            count,
            "units",
            formula,
            [
                *grid,
                worked_out("level", level, "weighted tokens/min", f"{what}, weighted"),
                row("input_tokens_per_minute", unit.input_tokens_per_minute, "tokens/min", unit),
            ],
            rule="at least the minimum, on the steps that are sold",
        )
    beside = [
        n for n in (count - unit.step_units, count + unit.step_units) if n >= unit.minimum_units
    ]
    return sheet.add(
        f"{prefix}/units",
        f"{unit.unit}s of the cheapest floor",
        count,
        "units",
        "",
        grid,
        exactness="modelled",
        rule="every step of the grid is held against the demand: the cheapest with its spill "
        "that the rules admit",
        conditions=cheaper_than(load, found.step, [units.step(n) for n in beside], f"{unit.unit}s"),
    )
