"""Everything the catalog could offer, through the real gate, against a table of our own.

Each option that the planner would name, were everything sold everywhere, and each batch
type, for every region and spill target: no leak, and no denial without a stated reason.
"""

from __future__ import annotations

import datetime as dt
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from planner.catalog.beyond import beyond_inference_of
from planner.catalog.loader import Catalog, load_catalog
from planner.catalog.rows import Provider
from planner.declared.accounts import Account
from planner.declared.clusters import Cluster, NodeQuota
from planner.option import Option
from planner.options import options_of
from planner.platform import Platform
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from tests.policy.truth import (
    ANY,
    COUNTRY,
    UNKNOWN,
    WIDTH,
    Truth,
    admitted,
    inside,
    surroundings,
    truth,
)

MODEL = "Qwen/Qwen3-32B"  # open, and approved for restricted data
RESIDENCIES = (
    *(("AU",), ("EU",), ("EEA",), ("EU_DATA_BOUNDARY",), ("US",), ("JP",), ("IN",), ("SG",)),
    *(("GB",), ("CH",), ("DE",), ("KR",), ("CA",), ("IE", "NL"), ("HK", "SG"), ("AU", "US")),
)
CHUNK = 1000
SENSITIVE = (("AU",), ("EU_DATA_BOUNDARY",), ("US",), ("IE", "NL"))
"""Residencies that are asked about confidential and restricted data as well."""

MACHINES = {
    "azure": "Standard_NC40ads_H100_v5",
    "aws": "p5.4xlarge",
    "gcp": "a3-highgpu-1g",
}
Expected = frozenset[tuple[str, str]]
"""(rule, verdict) of each finding."""


class Everything:
    """An offer book in which every model is sold under every type."""

    def payg(self, *_: Any) -> Any:
        return True

    def unit(self, *_: Any) -> Any:
        return SimpleNamespace(spillover=True)

    def terms(self, *_: Any) -> tuple[int, ...]:
        return (0,)


def places(catalog: Catalog) -> list[tuple[Provider, str]]:
    return [(region.cloud, region.name) for region in catalog.regions]


@cache
def named_options() -> tuple[Option, ...]:
    """Return what the planner names; an empty pin matches all, so wider spills are named too."""
    from tests.policy.conftest import make_option, make_workload

    catalog = load_catalog()
    found: list[Option] = []
    for cloud, region in places(catalog):
        platform = Platform(
            as_of=dt.date(2026, 11, 29),
            accounts=(Account(name="a", provider=cloud, region=region),),
            clusters=(
                Cluster(
                    name="c",
                    cloud=cloud,
                    region=region,
                    node_pools="karpenter",
                    nodes=(NodeQuota(instance=MACHINES[cloud], max_nodes=1),),
                ),
            ),
        )
        workload = make_workload(models=({"name": MODEL},), pin={})
        for option in options_of(workload, platform, catalog, Everything()):
            found.append(option.model_copy(update={"id": f"{cloud}/{region}/{option.id}"}))
        for kind in catalog.deployment_types_of(cloud):
            if kind.kind == "batch" and catalog.offered(cloud, kind.name, region):
                scope, countries = catalog.processing(cloud, kind.name, region)
                batch = make_option(
                    id=f"{cloud}/{region}/{kind.name}",
                    provider=cloud,
                    region=region,
                    model=MODEL,
                    deployment_type=kind.name,
                    scope=scope,
                    jurisdictions=countries,
                )
                found.append(batch)
    return tuple(found)


def told(option: Any, kind: str) -> Truth:
    """Return the truth about an option or a spill target; own machines stay where they are."""
    if kind == "self_hosted":
        return Truth("region", frozenset({COUNTRY[option.provider, option.region]}))
    known = truth(option.provider, option.deployment_type, option.region)
    assert known is not None, f"{option.deployment_type} cannot exist in {option.region}"
    return known


def expected(option: Option, residency: tuple[str, ...], classification: str) -> Expected:
    """Return the findings that the truth calls for."""
    countries = admitted(residency)
    own = told(option, option.kind)
    found: set[tuple[str, str]] = set()
    if own.place == UNKNOWN:
        found.add(("RES-002", "unavailable"))
    elif not inside(own.place, countries):
        found.add(("RES-001", "deny"))
    if option.spill is not None:
        target = told(option.spill, "payg")
        stays = option.kind == "self_hosted" and target.place == own.place
        if WIDTH[target.scope] > WIDTH[own.scope] and not stays:
            found.add(("RES-003", "deny"))
        if target.place == UNKNOWN:
            found.add(("RES-003", "unavailable"))
        elif not inside(target.place, countries):
            found.add(("RES-003", "deny"))
    found |= third_party(option, classification)
    return frozenset(found | around(option, residency, classification))


