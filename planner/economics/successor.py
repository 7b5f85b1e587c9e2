"""Whether a floor still fits when its model is retired: the successor's units.

Provisioned deployments are not upgraded by themselves, and a successor's unit
carries more or less of the same traffic: the floor is turned into tokens of the
mix and sized again on the successor's own row.
"""

from __future__ import annotations

from planner.base import Frozen
from planner.demand import Demand
from planner.economics.prices import PriceBook
from planner.economics.provisioned import raw_units, whole_units
from planner.economics.unit_load import unit_weight
from planner.option import Option


class SuccessorUnits(Frozen):
    """Units of the successor that carry what the floor carries; None = unknown.

    ``fits`` says whether the units held today are enough of them.
    """

    model: str
    successor: str | None
    floor_units: int
    raw_units: float | None
    units: int | None
    fits: bool | None
    note: str


def successor_units(
    demand: Demand,
    option: Option,
    book: PriceBook,
    *,
    successor: str | None,
    floor_units: int,
    token_multiplier: float = 1.0,
    successor_multiplier: float | None = None,
) -> SuccessorUnits:
    """Return the successor's units for the demand that ``floor_units`` of today's carry.

    The multipliers turn the workload's tokens into each model's; the successor's is
    today's unless given. Unknown where no successor is named or its unit is not
    published for the deployment type: unknown is never a fit.
    """

    def unknown(note: str) -> SuccessorUnits:
        return SuccessorUnits(
            model=option.model, successor=successor, floor_units=floor_units,
            raw_units=None, units=None, fits=None, note=note,
        )  # fmt: skip

    place = (option.provider, option.deployment_type)
    today = book.unit(place[0], option.model, place[1])
    if successor is None:
        return unknown(f"no successor of {option.model} is named")
    if today is None:
        return unknown(f"no unit row: {place[0]}/{option.model}/{place[1]}")
    later = book.unit(place[0], successor, place[1])
    if later is None:
        return unknown(f"no unit row: {place[0]}/{successor}/{place[1]}")
    weight = unit_weight(demand, today)
    if weight <= 0:
        return unknown("the demand weighs nothing on today's unit")
    change = (successor_multiplier or token_multiplier) / token_multiplier
    carried = floor_units * today.input_tokens_per_minute / weight * change
    load = carried * unit_weight(demand, later)
    units = whole_units(later, load)
    verb = "carry it" if units <= floor_units else "do not carry it"
    note = (
        f"{successor} needs {units:,} {later.unit} for what {floor_units:,} {today.unit} of "
        f"{option.model} carry: the {floor_units:,} held {verb}"
    )
    return SuccessorUnits(
        model=option.model,
        successor=successor,
        floor_units=floor_units,
        raw_units=raw_units(later, load),
        units=units,
        fits=units <= floor_units,
        note=note,
    )
