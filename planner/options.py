"""Every option worth naming for a workload, before policy and price see it.

Worth naming is what somebody sells or what the stack's clusters could run: an
account with a price row for the model, a provisioned unit with a published
size, a cluster whose machines are declared. Spill targets wider than their
source are named only when someone pins them, so that the gate can say no.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol

from planner.catalog.loader import Catalog
from planner.catalog.rows import SCOPES, Partition, PaygPrice, Provider, ProvisionedUnit, Scope
from planner.declared.accounts import Account
from planner.declared.clusters import Cluster
from planner.option import Hardware, Option, SpillTarget
from planner.platform import Platform
from planner.workload import Kind, Pin, Workload

Place = tuple[Scope, tuple[str, ...] | None]


class Offers(Protocol):
    """What is sold: the part of a price book that tells which options exist."""

    def payg(
        self, provider: Provider, model: str, deployment_type: str, region: str
    ) -> PaygPrice | None:
        """Return the pay-as-you-go price of a model, None where it is not sold."""

    def unit(self, provider: Provider, model: str, deployment_type: str) -> ProvisionedUnit | None:
        """Return what one provisioned unit of a model carries, None where unpublished."""

    def terms(
        self, provider: Provider, model: str, deployment_type: str, region: str
    ) -> tuple[int, ...]:
        """Return the terms in months at which a unit has a price; 0 is hourly."""


def options_of(
    workload: Workload, platform: Platform, catalog: Catalog, offers: Offers
) -> tuple[Option, ...]:
    """Return the workload's options, ordered by id."""
    found: dict[str, Option] = {}
    for choice in workload.models:
        row = catalog.model(choice.name)
        targets = [
            target
            for account in platform.accounts
            for target in _targets(workload, row.name, account, catalog, offers)
        ]
        options = [
            option
            for account in platform.accounts
            for option in _managed(workload, row.name, account, targets, catalog, offers)
        ]
        if row.open_weights:
            for cluster in platform.clusters:
                options += _self_hosted(workload, row.name, cluster, targets, catalog)
        found |= {option.id: option for option in options}
    return tuple(found[key] for key in sorted(found))


def matches_pin(pin: Pin, option: Option) -> bool:
    """Return whether every field given in ``pin`` is the option's."""
    target, _, target_region = (pin.spill_to or "").partition("@")
    spill = option.spill
    return all(
        (
            pin.kind in (None, option.kind),
            pin.model in (None, option.model),
            pin.provider in (None, option.provider),
            pin.region in (None, option.region),
            pin.deployment_type in (None, option.deployment_type),
            not target or (spill is not None and spill.deployment_type == target),
            not target_region or (spill is not None and spill.region == target_region),
        )
    )


def _targets(
    workload: Workload, model: str, account: Account, catalog: Catalog, offers: Offers
) -> Iterator[SpillTarget]:
    """Yield the account's pay-as-you-go deployments of the model: options and spills alike."""
    for name in _sold(workload, account, "payg", catalog):
        priced = offers.payg(account.provider, model, name, account.region)
        if priced is None and name not in _asked_for(workload):
            continue
        scope, jurisdictions = _place(account, name, catalog)
        yield SpillTarget(
            provider=account.provider,
            account=account.name,
            region=account.region,
            deployment_type=name,
            scope=scope,
            jurisdictions=jurisdictions,
            operator_class="managed_service",
            partition=_partition(account, catalog),
            key_custody=account.key_custody,
        )


def _managed(
    workload: Workload,
    model: str,
    account: Account,
    targets: list[SpillTarget],
    catalog: Catalog,
    offers: Offers,
) -> Iterator[Option]:
    own = [target for target in targets if target.account == account.name]
    for target in own:
        name = target.deployment_type
        yield _option(workload, model, account, "payg", name, target, 0, None, catalog)
    for name in _sold(workload, account, "provisioned", catalog):
        unit = offers.unit(account.provider, model, name)
        if unit is None:
            continue
        place = _place(account, name, catalog)
        # Where the provider cannot route the overflow, a gateway in front does; Google's
        # dedicated types are those that were chosen not to spill.
        spills = own if unit.spillover or account.provider != "gcp" else []
        for term in offers.terms(account.provider, model, name, account.region):
            for spill in (None, *spills):
                option = _option(
                    workload, model, account, "provisioned", name, place, term, spill, catalog
                )
                if spill is None or option.pinned or not _wider(spill.scope, option.scope):
                    yield option


