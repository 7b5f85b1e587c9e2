"""Cross-references and duplicate keys: what a single row cannot tell about itself."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from planner import faults
from planner.base import Frozen
from planner.catalog import rows
from planner.catalog.lookup import Catalog
from planner.catalog.tables import Placed
from planner.errors import InputError, Problem

RowT = TypeVar("RowT", bound=Frozen)

KEYS: dict[type[Frozen], tuple[str, ...]] = {
    rows.Region: ("cloud", "name"),
    rows.JurisdictionGroup: ("name",),
    rows.Zone: ("provider", "name"),
    rows.Geography: ("name",),
    rows.DeploymentType: ("provider", "name"),
    rows.Accelerator: ("name",),
    rows.Instance: ("cloud", "name"),
    rows.InstancePrice: ("cloud", "instance", "region"),
    rows.ModelRow: ("name",),
    rows.PaygPrice: ("provider", "model", "deployment_type", "region"),
    rows.ProvisionedUnit: ("provider", "model", "deployment_type"),
    rows.ProvisionedPrice: ("provider", "model", "deployment_type", "region", "term_months"),
    rows.Promise: ("provider", "kind", "deployment_type"),
    rows.Overflow: ("provider", "deployment_type"),
    rows.BeyondInference: ("provider", "deployment_type", "concern"),
}
"""The fields that make a row unique."""


class _Sold(Protocol):
    """What a price or unit row says about where it holds."""

    @property
    def provider(self) -> rows.Provider: ...
    @property
    def deployment_type(self) -> str: ...
    @property
    def region(self) -> str: ...


def duplicates(placed: Sequence[Placed[RowT]]) -> Iterator[Problem]:
    """Yield a problem for each row whose key an earlier row has."""
    seen: dict[Hashable, str] = {}
    for where, row in placed:
        key = tuple(getattr(row, field) for field in KEYS[type(row)])
        if key in seen:
            label = " ".join(str(part) for part in key)
            yield faults.CATALOG_TWICE.at(where, f"{label} repeats the row at {seen[key]}")
        else:
            seen[key] = where


def place_problems(
    catalog: Catalog,
    regions: Iterable[Placed[rows.Region]],
    types: Iterable[Placed[rows.DeploymentType]],
    placed_zones: Iterable[Placed[rows.Zone]],
    lists: Iterable[tuple[str, Sequence[str]]],
) -> Iterator[Problem]:
    """Yield problems of countries, zones and deployment types."""
    zones = {(zone.provider, zone.name) for zone in catalog.zones}
    for where, codes in lists:
        unknown = [code for code in codes if code not in catalog.countries]
        if unknown:
            yield faults.CATALOG_REFERENCE.at(where, f"no such country: {', '.join(unknown)}")
    for where, region in regions:
        if region.country not in catalog.countries:
            yield faults.CATALOG_REFERENCE.at(where, f"no such country: {region.country}")
        for zone in region.zones:
            if (region.cloud, zone) not in zones:
                yield faults.CATALOG_REFERENCE.at(where, f"no such zone of {region.cloud}: {zone}")
    for where, placed_zone in placed_zones:
        yield from _destinations(catalog, where, placed_zone)
    for where, kind in types:
        if kind.zone is not None and (kind.provider, kind.zone) not in zones:
            yield faults.CATALOG_REFERENCE.at(
                where, f"no such zone of {kind.provider}: {kind.zone}"
            )
        if kind.batch_type is not None:
            yield from _tried(where, catalog.deployment_type, kind.provider, kind.batch_type)


def scope_problems(
    catalog: Catalog,
    overflow: Iterable[Placed[rows.Overflow]],
    beyond: Iterable[Placed[rows.BeyondInference]],
) -> Iterator[Problem]:
    """Yield problems of what surrounds inference: one row for each type, nothing left out."""
    told: set[tuple[str, str, str]] = set()
    spilling: set[tuple[str, str]] = set()
    for where, row in overflow:
        spilling.add((row.provider, row.deployment_type))
        yield from _kind(catalog, where, row.provider, row.deployment_type, "provisioned")
        if row.target is not None:
            yield from _kind(catalog, where, row.provider, row.target, "payg")
    for where, fact in beyond:
        told.add((fact.provider, fact.deployment_type, fact.concern))
        yield from _tried(where, catalog.deployment_type, fact.provider, fact.deployment_type)
    for kind in catalog.deployment_types:
        if kind.kind == "provisioned" and (kind.provider, kind.name) not in spilling:
            what = f"no row for {kind.provider} {kind.name}"
            yield faults.CATALOG_CONTRADICTION.at(
                "overflow.csv", what, "Say who sends its overflow on."
            )
        for concern in rows.CONCERNS:
            if (kind.provider, kind.name, concern) not in told:
                what = f"no row for {concern} under {kind.provider} {kind.name}"
                yield faults.CATALOG_CONTRADICTION.at(
                    "residency_beyond_inference.csv", what, "Write unknown if it is."
                )


def model_problems(catalog: Catalog, models: Iterable[Placed[rows.ModelRow]]) -> Iterator[Problem]:
    """Yield problems of successors and retirement dates."""
    names = {row.name for row in catalog.models}
    for where, model in models:
        if model.successor is not None and model.successor not in names:
            yield faults.CATALOG_REFERENCE.at(where, f"no such model: {model.successor}")
        for provider in {*model.provider_retires, *model.provider_ids}:
            if provider not in ("azure", "aws", "gcp"):
                yield faults.CATALOG_REFERENCE.at(where, f"no such provider: {provider}")
        for provider, retires in model.provider_retires.items():
            try:
                dt.date.fromisoformat(retires)
            except ValueError:
                yield faults.CATALOG_ROW.at(
                    where, f"provider_retires.{provider}: {retires!r} is not a date"
                )


def machine_problems(
    catalog: Catalog,
    instances: Iterable[Placed[rows.Instance]],
    prices: Iterable[Placed[rows.InstancePrice]],
) -> Iterator[Problem]:
    """Yield problems of machine types and their prices."""
    names = {row.name for row in catalog.accelerators}
    for where, instance in instances:
        if instance.accelerator not in names:
            yield faults.CATALOG_REFERENCE.at(where, f"no such accelerator: {instance.accelerator}")
    for where, price in prices:
        yield from _tried(where, catalog.instance, price.cloud, price.instance)
        yield from _tried(where, catalog.region, price.cloud, price.region)


def managed_problems(
    catalog: Catalog,
    payg: Sequence[Placed[rows.PaygPrice]],
    units: Sequence[Placed[rows.ProvisionedUnit]],
    prices: Sequence[Placed[rows.ProvisionedPrice]],
    promises: Iterable[Placed[rows.Promise]],
) -> Iterator[Problem]:
    """Yield problems of prices, units and promises of managed models."""
    names = {row.name for row in catalog.models}
    sized = {(unit.provider, unit.model, unit.deployment_type) for _, unit in units}
    for where, row in payg:
        yield from _model(where, row.model, names)
        yield from _sold(catalog, where, row, "payg")
    for where, unit in units:
        yield from _model(where, unit.model, names)
        yield from _kind(catalog, where, unit.provider, unit.deployment_type, "provisioned")
        if min(unit.minimum_units, unit.step_units, unit.input_tokens_per_minute) <= 0:
            yield faults.CATALOG_CONTRADICTION.at(
                where, "units and their throughput must be above zero"
            )
    for where, price in prices:
        yield from _sold(catalog, where, price, "provisioned")
        if (price.provider, price.model, price.deployment_type) not in sized:
            what = f"no provisioned unit of {price.model} under {price.deployment_type}"
            yield faults.CATALOG_CONTRADICTION.at(where, what, "Add the unit, or drop the price.")
    for where, promise in promises:
        if promise.deployment_type != "*":
            yield from _kind(
                catalog, where, promise.provider, promise.deployment_type, promise.kind
            )
    yield from _mixed(payg, lambda row: (row.provider, row.model, row.deployment_type))
    yield from _mixed(
        prices, lambda row: (row.provider, row.model, row.deployment_type, row.term_months)
    )


def _destinations(catalog: Catalog, where: str, zone: rows.Zone) -> Iterator[Problem]:
    """Yield regions of a zone that do not exist, or lie in a country that it does not list."""
    countries = {row.name: row.country for row in catalog.regions if row.cloud == zone.provider}
    for name in zone.regions:
        if name not in countries:
            yield from _tried(where, catalog.region, zone.provider, name)
        elif countries[name] not in (zone.members or ()):
            what = f"{name} is in {countries[name]}, which is not a member of {zone.name}"
            yield faults.CATALOG_CONTRADICTION.at(
                where, what, "Correct the members or the regions."
            )


def _model(where: str, model: str, names: set[str]) -> Iterator[Problem]:
    if model not in names:
        yield faults.CATALOG_REFERENCE.at(
            where, f"no such model: {model}", "Use the name of a row in models.yaml."
        )


def _sold(catalog: Catalog, where: str, row: _Sold, kind: str) -> Iterator[Problem]:
    found = list(_kind(catalog, where, row.provider, row.deployment_type, kind))
    if row.region != "*":
        found += _tried(where, catalog.region, row.provider, row.region)
    yield from found
    if found or row.region == "*":
        return
    if not catalog.offered(row.provider, row.deployment_type, row.region):
        what = f"{row.deployment_type} is not offered in {row.region}"
        yield faults.CATALOG_CONTRADICTION.at(where, what, "Drop the region, or correct its zones.")


def _kind(
    catalog: Catalog, where: str, provider: str, deployment_type: str, kind: str
) -> Iterator[Problem]:
    problems = list(_tried(where, catalog.deployment_type, provider, deployment_type))
    yield from problems
    if not problems and catalog.deployment_type(provider, deployment_type).kind != kind:
        yield faults.CATALOG_CONTRADICTION.at(where, f"{deployment_type} is not a {kind} type")


def _mixed(placed: Sequence[Placed[RowT]], key: Callable[[RowT], Hashable]) -> Iterator[Problem]:
    """Yield rows for a named region where another row covers every region."""
    everywhere = {key(row): where for where, row in placed if getattr(row, "region", "") == "*"}
    for where, row in placed:
        if getattr(row, "region", "") != "*" and key(row) in everywhere:
            what = f"the row at {everywhere[key(row)]} holds for every region"
            yield faults.CATALOG_TWICE.at(where, what)


def _tried(
    where: str, lookup: Callable[[str, str, str], object], provider: str, name: str
) -> Iterator[Problem]:
    try:
        lookup(provider, name, where)
    except InputError as error:
        yield from error.problems
