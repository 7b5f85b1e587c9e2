"""Load the catalog: read the data files, validate every row, check references.

The only I/O of the catalog. Data ships inside the package; a bad row is an
InputError naming file and line, and all of them are reported together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from planner import faults
from planner.base import Frozen
from planner.catalog import checks, rows
from planner.catalog.lookup import Catalog, Place
from planner.catalog.tables import (
    CSV_FILES,
    Placed,
    line_of,
    read_csv,
    read_mapping,
    read_yaml,
)
from planner.errors import InputError, Problem

__all__ = ["Catalog", "Place", "catalog_files", "load_catalog", "read_catalog"]

DATA_SUFFIXES = (".csv", ".yaml")
MODELS, JURISDICTIONS = "models.yaml", "jurisdictions.yaml"
RowT = TypeVar("RowT", bound=Frozen)
_Tables = dict[type[Frozen], tuple[Placed[Any], ...]]


@cache
def load_catalog() -> Catalog:
    """Return the catalog that ships with the package, read once a process."""
    return read_catalog(files("planner.catalog") / "data")


def catalog_files() -> dict[str, bytes]:
    """Return the data files of the catalog that ships with the package, by name."""
    return _read(files("planner.catalog") / "data")


def read_catalog(folder: Traversable) -> Catalog:
    """Return the catalog in ``folder``.

    Raises InputError listing every bad row, duplicate and dangling reference.
    """
    raw = _read(folder)
    texts = {name: data.decode("utf-8") for name, data in raw.items()}
    tables, countries, mistakes = _parse(texts)
    problems = [problem for placed in tables.values() for problem in checks.duplicates(placed)]
    _refuse(problems)

    def of(model: type[RowT]) -> tuple[RowT, ...]:
        return tuple(item.row for item in tables[model])

    catalog = Catalog(
        regions=of(rows.Region),
        groups=of(rows.JurisdictionGroup),
        countries=countries,
        country_mistakes=mistakes,
        zones=of(rows.Zone),
        geographies=of(rows.Geography),
        deployment_types=of(rows.DeploymentType),
        models=of(rows.ModelRow),
        accelerators=of(rows.Accelerator),
        instances=of(rows.Instance),
        instance_prices=of(rows.InstancePrice),
        payg_prices=of(rows.PaygPrice),
        provisioned_units=of(rows.ProvisionedUnit),
        provisioned_prices=of(rows.ProvisionedPrice),
        promises=of(rows.Promise),
        overflow=of(rows.Overflow),
        beyond_inference=of(rows.BeyondInference),
        digest=digest_of(raw),
    )
    _refuse(list(_reference_problems(catalog, tables)))
    return catalog


def digest_of(raw: Mapping[str, bytes]) -> str:
    """Return the sha256 over names, lengths and bytes of the files, sorted by name."""
    digest = hashlib.sha256()
    for name in sorted(raw):
        digest.update(f"{name}\0{len(raw[name])}\0".encode())
        digest.update(raw[name])
    return digest.hexdigest()


def _read(folder: Traversable) -> dict[str, bytes]:
    raw = {
        item.name: item.read_bytes()
        for item in folder.iterdir()
        if item.name.endswith(DATA_SUFFIXES)
    }
    needed = (*CSV_FILES, MODELS, JURISDICTIONS)
    _refuse(
        [faults.CATALOG_FILE.at(name, "the file is missing") for name in needed if name not in raw]
    )
    return raw


def _parse(texts: Mapping[str, str]) -> tuple[_Tables, frozenset[str], dict[str, str]]:
    """Parse every file, gathering the problems of all of them."""
    tables: _Tables = {}
    countries: frozenset[str] = frozenset()
    mistakes: dict[str, str] = {}
    problems: list[Problem] = []
    for name, model in CSV_FILES.items():
        try:
            tables[model] = read_csv(name, texts[name], model)
        except InputError as error:
            problems.extend(error.problems)
    try:
        text = texts[MODELS]
        tables[rows.ModelRow] = read_mapping(MODELS, text, read_yaml(MODELS, text), rows.ModelRow)
    except InputError as error:
        problems.extend(error.problems)
    try:
        text = texts[JURISDICTIONS]
        data = read_yaml(JURISDICTIONS, text)
        countries, mistakes = _countries(data, text)
        tables[rows.JurisdictionGroup] = read_mapping(
            JURISDICTIONS, text, data.get("groups"), rows.JurisdictionGroup
        )
    except InputError as error:
        problems.extend(error.problems)
    _refuse(problems)
    return tables, countries, mistakes


def _countries(data: Mapping[str, Any], text: str) -> tuple[frozenset[str], dict[str, str]]:
    """Return the known country codes, and the wrong codes with the ones they mean."""
    listed = data.get("countries")
    codes = listed.get("codes") if isinstance(listed, dict) else None
    mistakes = data.get("mistakes", {})
    if not isinstance(codes, list) or not all(_is_code(code) for code in codes):
        what = "countries.codes must list two-letter codes in quotes"
        _refuse([faults.CATALOG_FILE.at(f"{JURISDICTIONS}:{line_of(text, 'countries')}", what)])
    if not isinstance(mistakes, dict):
        _refuse(
            [
                faults.CATALOG_FILE.at(
                    f"{JURISDICTIONS}:{line_of(text, 'mistakes')}", "must be a mapping"
                )
            ]
        )
    return frozenset(codes or ()), dict(mistakes)


def _is_code(value: object) -> bool:
    return isinstance(value, str) and len(value) == 2 and value.isupper()


def _reference_problems(catalog: Catalog, tables: _Tables) -> Iterator[Problem]:
    lists = [
        *((where, group.countries) for where, group in tables[rows.JurisdictionGroup]),
        *((where, zone.members or ()) for where, zone in tables[rows.Zone]),
        *((where, geography.countries) for where, geography in tables[rows.Geography]),
        *((where, kind.unpromised) for where, kind in tables[rows.DeploymentType]),
    ]
    yield from checks.place_problems(
        catalog, tables[rows.Region], tables[rows.DeploymentType], tables[rows.Zone], lists
    )
    yield from checks.scope_problems(catalog, tables[rows.Overflow], tables[rows.BeyondInference])
    yield from checks.model_problems(catalog, tables[rows.ModelRow])
    yield from checks.machine_problems(catalog, tables[rows.Instance], tables[rows.InstancePrice])
    yield from checks.managed_problems(
        catalog,
        tables[rows.PaygPrice],
        tables[rows.ProvisionedUnit],
        tables[rows.ProvisionedPrice],
        tables[rows.Promise],
    )
    for where, geography in tables[rows.Geography]:
        known = {region.name for region in catalog.regions if region.cloud == "azure"}
        unknown = sorted(set(geography.regions) - known)
        if unknown:
            yield faults.CATALOG_REFERENCE.at(where, f"no such azure region: {', '.join(unknown)}")
    try:
        catalog.check_names()
    except InputError as error:
        yield from error.problems


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise InputError(problems)
