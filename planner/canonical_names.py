"""Declared model names in the catalog's own spelling, so that an alias never goes unused."""

from __future__ import annotations

from typing import TypeVar

from planner.base import Frozen
from planner.catalog.loader import Catalog
from planner.platform import Platform
from planner.workload import Workload

Named = TypeVar("Named", bound=Frozen)

ANY = "*"
"""The model of a row that holds for all of them."""


def canonical_platform(platform: Platform, catalog: Catalog) -> Platform:
    """Return the platform with every model under its canonical name."""
    return platform.model_copy(
        update={
            "clusters": tuple(
                cluster.model_copy(
                    update={
                        "serving": cluster.serving.model_copy(
                            update={"model_sources": _each(cluster.serving.model_sources, catalog)}
                        )
                    }
                )
                for cluster in platform.clusters
            ),
            "accounts": tuple(
                account.model_copy(
                    update={
                        "model_versions": {
                            catalog.model(name).name: version
                            for name, version in account.model_versions.items()
                        }
                    }
                )
                for account in platform.accounts
            ),
            "rates": _each(platform.rates, catalog),
            "commitments": _each(platform.commitments, catalog),
            "latencies": _each(platform.latencies, catalog),
            "confirmed_capacity": _each(platform.confirmed_capacity, catalog),
            "live": _each(platform.live, catalog),
        }
    )


def canonical_workload(workload: Workload, catalog: Catalog) -> Workload:
    """Return the workload with its models and its pin under canonical names."""
    choices = tuple(
        choice.model_copy(update={"name": catalog.model(choice.name).name})
        for choice in workload.models
    )
    pin = workload.pin
    if pin is not None and pin.model is not None:
        pin = pin.model_copy(update={"model": catalog.model(pin.model).name})
    return workload.model_copy(update={"models": choices, "pin": pin})


def _each(items: tuple[Named, ...], catalog: Catalog) -> tuple[Named, ...]:
    return tuple(_canonical(item, catalog) for item in items)


def _canonical(item: Named, catalog: Catalog) -> Named:
    name = getattr(item, "model", ANY)
    if name == ANY:
        return item
    return item.model_copy(update={"model": catalog.model(name).name})