def _self_hosted(
    workload: Workload,
    model: str,
    cluster: Cluster,
    targets: list[SpillTarget],
    catalog: Catalog,
) -> Iterator[Option]:
    region = catalog.region(cluster.cloud, cluster.region)
    for quota in cluster.nodes:
        machine = catalog.instance(cluster.cloud, quota.instance)
        for spill in (None, *targets):
            option = Option(
                id=_id(workload, "self_hosted", cluster.name, model, quota.instance, 0, spill),
                workload=workload.name,
                kind="self_hosted",
                model=model,
                provider=cluster.cloud,
                region=cluster.region,
                deployment_type=quota.instance,
                scope="region",
                jurisdictions=(region.country,),
                operator_class=cluster.operator_class,
                account=None,
                hardware=Hardware(
                    cluster=cluster.name,
                    instance=machine.name,
                    accelerator=machine.accelerator,
                    gpus_per_node=machine.gpus,
                    max_nodes=quota.max_nodes,
                ),
                term_months=0,
                spill=spill,
                pinned=False,
                partition=region.partition,
                key_custody=cluster.key_custody,
            )
            yield _with_pin(workload, option)


def _option(
    workload: Workload,
    model: str,
    account: Account,
    kind: Kind,
    deployment_type: str,
    place: Place | SpillTarget,
    term_months: int,
    spill: SpillTarget | None,
    catalog: Catalog,
) -> Option:
    scope, jurisdictions = (
        (place.scope, place.jurisdictions) if isinstance(place, SpillTarget) else place
    )
    option = Option(
        id=_id(workload, kind, account.name, model, deployment_type, term_months, spill),
        workload=workload.name,
        kind=kind,
        model=model,
        provider=account.provider,
        region=account.region,
        deployment_type=deployment_type,
        scope=scope,
        jurisdictions=jurisdictions,
        operator_class="managed_service",
        account=account.name,
        hardware=None,
        term_months=term_months,
        spill=spill,
        pinned=False,
        partition=_partition(account, catalog),
        key_custody=account.key_custody,
    )
    return _with_pin(workload, option)


def _with_pin(workload: Workload, option: Option) -> Option:
    pinned = workload.pin is not None and matches_pin(workload.pin, option)
    return option.model_copy(update={"pinned": True}) if pinned else option


def _id(
    workload: Workload,
    kind: Kind,
    place: str,
    model: str,
    deployment_type: str,
    term_months: int,
    spill: SpillTarget | None,
) -> str:
    parts = [workload.name, kind, place, model, deployment_type]
    if term_months:
        parts.append(f"{term_months}-month")
    if spill is not None:
        parts.append(f"spill={spill.account}:{spill.deployment_type}")
    return "/".join(parts)


def _sold(
    workload: Workload, account: Account, kind: Literal["payg", "provisioned"], catalog: Catalog
) -> Iterator[str]:
    """Yield the names of the types of one kind that the account uses, or someone pins."""
    for deployment in catalog.deployment_types_of(account.provider):
        used = not account.deployment_types or deployment.name in account.deployment_types
        if (
            deployment.kind == kind
            and (used or deployment.name in _asked_for(workload))
            and catalog.offered(account.provider, deployment.name, account.region)
        ):
            yield deployment.name


def _asked_for(workload: Workload) -> set[str | None]:
    pin = workload.pin
    return {pin.deployment_type, (pin.spill_to or "").partition("@")[0]} if pin else set()


def _place(account: Account, deployment_type: str, catalog: Catalog) -> Place:
    """Return scope and countries; a global type may process wherever the provider is."""
    scope, jurisdictions = catalog.processing(account.provider, deployment_type, account.region)
    if scope == "global" and jurisdictions is None:
        everywhere = {row.country for row in catalog.regions if row.cloud == account.provider}
        jurisdictions = tuple(sorted(everywhere))
    return scope, jurisdictions


def _partition(account: Account, catalog: Catalog) -> Partition:
    return catalog.region(account.provider, account.region).partition


def _wider(scope: Scope, than: Scope) -> bool:
    return SCOPES.index(scope) > SCOPES.index(than)
