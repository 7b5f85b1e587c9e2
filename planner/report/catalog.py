"""The catalog as a list: every row with its source and its age on a given day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from planner.catalog.age import age_days, dated
from planner.catalog.loader import Catalog
from planner.units import counted

ROWS: Mapping[str, Callable[[Catalog], Iterable[BaseModel]]] = {
    "payg": lambda catalog: catalog.payg_prices,
    "provisioned": lambda catalog: catalog.provisioned_prices,
    "units": lambda catalog: catalog.provisioned_units,
    "models": lambda catalog: catalog.models,
    "regions": lambda catalog: catalog.regions,
    "zones": lambda catalog: catalog.zones,
    "geographies": lambda catalog: catalog.geographies,
    "types": lambda catalog: catalog.deployment_types,
    "overflow": lambda catalog: catalog.overflow,
    "residency": lambda catalog: catalog.beyond_inference,
    "promises": lambda catalog: catalog.promises,
    "accelerators": lambda catalog: catalog.accelerators,
    "instances": lambda catalog: catalog.instances,
    "machine-prices": lambda catalog: catalog.instance_prices,
    "jurisdictions": lambda catalog: catalog.groups,
}
"""The kinds of row, by the name that ``--kind`` takes."""

_ORIGIN = ("as_of", "price_date", "source")
_NAMES = ("provider", "cloud", "name", "model", "instance", "deployment_type", "kind", "concern")
_SILENT = ("flex_", "priority_")
"""Prices of offers that most models lack: their absence is not worth a word."""


def document(
    catalog: Catalog,
    *,
    as_of: dt.date,
    max_age_days: int,
    kind: str | None = None,
    model: str | None = None,
    provider: str | None = None,
) -> dict[str, Any]:
    """Return the rows that match, each with source, date and age, and which are too old.

    Rows that differ in their region only are one entry with ``regions``. Raises InputError
    for an unknown model.
    """
    name = catalog.model(model, "--model").name if model else None
    entries = [
        entry
        for table, rows in ROWS.items()
        if kind in (None, table)
        for entry in _entries(
            table, (row for row in rows(catalog) if _wanted(row, name, provider)), as_of
        )
    ]
    for entry in entries:
        age = entry["age_days"]
        entry["stale"] = age is None or age > max_age_days
    return {
        "as_of": as_of.isoformat(),
        "max_age_days": max_age_days,
        "catalog_digest": catalog.digest,
        "rows": entries,
        "stale": sum(entry["stale"] for entry in entries),
    }


def told(found: Mapping[str, Any]) -> str:
    """Return the document as text: two lines a row, the rows that are too old marked."""
    lines: list[str] = []
    for entry in found["rows"]:
        mark = "! " if entry["stale"] else "  "
        facts = ", ".join(f"{key} {_said(value)}" for key, value in _spoken(entry["facts"]))
        lines.append(f"{mark}{entry['kind']} {entry['row']}: {facts}")
        days = entry["age_days"]
        age = "unknown age" if days is None else f"{counted(days, 'day')} old"
        lines.append(f"    {entry['dated'] or 'undated'}, {age}; {entry['source']}")
    lines += [
        f"{len(found['rows'])} rows as of {found['as_of']}; catalog {found['catalog_digest'][:12]}"
    ]
    if found["stale"]:
        lines.append(
            f"warning: {found['stale']} rows (!) are older than {found['max_age_days']} days: "
            "read their sources again, or give your own rates in platform.yaml"
        )
    return "\n".join(lines) + "\n"


def _wanted(row: BaseModel, model: str | None, provider: str | None) -> bool:
    if model is not None:
        own = getattr(row, "name", None) if hasattr(row, "provider_ids") else None
        if getattr(row, "model", own) not in (model, "*"):
            return False
    if provider is None:
        return True
    sellers = getattr(row, "provider_ids", None)
    if sellers is not None:
        return provider in sellers
    return provider == getattr(row, "provider", getattr(row, "cloud", None))


def _entries(table: str, rows: Iterable[BaseModel], as_of: dt.date) -> Iterator[dict[str, Any]]:
    """Yield an entry for each row, or for rows that are alike but for their region."""
    together: dict[str, tuple[BaseModel, list[str]]] = {}
    for row in rows:
        alike = row.model_dump_json(exclude={"region"})
        region = str(getattr(row, "region", ""))
        together.setdefault(alike, (row, []))[1].append(region)
    for row, regions in together.values():
        values = row.model_dump(mode="json")
        named = [name for name in _NAMES if name in values]
        facts = {
            key: value
            for key, value in values.items()
            if key not in (*named, *_ORIGIN, "region", "user_given")
        }
        if any(regions):
            facts = {"regions": regions, **facts}
        date = dated(row)
        yield {
            "kind": table,
            "row": " ".join(str(values[name]) for name in named),
            **{name: values[name] for name in named if name not in ("kind", "name")},
            "facts": facts,
            "dated": date,
            "age_days": age_days(date, as_of),
            "source": values["source"],
        }


def _spoken(facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what is worth a word in text: what is known, and prices that are not."""
    for key, value in facts.items():
        empty = value is None or value in ("", [], {})
        if not empty or ("usd" in key and not key.startswith(_SILENT)) or key == "members":
            yield key, value


def _said(value: object) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.12g}"
        case list():
            return " ".join(map(str, value))
        case dict():
            return " ".join(f"{key}={item}" for key, item in value.items())
        case _:
            return str(value)
