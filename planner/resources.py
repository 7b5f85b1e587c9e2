"""From decisions to the resources that they imply: names, sizes, bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.capacity import NodePool, Resources
from planner.catalog.loader import Catalog
from planner.decision import Decision, Outcome
from planner.economics.prices import PriceBook
from planner.orders import confirmation, purchases_of, quotas_of
from planner.platform import Platform
from planner.providers import accounts_of, deployments_of, routing_of
from planner.servers import server_of, site_of
from planner.serving.shape import ModelShape
from planner.steps import steps_of
from planner.workload import Workload


def resources_of(
    decisions: Sequence[Decision],
    platform: Platform,
    catalog: Catalog,
    book: PriceBook,
    *,
    workloads: Sequence[Workload] = (),
    shape_of: Callable[[str], ModelShape] | None = None,
) -> Resources:
    """Return what will exist for ``decisions``; nothing where nothing was decided."""
    declared = {workload.name: workload for workload in workloads}
    clusters = {cluster.name: cluster for cluster in platform.clusters}
    decided = [(decision, decision.chosen) for decision in decisions if decision.chosen]
    hosted = [(d, o) for d, o in decided if o.self_hosted is not None]
    deployments = deployments_of(decided, platform, catalog)
    quotas = quotas_of(deployments, platform)
    found = Resources(
        node_pools=_node_pools(hosted, platform, catalog),
        servers=tuple(
            server_of(
                decision,
                outcome,
                clusters[outcome.option.hardware.cluster],
                catalog,
                node_pool=pool_name(outcome, decision.tier),
                workload=declared.get(decision.workload),
                shape_of=shape_of,
            )
            for decision, outcome in hosted
            if outcome.option.hardware is not None
        ),
        deployments=deployments,
        purchases=purchases_of(decided, deployments, quotas, platform, book),
        accounts=accounts_of(deployments, platform),
        quotas=quotas,
        sites=tuple(
            site_of(clusters[name])
            for name in sorted({o.option.hardware.cluster for _, o in hosted if o.option.hardware})
        ),
    )
    confirmed = {
        item.name: word
        for item in deployments
        if (word := confirmation(platform, item.account, item.deployment_type, item.model))
    }
    steps = steps_of(found, confirmed, routing_of(decided, catalog))
    return found.model_copy(update={"steps": steps})


def pool_name(outcome: Outcome, tier: str) -> str:
    """Return the node pool's name: tier and machine type, one pool for each pair."""
    machine = outcome.option.deployment_type.removeprefix("Standard_").lower()
    return f"{tier}-{''.join(ch if ch.isalnum() else '-' for ch in machine)}"


def _node_pools(
    hosted: Sequence[tuple[Decision, Outcome]], platform: Platform, catalog: Catalog
) -> tuple[NodePool, ...]:
    clusters = {cluster.name: cluster for cluster in platform.clusters}
    pools: dict[tuple[str, str], NodePool] = {}
    for decision, outcome in hosted:
        hardware, size = outcome.option.hardware, outcome.self_hosted
        assert hardware is not None  # noqa: S101 - filtered by the caller
        assert size is not None  # noqa: S101 - filtered by the caller
        cluster = clusters[hardware.cluster]
        name = pool_name(outcome, decision.tier)
        held = pools.get((cluster.name, name))
        nodes = size.nodes + size.spare_nodes
        pools[(cluster.name, name)] = NodePool(
            name=name,
            cluster=cluster.name,
            cloud=cluster.cloud,
            region=cluster.region,
            kind=cluster.node_pools,
            resource_group=cluster.resource_group,
            tier=decision.tier,
            instance=hardware.instance,
            accelerator=hardware.accelerator,
            gpus_per_node=hardware.gpus_per_node,
            min_nodes=(held.min_nodes if held else 0)
            + (nodes if decision.tier == "interactive" else 0),
            max_nodes=(held.max_nodes if held else 0) + nodes,
            zones=cluster.zones,
            country=catalog.region(cluster.cloud, cluster.region).country,
            spot=cluster.spot_batch and decision.tier == "batch",
            site=cluster.site,
        )
    return tuple(pools[key] for key in sorted(pools))
