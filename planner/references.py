"""Names in the declared files that must exist in the catalog or in the stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from planner import faults
from planner.catalog.loader import Catalog
from planner.catalog.names import unknown
from planner.declared.rates import InstanceRate
from planner.economics.given import rate_problems
from planner.errors import InputError, Problem
from planner.platform import Platform
from planner.workload import Pin, Workload
from planner.yamlfile import YamlFile

Path = tuple[int | str, ...]
Lookup = tuple[Path, Callable[[], Any]]

PROVIDERS = ("azure", "aws", "gcp")


def workload_problems(workload: Workload, file: YamlFile, catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for every model, jurisdiction, provider, region or type not known."""
    lookups: list[Lookup] = [
        (("residency", "jurisdictions", index), _bind(catalog.expand, [code]))
        for index, code in enumerate(workload.residency.jurisdictions)
    ]
    lookups += [
        (("models", index, "name"), _bind(catalog.model, choice.name))
        for index, choice in enumerate(workload.models)
    ]
    if workload.pin is not None:
        lookups += _pin(workload.pin, catalog)
    yield from _tried(file, lookups)


def platform_problems(platform: Platform, file: YamlFile, catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for every region, instance, type or model not known, or named twice."""
    lookups = [*_clusters(platform, catalog), *_accounts(platform, catalog)]
    lookups += _rows(platform, catalog)
    yield from _tried(file, lookups)
    for problem in rate_problems(platform.rates, platform.as_of):
        yield problem.placed(f"{file.label} ({problem.where})")
    yield from _twice(file, "clusters", [cluster.name for cluster in platform.clusters])
    yield from _twice(file, "accounts", [account.name for account in platform.accounts])
    yield from _twice(file, "commitments", [owned.id for owned in platform.commitments])
    yield from _twice(file, "live", [choice.workload for choice in platform.live])
    accounts = {account.name for account in platform.accounts}
    for index, row in enumerate(platform.confirmed_capacity):
        if row.account not in accounts:
            where = file.where(("confirmed_capacity", index, "account"))
            yield unknown("account", row.account, sorted(accounts), where, faults.NOT_DECLARED)
    for index, cluster in enumerate(platform.clusters):
        at: Path = ("clusters", index)
        yield from _twice(file, (*at, "nodes"), [quota.instance for quota in cluster.nodes])
        models = [
            catalog.model(source.model).name
            for source in cluster.serving.model_sources
            if not list(_tried(file, [((), _bind(catalog.model, source.model))]))
        ]
        yield from _twice(file, (*at, "serving", "model_sources"), models)


def live_problems(
    platform: Platform, file: YamlFile, workloads: Sequence[str]
) -> Iterator[Problem]:
    """Yield a problem for every live choice of a workload that the stack does not declare."""
    for index, choice in enumerate(platform.live):
        if choice.workload not in workloads:
            where = file.where(("live", index, "workload"))
            yield unknown("workload", choice.workload, workloads, where, faults.NOT_DECLARED)


def _pin(pin: Pin, catalog: Catalog) -> Iterator[Lookup]:
    if pin.model is not None:
        yield ("pin", "model"), _bind(catalog.model, pin.model)
    if pin.provider is not None:
        yield ("pin", "provider"), _bind(_provider, pin.provider)
    providers = (pin.provider,) if pin.provider in PROVIDERS else PROVIDERS
    if pin.region is not None:
        yield ("pin", "region"), _bind(_region, pin.region, providers, catalog)
    if pin.deployment_type is not None:
        names = _type_names(catalog, providers, machines=pin.kind in (None, "self_hosted"))
        yield ("pin", "deployment_type"), _bind(_deployment_type, pin.deployment_type, names)
    if pin.spill_to is not None:
        target, _, region = pin.spill_to.partition("@")
        names = _type_names(catalog, PROVIDERS, machines=False)
        yield ("pin", "spill_to"), _bind(_deployment_type, target, names)
        if region:
            yield ("pin", "spill_to"), _bind(_region, region, PROVIDERS, catalog)


def _clusters(platform: Platform, catalog: Catalog) -> Iterator[Lookup]:
    for index, cluster in enumerate(platform.clusters):
        at: Path = ("clusters", index)
        yield (*at, "region"), _bind(catalog.region, cluster.cloud, cluster.region)
        for place, quota in enumerate(cluster.nodes):
            asked = _bind(catalog.instance, cluster.cloud, quota.instance)
            yield (*at, "nodes", place, "instance"), asked
        for place, source in enumerate(cluster.serving.model_sources):
            asked = _bind(catalog.model, source.model)
            yield (*at, "serving", "model_sources", place, "model"), asked


def _accounts(platform: Platform, catalog: Catalog) -> Iterator[Lookup]:
    for index, account in enumerate(platform.accounts):
        at: Path = ("accounts", index)
        yield (*at, "region"), _bind(catalog.region, account.provider, account.region)
        for place, name in enumerate(account.deployment_types):
            asked = _bind(catalog.deployment_type, account.provider, name)
            yield (*at, "deployment_types", place), asked
        for place, quota in enumerate(account.quotas):
            asked = _bind(catalog.deployment_type, account.provider, quota.deployment_type)
            yield (*at, "quotas", place, "deployment_type"), asked
        for name in account.model_versions:
            yield (*at, "model_versions", name), _bind(catalog.model, name)


def _rows(platform: Platform, catalog: Catalog) -> Iterator[Lookup]:
    """Yield the lookups of rates, commitments, latencies, confirmations and live choices."""
    groups: dict[str, tuple[Any, ...]] = {
        "rates": platform.rates,
        "commitments": platform.commitments,
        "latencies": platform.latencies,
        "confirmed_capacity": platform.confirmed_capacity,
        "live": platform.live,
    }
    for group, rows in groups.items():
        for index, row in enumerate(rows):
            at: Path = (group, index)
            yield from _row_place(row, at, catalog)
            if isinstance(row, InstanceRate):
                yield (*at, "instance"), _bind(catalog.instance, row.cloud, row.instance)
                continue
            if row.model != "*":
                yield (*at, "model"), _bind(catalog.model, row.model)
            provider = getattr(row, "provider", None)
            named = getattr(row, "deployment_type", None)
            if provider in PROVIDERS and named:
                machines = group == "live" and row.kind == "self_hosted"
                names = _type_names(catalog, (provider,), machines=machines)
                yield (*at, "deployment_type"), _bind(_deployment_type, named, names)


def _row_place(row: Any, at: Path, catalog: Catalog) -> Iterator[Lookup]:
    """Yield the lookups of a row's provider and region; "*" means every region."""
    provider, region = (
        getattr(row, "provider", getattr(row, "cloud", None)),
        getattr(row, "region", None),
    )
    if provider is not None and provider not in PROVIDERS:
        yield (*at, "provider"), _bind(_provider, provider)
    elif provider is not None and region not in (None, "*"):
        yield (*at, "region"), _bind(catalog.region, provider, region)


def _provider(name: str) -> None:
    if name not in PROVIDERS:
        raise InputError([unknown("provider", name, PROVIDERS)])


def _region(name: str, providers: tuple[str, ...], catalog: Catalog) -> None:
    known = {row.name for row in catalog.regions if row.cloud in providers}
    if name not in known:
        raise InputError([unknown("region", name, sorted(known))])


def _type_names(catalog: Catalog, providers: tuple[str, ...], *, machines: bool) -> set[str]:
    names = {row.name for row in catalog.deployment_types if row.provider in providers}
    if machines:
        names |= {row.name for row in catalog.instances if row.cloud in providers}
    return names


def _deployment_type(name: str, known: set[str]) -> None:
    if name not in known:
        raise InputError([unknown("deployment type", name, sorted(known))])


def _bind(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    return lambda: function(*args)


def _tried(file: YamlFile, lookups: list[Lookup]) -> Iterator[Problem]:
    for path, lookup in lookups:
        try:
            lookup()
        except InputError as error:
            for problem in error.problems:
                yield problem.placed(file.where(path))


def _twice(file: YamlFile, key: str | Path, names: list[str]) -> Iterator[Problem]:
    path = (key,) if isinstance(key, str) else key
    for index, name in enumerate(names):
        if name in names[:index]:
            what = f"{name!r} is declared twice"
            yield faults.DECLARED_TWICE.at(file.where((*path, index)), what)
