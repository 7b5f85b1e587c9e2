"""Names in the declared files that must exist in the catalog or in the stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from planner.catalog.loader import Catalog
from planner.economics.prices import rate_problems
from planner.errors import InputError, Problem
from planner.platform import InstanceRate, Platform
from planner.workload import Workload
from planner.yamlfile import YamlFile

Path = tuple[int | str, ...]
Lookup = tuple[Path, Callable[[], Any]]


def workload_problems(workload: Workload, file: YamlFile, catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for every model, jurisdiction, provider or region not known."""
    lookups: list[Lookup] = [
        (("residency", "jurisdictions", index), _bind(catalog.expand, [code]))
        for index, code in enumerate(workload.residency.jurisdictions)
    ]
    lookups += [
        (("models", index, "name"), _bind(catalog.model, choice.name))
        for index, choice in enumerate(workload.models)
    ]
    pin = workload.pin
    if pin is not None and pin.provider is not None:
        if pin.region is not None:
            lookups.append((("pin", "region"), _bind(catalog.region, pin.provider, pin.region)))
        if pin.deployment_type is not None and pin.kind != "self_hosted":
            asked = _bind(catalog.deployment_type, pin.provider, pin.deployment_type)
            lookups.append((("pin", "deployment_type"), asked))
    yield from _tried(file, lookups)


def platform_problems(platform: Platform, file: YamlFile, catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for every region, instance, type or model not known, or named twice."""
    lookups: list[Lookup] = []
    for index, cluster in enumerate(platform.clusters):
        at: Path = ("clusters", index)
        lookups.append(((*at, "region"), _bind(catalog.region, cluster.cloud, cluster.region)))
        lookups += [
            (
                (*at, "nodes", place, "instance"),
                _bind(catalog.instance, cluster.cloud, quota.instance),
            )
            for place, quota in enumerate(cluster.nodes)
        ]
        lookups += [
            ((*at, "serving", "model_sources", place, "model"), _bind(catalog.model, source.model))
            for place, source in enumerate(cluster.serving.model_sources)
        ]
    for index, account in enumerate(platform.accounts):
        at = ("accounts", index)
        lookups.append(((*at, "region"), _bind(catalog.region, account.provider, account.region)))
        lookups += [
            ((*at, "deployment_types", place), _bind(catalog.deployment_type, account.provider, t))
            for place, t in enumerate(account.deployment_types)
        ]
        lookups += [
            (
                (*at, "quotas", place, "deployment_type"),
                _bind(catalog.deployment_type, account.provider, quota.deployment_type),
            )
            for place, quota in enumerate(account.quotas)
        ]
    for index, rate in enumerate(platform.rates):
        at = ("rates", index)
        if isinstance(rate, InstanceRate):
            lookups.append(((*at, "instance"), _bind(catalog.instance, rate.cloud, rate.instance)))
        elif rate.model != "*":
            lookups.append(((*at, "model"), _bind(catalog.model, rate.model)))
    yield from _tried(file, lookups)
    for problem in rate_problems(platform.rates, platform.as_of):
        yield Problem(f"{file.label} ({problem.where})", problem.what, problem.fix)
    yield from _twice(file, "clusters", [cluster.name for cluster in platform.clusters])
    yield from _twice(file, "accounts", [account.name for account in platform.accounts])
    yield from _twice(file, "commitments", [owned.id for owned in platform.commitments])


def _bind(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    return lambda: function(*args)


def _tried(file: YamlFile, lookups: list[Lookup]) -> Iterator[Problem]:
    for path, lookup in lookups:
        try:
            lookup()
        except InputError as error:
            for problem in error.problems:
                yield Problem(file.where(path), problem.what, problem.fix)


def _twice(file: YamlFile, key: str, names: list[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            what = f"{name!r} is declared twice"
            yield Problem(file.where((key, index)), what, "Give each its own name.")
