"""The catalog in memory: frozen rows and the questions that stages ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from planner import faults
from planner.catalog import rows
from planner.catalog.names import NameIndex, unknown
from planner.catalog.rows import Provider, Scope
from planner.errors import InputError, Problem
from planner.nearest import nearest

Place = tuple[Scope, tuple[str, ...] | None]
"""A processing scope and its ISO countries.

With scope "global" None means any country; with a narrower scope None means
that the provider publishes no member list, so that the place is unknown.
"""


@dataclass(frozen=True)
class Catalog:
    """Every fact the planner uses. Rows keep the order of their files.

    Lookups raise InputError naming the nearest entries; ``where`` places the
    problem in the user's file. Prices stay rows: a missing one is unknown.
    """

    regions: tuple[rows.Region, ...]
    groups: tuple[rows.JurisdictionGroup, ...]
    countries: frozenset[str]
    country_mistakes: Mapping[str, str]
    zones: tuple[rows.Zone, ...]
    geographies: tuple[rows.Geography, ...]
    deployment_types: tuple[rows.DeploymentType, ...]
    models: tuple[rows.ModelRow, ...]
    accelerators: tuple[rows.Accelerator, ...]
    instances: tuple[rows.Instance, ...]
    instance_prices: tuple[rows.InstancePrice, ...]
    payg_prices: tuple[rows.PaygPrice, ...]
    provisioned_units: tuple[rows.ProvisionedUnit, ...]
    provisioned_prices: tuple[rows.ProvisionedPrice, ...]
    promises: tuple[rows.Promise, ...]
    overflow: tuple[rows.Overflow, ...]
    beyond_inference: tuple[rows.BeyondInference, ...]
    digest: str
    """sha256 over the data files: their names, lengths and bytes, sorted by name."""

    def region(self, cloud: str, name: str, where: str = "") -> rows.Region:
        """Return the region of a cloud."""
        found = self._regions.get((cloud, name))
        if found is None:
            known = [row.name for row in self.regions if row.cloud == cloud]
            raise InputError([unknown(f"{cloud} region", name, known, where)])
        return found

    def deployment_type(self, provider: str, name: str, where: str = "") -> rows.DeploymentType:
        """Return a provider's deployment type."""
        found = self._types.get((provider, name))
        if found is None:
            known = [row.name for row in self.deployment_types if row.provider == provider]
            raise InputError([unknown(f"{provider} deployment type", name, known, where)])
        return found

    def deployment_types_of(self, provider: str) -> tuple[rows.DeploymentType, ...]:
        """Return a provider's deployment types."""
        return tuple(row for row in self.deployment_types if row.provider == provider)

    def model(self, name: str, where: str = "") -> rows.ModelRow:
        """Return a model by its name, an alias or a provider's name for it."""
        return self._models[self._model_names.resolve(name, where)]

    def accelerator(self, name: str, where: str = "") -> rows.Accelerator:
        """Return a GPU by its name or an alias, such as H100-80GB."""
        return self._accelerators[self._accelerator_names.resolve(name, where)]

    def instance(self, cloud: str, name: str, where: str = "") -> rows.Instance:
        """Return a machine type of a cloud."""
        found = self._instances.get((cloud, name))
        if found is None:
            known = [row.name for row in self.instances if row.cloud == cloud]
            raise InputError([unknown(f"{cloud} instance type", name, known, where)])
        return found

    def check_names(self) -> None:
        """Raise InputError when two models or two accelerators claim one name."""
        _ = self._model_names, self._accelerator_names

    def promise(self, provider: str, kind: str, deployment_type: str = "*") -> rows.Promise | None:
        """Return the promise for the deployment type, else the provider's general one."""
        for wanted in (deployment_type, "*"):
            for row in self.promises:
                if (row.provider, row.kind, row.deployment_type) == (provider, kind, wanted):
                    return row
        return None

    def beyond(
        self, provider: str, deployment_type: str, concern: str
    ) -> rows.BeyondInference | None:
        """Return where a thing besides inference lives under a type, None if no row says."""
        return self._beyond.get((provider, deployment_type, concern))

    def expand(self, jurisdictions: Iterable[str], where: str = "") -> frozenset[str]:
        """Return the ISO countries of codes and named groups.

        Raises InputError listing every code that is neither.
        """
        groups = {group.name: group.countries for group in self.groups}
        found: set[str] = set()
        problems: list[Problem] = []
        for code in jurisdictions:
            if code in groups:
                found.update(groups[code])
            elif code in self.countries:
                found.add(code)
            else:
                problems.append(self._unknown_jurisdiction(code, groups, where))
        if problems:
            raise InputError(problems)
        return frozenset(found)

    def offered(self, provider: str, deployment_type: str, region: str) -> bool:
        """Return whether the type can exist in the region at all, whatever the model.

        Global types exist in the public cloud only; a type bound to a zone in
        the zone's regions only.
        """
        kind = self.deployment_type(provider, deployment_type)
        place = self.region(provider, region)
        if kind.scope == "global" and place.partition != "public":
            return False
        return kind.zone is None or kind.zone in place.zones

    def processing(
        self, provider: str, deployment_type: str, region: str, where: str = ""
    ) -> Place:
        """Return where prompts may be processed under a type in a region.

        Raises InputError for an unknown name, or a type not offered in the region.
        """
        kind = self.deployment_type(provider, deployment_type, where)
        place = self.region(provider, region, where)
        if not self.offered(provider, deployment_type, region):
            what = f"{provider} does not offer {deployment_type} in {region}"
            fix = "Choose a type that the region offers."
            raise InputError([faults.NOT_OFFERED.at(where or "deployment type", what, fix)])
        if kind.scope == "global":
            return "global", None
        if kind.scope == "region":
            promised = place.country not in kind.unpromised
            return "region", (place.country,) if promised else None
        if kind.scope == "geography":
            return self.geography(place)
        names = (kind.zone,) if kind.zone is not None else place.zones
        return kind.scope, self._members(place, names)

    def geography(self, place: rows.Region) -> Place:
        """Return the countries among which a provider may move a region's data."""
        for geography in self.geographies:
            if place.cloud == "azure" and place.name in geography.regions:
                return "zone", geography.countries
        return "country", (place.country,)

    def _members(self, place: rows.Region, names: Iterable[str]) -> tuple[str, ...] | None:
        """Return the zones' countries and the region's own; None when a list is missing."""
        countries: set[str] = set()
        for name in names:
            zone = self._zones.get((place.cloud, name))
            if zone is None or zone.members is None:
                return None
            countries.update(zone.members)
        return tuple(sorted({*countries, place.country})) if countries else None

    def _unknown_jurisdiction(self, code: str, groups: Iterable[str], where: str) -> Problem:
        mistake = self.country_mistakes.get(code)
        near = (mistake,) if mistake else nearest(code, [*groups, *sorted(self.countries)])
        fix = "Use ISO 3166-1 alpha-2 codes or a group of the catalog: " + ", ".join(groups) + "."
        if near:
            fix = f"Did you mean {' or '.join(near)}? {fix}"
        return faults.UNKNOWN_JURISDICTION.at(
            where or "jurisdictions", f"unknown jurisdiction {code!r}", fix
        )

    @cached_property
    def _regions(self) -> dict[tuple[str, str], rows.Region]:
        return {(row.cloud, row.name): row for row in self.regions}

    @cached_property
    def _types(self) -> dict[tuple[str, str], rows.DeploymentType]:
        return {(row.provider, row.name): row for row in self.deployment_types}

    @cached_property
    def _zones(self) -> dict[tuple[Provider, str], rows.Zone]:
        return {(row.provider, row.name): row for row in self.zones}

    @cached_property
    def _beyond(self) -> dict[tuple[str, str, str], rows.BeyondInference]:
        return {
            (row.provider, row.deployment_type, row.concern): row for row in self.beyond_inference
        }

    @cached_property
    def _instances(self) -> dict[tuple[str, str], rows.Instance]:
        return {(row.cloud, row.name): row for row in self.instances}

    @cached_property
    def _models(self) -> dict[str, rows.ModelRow]:
        return {row.name: row for row in self.models}

    @cached_property
    def _accelerators(self) -> dict[str, rows.Accelerator]:
        return {row.name: row for row in self.accelerators}

    @cached_property
    def _model_names(self) -> NameIndex:
        names = {row.name: (*row.aliases, *row.provider_ids.values()) for row in self.models}
        return NameIndex("model", names)

    @cached_property
    def _accelerator_names(self) -> NameIndex:
        return NameIndex("accelerator", {row.name: row.aliases for row in self.accelerators})
