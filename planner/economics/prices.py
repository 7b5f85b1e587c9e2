"""The price book: which price row applies, with its source, on the plan's date.

A row given by the user wins over the catalog; then the exact region over "*";
then the newest. Rows that take effect after ``as_of`` do not exist yet. What is
not in the book is unknown (None), never 0: only a user may state a price of 0.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from planner.base import Frozen
from planner.catalog.rows import (
    InstancePrice,
    PaygPrice,
    Provider,
    ProvisionedPrice,
    ProvisionedUnit,
)
from planner.declared.rates import InstanceRate, PaygRate, ProvisionedRate, Rate, UnitRate
from planner.economics.given import instance_row, payg_row, provisioned_row, unit_row

ANY = "*"
"""Region or model of a row that holds for all of them."""

PriceRow = PaygPrice | ProvisionedUnit | ProvisionedPrice | InstancePrice


class PriceBook(Frozen):
    """Catalog rows and user-given rates as of one date; build it with ``build``."""

    as_of: dt.date
    payg_rows: tuple[PaygPrice, ...] = ()
    unit_rows: tuple[ProvisionedUnit, ...] = ()
    provisioned_rows: tuple[ProvisionedPrice, ...] = ()
    instance_rows: tuple[InstancePrice, ...] = ()
    instance_rates: tuple[InstanceRate, ...] = ()

    @classmethod
    def build(
        cls,
        as_of: dt.date,
        *,
        payg: Iterable[PaygPrice] = (),
        units: Iterable[ProvisionedUnit] = (),
        provisioned: Iterable[ProvisionedPrice] = (),
        instances: Iterable[InstancePrice] = (),
        rates: Sequence[Rate] = (),
    ) -> PriceBook:
        """Return the book of these rows, without those that cannot be a price."""
        today = as_of.isoformat()
        usable = [rate for rate in rates if rate.date <= as_of]
        payg_rows = [*payg, *(payg_row(rate) for rate in usable if isinstance(rate, PaygRate))]
        provisioned_rows = [
            *provisioned,
            *(provisioned_row(rate) for rate in usable if isinstance(rate, ProvisionedRate)),
        ]
        unit_rows = list(units)
        unit_rows += [unit_row(rate, unit_rows) for rate in usable if isinstance(rate, UnitRate)]
        return cls(
            as_of=as_of,
            payg_rows=tuple(
                known
                for row in payg_rows
                if row.effective_from <= today and (known := _known(row)) is not None
            ),
            unit_rows=tuple(unit_rows),
            provisioned_rows=tuple(
                row for row in provisioned_rows if row.user_given or row.usd_per_unit_month > 0
            ),
            instance_rows=tuple(row for row in instances if row.usd_per_hour > 0),
            instance_rates=tuple(rate for rate in usable if isinstance(rate, InstanceRate)),
        )

    def payg(
        self, provider: Provider, model: str, deployment_type: str, region: str
    ) -> PaygPrice | None:
        """Return the pay-as-you-go price that applies, USD per million tokens."""
        rows = self._payg_index.get((provider, model, deployment_type), [])
        return max(
            (row for row in rows if row.region in (region, ANY)),
            key=lambda row: (
                row.user_given,
                row.model_version is None,
                row.region != ANY,
                row.effective_from,
                row.price_date,
            ),
            default=None,
        )

    def unit(self, provider: Provider, model: str, deployment_type: str) -> ProvisionedUnit | None:
        """Return what one provisioned unit of the model carries; the newest measurement wins."""
        return max(
            self._unit_index.get((provider, model, deployment_type), ()),
            key=lambda row: (row.user_given, row.as_of),
            default=None,
        )

    def provisioned(
        self,
        provider: Provider,
        model: str,
        deployment_type: str,
        region: str,
        term_months: int,
    ) -> ProvisionedPrice | None:
        """Return the price of one unit a month at this term (0: hourly)."""
        return max(
            (
                row
                for row in self._provisioned_index.get((provider, deployment_type, term_months), ())
                if row.model in (model, ANY) and row.region in (region, ANY)
            ),
            key=lambda row: (row.user_given, row.model != ANY, row.region != ANY, row.price_date),
            default=None,
        )

    def terms(
        self, provider: Provider, model: str, deployment_type: str, region: str
    ) -> tuple[int, ...]:
        """Return the terms, in months, at which a unit has a price; 0 is hourly."""
        lengths = sorted({row.term_months for row in self.provisioned_rows})
        return tuple(
            term
            for term in lengths
            if self.provisioned(provider, model, deployment_type, region, term) is not None
        )

    def instance_hour(self, cloud: Provider, instance: str, region: str) -> InstancePrice | None:
        """Return the hourly price of a machine type; a user's rate wins.

        A row of another region is never used: the same machine costs up to 45%
        more elsewhere.
        """
        given = max(
            (
                rate
                for rate in self.instance_rates
                if (rate.cloud, rate.instance) == (cloud, instance) and rate.region in (region, ANY)
            ),
            key=lambda rate: (rate.region != ANY, rate.date),
            default=None,
        )
        if given is not None:
            return instance_row(given)
        return max(
            (
                row
                for row in self.instance_rows
                if (row.cloud, row.instance) == (cloud, instance) and row.region in (region, ANY)
            ),
            key=lambda row: (row.region != ANY, row.price_date),
            default=None,
        )

    @cached_property
    def payg_places(self) -> Mapping[str, tuple[tuple[Provider, str, str], ...]]:
        """Where each model has a pay-as-you-go row: provider, deployment type, region."""
        found: dict[str, set[tuple[Provider, str, str]]] = {}
        for row in self.payg_rows:
            place = (row.provider, row.deployment_type, row.region)
            found.setdefault(row.model, set()).add(place)
        return {model: tuple(sorted(places)) for model, places in found.items()}

    @cached_property
    def _unit_index(self) -> dict[tuple[str, str, str], list[ProvisionedUnit]]:
        index: dict[tuple[str, str, str], list[ProvisionedUnit]] = {}
        for row in self.unit_rows:
            index.setdefault((row.provider, row.model, row.deployment_type), []).append(row)
        return index

    @cached_property
    def _provisioned_index(self) -> dict[tuple[str, str, int], list[ProvisionedPrice]]:
        index: dict[tuple[str, str, int], list[ProvisionedPrice]] = {}
        for row in self.provisioned_rows:
            place = (row.provider, row.deployment_type, row.term_months)
            index.setdefault(place, []).append(row)
        return index

    @cached_property
    def _payg_index(self) -> dict[tuple[str, str, str], list[PaygPrice]]:
        index: dict[tuple[str, str, str], list[PaygPrice]] = {}
        for row in self.payg_rows:
            index.setdefault((row.provider, row.model, row.deployment_type), []).append(row)
        return index


def describe(row: PriceRow) -> str:
    """Return where a figure comes from: what it prices, its date and its source."""
    if isinstance(row, InstancePrice):
        return f"price row: {row.cloud}/{row.instance}/{row.region} {row.price_date} {row.source}"
    given = " (user-given)" if row.user_given else ""
    name = f"{row.provider}/{row.model}/{row.deployment_type}"
    if isinstance(row, ProvisionedUnit):
        dated = f"{row.as_of} " if row.user_given and row.as_of else ""
        return f"unit row: {name}/{row.unit} {dated}{row.source}{given}"
    if isinstance(row, ProvisionedPrice):
        term = f"{row.term_months} months" if row.term_months else "hourly"
        return f"price row: {name}/{row.region} {term} {row.price_date} {row.source}{given}"
    return f"price row: {name}/{row.region} {row.price_date} {row.source}{given}"


def _known(row: PaygPrice) -> PaygPrice | None:
    """Return the row without prices of 0 that nobody stated; None if nothing is left."""
    if row.user_given:
        return row
    if row.input_usd_per_mtok <= 0 or row.output_usd_per_mtok <= 0:
        return None
    optional = (
        "cached_input_usd_per_mtok",
        "batch_input_usd_per_mtok",
        "batch_output_usd_per_mtok",
    )
    zeros = {name: None for name in optional if getattr(row, name) == 0}
    return row.model_copy(update=zeros) if zeros else row
