"""The rules of residency, asked about what is really there.

A deployment that was edited by hand is no longer the option that was judged. So the option
that it has become is made and put to the same rules, which then say by name what is wrong
with the place where prompts would be processed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from planner.bedrock import PROFILES
from planner.catalog.loader import Catalog
from planner.catalog.rows import Provider, Scope
from planner.declare import Stack
from planner.errors import InputError
from planner.option import Option, SpillTarget
from planner.plan import Plan, ProviderDeployment
from planner.policy.resources import PlannedRow, Row

AZURE = "azure-native:cognitiveservices:Deployment"
AWS = "aws:bedrock/inferenceProfile:InferenceProfile"

_SPILL = "properties.spilloverDeploymentName"
_PLACED = ("sku.name", "properties.model.name", _SPILL, "modelSource.copyFrom", "provider.region")
_PROFILE = re.compile(r"arn:[^:]+:bedrock:([^:]*):[^:]*:(inference-profile|foundation-model)/(.+)")
_UNKNOWN_TYPE = "an unknown type"

Key = tuple[str, str | None]
"""What rows are told apart by: the type, and what names the thing to its provider."""

Known = Mapping[Key, Row | PlannedRow]


class _Place(NamedTuple):
    """A deployment type in a region, and the model there, as a resource has them."""

    deployment_type: str
    region: str
    model: str


def changed_options(
    plan: Plan, planned: Sequence[PlannedRow], rows: Sequence[Row], stack: Stack, catalog: Catalog
) -> tuple[Option, ...]:
    """Return the option that each deployment has become that differs from its planned one.

    A deployment type that the catalog does not know counts as one that may process anywhere.
    """
    wanted: dict[Key, Row | PlannedRow] = {
        (row.type, row.identity): row for row in planned if row.type in (AZURE, AWS)
    }
    there: dict[Key, Row | PlannedRow] = {(row.type, row.identity): row for row in rows}
    deployments: dict[Key, ProviderDeployment] = {
        _key(item): item for item in plan.resources.deployments
    }
    return tuple(
        _became(deployments[key], there[key], {**wanted, **there}, stack, catalog)
        for key in sorted(wanted, key=str)
        if key in there and key in deployments
        if _placed(key, there, wanted) != _placed(key, wanted, wanted)
    )


def _key(item: ProviderDeployment) -> Key:
    return (AWS, item.name) if item.provider == "aws" else (AZURE, f"{item.account}/{item.name}")


def _placed(key: Key, rows: Known, planned: Known) -> list[object]:
    """Return what decides where a deployment processes, its spill target's part included."""
    row = rows.get(key, planned[key])
    own = [row.fields.get(path) for path in _PLACED]
    target = _target_of(key, row)
    if target not in planned:
        return own
    beyond = rows.get(target, planned[target])
    return [*own, *[beyond.fields.get(path) for path in _PLACED]]


def _target_of(key: Key, row: Row | PlannedRow) -> Key:
    account = str(key[1]).partition("/")[0]
    return AZURE, f"{account}/{row.fields.get(_SPILL)}"


def _became(
    item: ProviderDeployment, row: Row | PlannedRow, known: Known, stack: Stack, catalog: Catalog
) -> Option:
    place = _place(item, row, catalog)
    scope, jurisdictions = _processing(item, place, catalog)
    account = next(one for one in stack.platform.accounts if one.name == item.account)
    partition = catalog.region(item.provider, place.region).partition
    provider: Provider = account.provider
    spill = None
    if _SPILL in row.fields:
        target = known.get(_target_of(_key(item), row))
        beyond = _place(item, target, catalog) if target else place._replace(deployment_type="")
        spill_scope, spill_jurisdictions = _processing(item, beyond, catalog)
        spill = SpillTarget(
            provider=provider,
            account=item.account,
            region=beyond.region,
            deployment_type=beyond.deployment_type or _UNKNOWN_TYPE,
            scope=spill_scope,
            jurisdictions=spill_jurisdictions,
            operator_class="managed_service",
            partition=partition,
            key_custody=account.key_custody,
        )
    return Option(
        id=f"{item.workload}/registered/{item.account}/{item.name}",
        workload=item.workload,
        kind=item.kind,
        model=place.model,
        provider=provider,
        region=place.region,
        deployment_type=place.deployment_type or _UNKNOWN_TYPE,
        scope=scope,
        jurisdictions=jurisdictions,
        operator_class="managed_service",
        account=item.account,
        hardware=None,
        term_months=item.term_months,
        spill=spill,
        pinned=False,
        partition=partition,
        key_custody=account.key_custody,
    )


def _place(item: ProviderDeployment, row: Row | PlannedRow, catalog: Catalog) -> _Place:
    if row.type == AZURE:
        kind, model = row.fields.get("sku.name"), row.fields.get("properties.model.name")
        return _Place(str(kind or ""), item.region, _model(str(model or ""), catalog))
    found = _PROFILE.fullmatch(str(row.fields.get("modelSource.copyFrom") or ""))
    if found is None:
        return _Place("", item.region, item.model)
    region, source, named = found.groups()
    if region not in {known.name for known in catalog.regions if known.cloud == item.provider}:
        return _Place("", item.region, item.model)
    prefix, _, base = named.partition(".")
    if source == "inference-profile":
        return _Place(prefix if prefix in PROFILES else "", region, _model(base, catalog))
    return _Place(item.deployment_type, region, _model(named, catalog))


def _model(named: str, catalog: Catalog) -> str:
    try:
        return catalog.model(named).name
    except InputError:
        return named


def _processing(
    item: ProviderDeployment, place: _Place, catalog: Catalog
) -> tuple[Scope, tuple[str, ...] | None]:
    """Return scope and countries; a global type may process wherever the provider is."""
    try:
        scope, countries = catalog.processing(item.provider, place.deployment_type, place.region)
    except InputError:
        return "global", None
    if scope == "global" and countries is None:
        everywhere = {row.country for row in catalog.regions if row.cloud == item.provider}
        countries = tuple(sorted(everywhere))
    return scope, countries
