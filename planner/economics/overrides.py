"""Which rows price a plan, and where a user-given rate replaces the catalog's row."""

from __future__ import annotations

from collections.abc import Iterable

from planner.base import Frozen
from planner.catalog.age import dated, label
from planner.catalog.loader import Catalog
from planner.economics.prices import PriceBook, PriceRow
from planner.option import Option

FIELDS = (
    "input_usd_per_mtok",
    "cached_input_usd_per_mtok",
    "output_usd_per_mtok",
    "batch_input_usd_per_mtok",
    "batch_output_usd_per_mtok",
    "usd_per_unit_month",
    "usd_per_hour",
    "minimum_units",
    "step_units",
    "input_tokens_per_minute",
    "output_weight",
    "cached_input_weight",
)
"""What a price or unit row says that a decision may rest on."""


class Override(Frozen):
    """A rate that somebody gave, beside what the catalog says; None there is unknown."""

    row: str
    given: dict[str, float | None]
    catalog: dict[str, float | None]
    date: str
    ref: str
    catalog_source: str | None

    def __str__(self) -> str:
        """Return the override as one line."""
        changed = ", ".join(
            f"{name} {_said(self.catalog.get(name))} -> {_said(value)}"
            for name, value in self.given.items()
            if value != self.catalog.get(name)
        )
        return f"{self.row}: {changed or 'same as the catalog'} ({self.ref}, {self.date})"


def price_rows_of(option: Option, book: PriceBook) -> tuple[PriceRow, ...]:
    """Return the rows that price an option: its own, its unit's and its spill target's."""
    found: list[PriceRow | None] = []
    if option.kind == "self_hosted":
        found.append(book.instance_hour(option.provider, option.deployment_type, option.region))
    else:
        name = (option.provider, option.model, option.deployment_type)
        if option.kind == "provisioned":
            found.append(book.unit(*name))
            found.append(book.provisioned(*name, option.region, option.term_months))
        else:
            found.append(book.payg(*name, option.region))
    if option.spill is not None:
        spill = option.spill
        found.append(book.payg(spill.provider, option.model, spill.deployment_type, spill.region))
    return tuple(row for row in found if row is not None)


def overrides_in_use(
    options: Iterable[Option], book: PriceBook, catalog: Catalog
) -> tuple[Override, ...]:
    """Return each user-given rate that prices one of ``options``, ordered by what it prices.

    ``book`` is the plan's own, rates included; the catalog's row is the one that would
    hold on the same date without them.
    """
    plain = PriceBook.build(
        book.as_of,
        payg=catalog.payg_prices,
        units=catalog.provisioned_units,
        provisioned=catalog.provisioned_prices,
        instances=catalog.instance_prices,
    )
    found: dict[str, Override] = {}
    for option in options:
        known = {_key(row): row for row in price_rows_of(option, plain)}
        for row in price_rows_of(option, book):
            replaced = known.get(_key(row))
            if row == replaced:
                continue
            found[label(row)] = Override(
                row=label(row),
                given=_figures(row),
                catalog=_figures(replaced),
                date=dated(row),
                ref=row.source.removesuffix(" (user-given)"),
                catalog_source=replaced.source if replaced else None,
            )
    return tuple(found[name] for name in sorted(found))


def _key(row: PriceRow) -> tuple[str, ...]:
    """Return what a row prices, whichever region it was given for."""
    names = ("provider", "cloud", "model", "instance", "deployment_type", "term_months")
    return (type(row).__name__, *(str(getattr(row, name, "")) for name in names))


def _figures(row: PriceRow | None) -> dict[str, float | None]:
    return {name: getattr(row, name) for name in FIELDS if hasattr(row, name)}


def _said(value: float | None) -> str:
    return "unknown" if value is None else f"{value:g}"
