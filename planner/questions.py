"""What the second question says of a plan: decisions, servers, pools, egress, purchases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.capacity import NodePool, Purchase, Resources, VllmServer
from planner.catalog.loader import Catalog
from planner.decision import Decision
from planner.declare import Stack
from planner.evaluate import retirement
from planner.option import Option
from planner.policy.document import Emitted
from planner.steps import is_bought_by_creation

MODEL_HUB = "huggingface.co"
"""Where vLLM fetches a model that no claim holds."""

DEFAULT_REGISTRY = "docker.io"
"""The registry of an image whose name spells none."""


@dataclass(frozen=True)
class Baseline:
    """The approved plan that a new one is compared with: its digest, and its protection.

    ``workloads`` maps a workload to its ``classification`` and ``jurisdictions``.
    """

    digest: str
    workloads: Mapping[str, Mapping[str, Any]]


def decided_facts(
    decisions: Sequence[Decision], stack: Stack, catalog: Catalog, baseline: Baseline | None
) -> Iterator[dict[str, Any]]:
    """Yield what the question says of each decision that was made."""
    workloads = {workload.name: workload for workload in stack.workloads}
    groups = {group.name: group.countries for group in catalog.groups}
    for decision in decisions:
        if decision.chosen is None:
            continue
        workload, outcome = workloads[decision.workload], decision.chosen
        option, wanted = outcome.option, workload.objectives
        place = option.hardware.cluster if option.hardware else option.account
        declared = workload.residency.jurisdictions
        yield {
            "workload": decision.workload,
            "owner": workload.owner,
            "signed_off_by": workload.signed_off_by,
            "data_asset": workload.data_asset,
            "tier": decision.tier,
            "classification": decision.classification,
            "residency": {
                "jurisdictions": declared,
                "countries": {code for name in declared for code in groups.get(name, (name,))},
            },
            "baseline": baseline.workloads.get(decision.workload) if baseline else None,
            "critical": decision.critical,
            "tokens_per_month": decision.mix.tokens_per_month,
            "register_id": _register_id(option, stack),
            "option": option.model_dump(mode="json"),
            "deployment_key": f"{place}/{decision.workload}",
            "total_usd_per_month": outcome.cost.total_usd_per_month if outcome.cost else None,
            "term_months": option.term_months,
            "horizon_months": workload.horizon_months,
            "retires_on": retirement(option, catalog),
            "successor": catalog.model(option.model).successor,
            "exit_plan": workload.exit_plan,
            "latency_basis": outcome.latency.basis if outcome.latency else "unverified",
            "latency_objective": bool(wanted.ttft_p95_ms or wanted.itl_p95_ms),
            "capacity_confirmed": _confirmed(decision, stack),
        }


def emitted_facts(resources: Resources, stack: Stack, catalog: Catalog) -> Emitted:
    """Return what the question says of clusters and purchases."""
    return Emitted(
        servers=tuple(_server(server) for server in resources.servers),
        pools=tuple(_pool(pool, resources, catalog) for pool in resources.node_pools),
        egress=tuple(row for server in resources.servers for row in _egress(server, stack)),
        purchases=tuple(_purchase(item, stack) for item in resources.purchases),
    )


def _register_id(option: Option, stack: Stack) -> str | None:
    if option.hardware is not None:
        clusters = {cluster.name: cluster for cluster in stack.platform.clusters}
        return clusters[option.hardware.cluster].register_id
    accounts = {account.name: account for account in stack.platform.accounts}
    return accounts[option.account].register_id if option.account else None


def _confirmed(decision: Decision, stack: Stack) -> bool:
    """Return whether the provider has confirmed the units that the floor needs."""
    outcome = decision.chosen
    floor = outcome.cost.floor if outcome and outcome.cost else None
    if outcome is None or floor is None or outcome.option.kind != "provisioned":
        return True
    option = outcome.option
    owned = sum(
        item.units
        for item in stack.platform.confirmed_capacity
        if (item.account, item.deployment_type, item.model)
        == (option.account, option.deployment_type, option.model)
    )
    return owned >= floor.step.units


def _server(server: VllmServer) -> dict[str, Any]:
    return {
        "name": server.name,
        "workload": server.workload,
        "cluster": server.cluster,
        "image": server.image,
        "image_digest": server.image_digest,
        "model": server.model,
        "model_source": _source(server),
        "model_revision": server.model_revision,
    }


def _source(server: VllmServer) -> str:
    if server.model_claim is not None:
        return "claim"
    if server.model_image is not None:
        return "image"
    return "hub" if server.model_url is None else "object_storage"


def _pool(pool: NodePool, resources: Resources, catalog: Catalog) -> dict[str, Any]:
    return {
        "name": pool.name,
        "cluster": pool.cluster,
        "region": pool.region,
        "country": catalog.region(pool.cloud, pool.region).country,
        "tier": pool.tier,
        "workloads": sorted(
            server.workload
            for server in resources.servers
            if (server.cluster, server.node_pool) == (pool.cluster, pool.name)
        ),
    }


def _egress(server: VllmServer, stack: Stack) -> Iterator[dict[str, Any]]:
    """Yield the hosts that a server or its node must reach, and those that are declared."""
    cluster = next(item for item in stack.platform.clusters if item.name == server.cluster)
    hosts = {(item.host, item.purpose) for item in cluster.egress}
    hosts.add((registry_of(server.image), "images"))
    if server.from_hub:
        hosts.add((MODEL_HUB, "weights"))
    if server.model_image is not None:
        hosts.add((registry_of(server.model_image), "weights"))
    hosts |= {
        (source.host, "weights")
        for source in cluster.serving.model_sources
        if source.url == server.model_url is not None and source.host is not None
    }
    for host, purpose in sorted(hosts):
        yield {
            "cluster": server.cluster,
            "workload": server.workload,
            "host": host,
            "purpose": purpose,
        }


def registry_of(image: str) -> str:
    """Return the host that an image is pulled from, without its port."""
    first, slash, _ = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first.partition(":")[0] if named else DEFAULT_REGISTRY


def _purchase(item: Purchase, stack: Stack) -> dict[str, Any]:
    return {
        "workload": item.workload,
        "order_digest": item.order_digest,
        "units": item.units,
        "term_months": item.term_months,
        "usd_per_month": item.usd_per_month,
        "bought_by": "program" if is_bought_by_creation(item) else "person",
        "signed": item.signable and item.order_digest in stack.signed_purchases,
    }