def third_party(option: Option, classification: str) -> set[tuple[str, str]]:
    alone = option.kind == "self_hosted" and option.spill is None
    return {("TPP-001", "deny")} if classification == "restricted" and not alone else set()


def around(option: Option, residency: tuple[str, ...], classification: str) -> set[tuple[str, str]]:
    """Return what the places besides inference call for."""
    if classification not in ("confidential", "restricted"):
        return set()
    parts = [option.spill] if option.kind == "self_hosted" else [option, option.spill]
    known: list[Any] = []
    gaps = False
    for part in parts:
        if part is not None:
            some, missing = surroundings(part.provider, part.deployment_type, part.region)
            known += some
            gaps = gaps or missing
    if option.kind == "self_hosted":
        known.append(frozenset({COUNTRY[option.provider, option.region]}))
    found = set()
    if gaps:
        found.add(("RES-004", "warn" if classification == "confidential" else "unavailable"))
    if not all(inside(place, admitted(residency)) for place in known):
        found.add(("RES-004", "deny"))
    return found


def test_the_table_knows_every_region_and_every_type() -> None:
    catalog = load_catalog()
    assert {(region.cloud, region.name): region.country for region in catalog.regions} == COUNTRY
    for cloud, region in places(catalog):
        for kind in catalog.deployment_types_of(cloud):
            possible = truth(cloud, kind.name, region) is not None
            assert catalog.offered(cloud, kind.name, region) == possible, (kind.name, region)


def test_places_equal_the_table() -> None:
    catalog = load_catalog()
    for cloud, region in places(catalog):
        for kind in catalog.deployment_types_of(cloud):
            known = truth(cloud, kind.name, region)
            if known is None:
                continue
            scope, countries = catalog.processing(cloud, kind.name, region)
            place = {ANY: None, UNKNOWN: None}.get(known.place, known.place)  # type: ignore[call-overload]
            assert (scope, countries) == (known.scope, tuple(sorted(place)) if place else None), (
                kind.name,
                region,
            )


def test_every_type_and_spill_target_is_put_to_the_gate() -> None:
    options, catalog = named_options(), load_catalog()
    asked = {(option.provider, option.deployment_type) for option in options}
    kinds = {(kind.provider, kind.name) for kind in catalog.deployment_types}
    assert asked >= kinds
    assert len(options) > 3000
    spills = {
        (option.spill.provider, option.spill.deployment_type) for option in options if option.spill
    }
    assert spills == {(k.provider, k.name) for k in catalog.deployment_types if k.kind == "payg"}
    assert {(option.provider, option.region) for option in options} == set(COUNTRY)


@pytest.mark.parametrize(
    ("residency", "classification"),
    [
        *((residency, "internal") for residency in RESIDENCIES),
        *((residency, "confidential") for residency in SENSITIVE),
        *((residency, "restricted") for residency in SENSITIVE),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(value),
)
def test_the_gate_says_what_the_table_says(
    engine: PolicyEngine,
    make: SimpleNamespace,
    residency: tuple[str, ...],
    classification: str,
) -> None:
    catalog, options = load_catalog(), named_options()
    workload = make.workload(jurisdictions=residency, classification=classification)
    wrong: list[str] = []
    for start in range(0, len(options), CHUNK):
        part = list(options[start : start + CHUNK])
        facts = {option.id: beyond_inference_of(option, catalog) for option in part}
        answers = gate_options(engine, make.question(part, workload, beyond_inference=facts), part)
        for option in part:
            found = {(item.rule_id, item.verdict) for item in answers[option.id].findings}
            right = expected(option, residency, classification)
            if found != right:
                wrong.append(f"{option.id}: {sorted(found)}, not {sorted(right)}")
            elif answers[option.id].verdict in ("allow", "warn"):
                wrong += leaks(option, residency)
            else:
                assert all(item.message and item.remedy for item in answers[option.id].findings)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:20]])


def leaks(option: Option, residency: tuple[str, ...]) -> list[str]:
    """Return a line for each place outside the residency that an admitted option may use."""
    parts = [("", option, option.kind)]
    if option.spill is not None:
        parts.append((" spill", option.spill, "payg"))
    return [
        f"LEAK {option.id}{role}: {told(part, kind).place}"
        for role, part, kind in parts
        if not inside(told(part, kind).place, admitted(residency))
    ]
