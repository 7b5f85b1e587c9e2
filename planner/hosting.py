"""Size and price a self-hosted option: over legal degrees and replica counts, whole nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from planner.catalog.loader import Catalog
from planner.catalog.rows import Accelerator, Instance, PaygPrice
from planner.decision import SelfHosted
from planner.declared.clusters import Cluster
from planner.demand import Demand
from planner.economics.availability import pool_availability, spare_nodes
from planner.economics.cost_types import Cost, FloorStep
from planner.economics.floor import FloorRules
from planner.economics.prices import PriceBook, describe
from planner.economics.pricing import price_self_hosted
from planner.economics.selfhost import machines_usd_per_month, running_hours_per_month
from planner.option import Hardware, Option
from planner.platform import Platform
from planner.serving.engine import VllmSettings
from planner.serving.shape import ModelShape
from planner.serving.sizing import nodes_for, replica_candidates
from planner.serving.sizing_types import Refusal, Replica
from planner.workload import Tier, Workload

STARTUP_HOURS = 1.0
"""Hours a batch pool runs before its window each day: node start and weights to load.

Large models take 10 to 60 minutes to start (practitioner cases DP-01, DP-03, DP-05).
"""


@dataclass(frozen=True)
class HostedResult:
    """The cheapest size, or why none: ``size`` and ``cost`` are None then."""

    size: SelfHosted | None
    cost: Cost | None
    availability: float | None
    why: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Machine:
    """The machine of a self-hosted option, where it stands, and how vLLM is set on it."""

    hardware: Hardware
    cluster: Cluster
    instance: Instance
    accelerator: Accelerator
    settings: VllmSettings


@dataclass(frozen=True)
class _Priced:
    replica: Replica
    cost: Cost
    total_usd: float


def host(
    option: Option,
    workload: Workload,
    demand: Demand,
    shape: ModelShape,
    *,
    platform: Platform,
    catalog: Catalog,
    book: PriceBook,
    rules: FloorRules,
    token_multiplier: float,
    engineering_usd_per_month: float,
    comparator: PaygPrice | None,
) -> HostedResult:
    """Return the cheapest whole nodes that serve ``demand`` with ``shape``.

    Every legal tensor-parallel degree competes with its own ladder of replicas;
    the smallest degree breaks ties.
    """
    place = machine_of(option, platform, catalog)
    cluster, machine, hardware = place.cluster, place.instance, place.hardware
    replicas, refusals = replica_candidates(
        shape,
        machine,
        place.accelerator,
        place.settings,
        workload.traffic,
        workload.objectives,
        token_multiplier=token_multiplier,
    )
    if not replicas:
        return HostedResult(None, None, None, why=_refused(refusals))
    hourly = book.instance_hour(cluster.cloud, machine.name, cluster.region)
    missing = () if hourly else (f"no price row: {machine.name} in {cluster.region}",)
    node_availability = _node_availability(cluster, catalog)
    hours = running_hours_per_month(workload.tier, workload.traffic.window, STARTUP_HOURS)
    priced: list[_Priced] = []
    last: Cost | None = None
    for replica in replicas:
        steps = _ladder(
            replica,
            machine,
            hardware.max_nodes,
            tier=workload.tier,
            availability=workload.objectives.availability,
            hours_per_month=hours,
            usd_per_node_hour=hourly.usd_per_hour if hourly else 0.0,
            node_availability=node_availability,
        )
        last = price_self_hosted(
            demand,
            option,
            book,
            steps=steps,
            rules=rules,
            tier=workload.tier,
            token_multiplier=token_multiplier,
            engineering_usd_per_month=engineering_usd_per_month,
            comparator=comparator,
            missing=missing,
            price_sources=(describe(hourly),) if hourly else (),
        )
        if last.total_usd_per_month is not None:
            priced.append(_Priced(replica, last, last.total_usd_per_month))
    if not priced:
        return HostedResult(None, last, None, why="")
    best = min(priced, key=lambda item: (item.total_usd, item.replica.layout.gpus))
    size = _size(best, priced, refusals, machine)
    up = pool_availability(size.nodes, size.spare_nodes, node_availability)
    note = f"node availability {node_availability:g} a node, promised by {cluster.cloud}"
    return HostedResult(size, best.cost, up, notes=(note,))


def machine_of(option: Option, platform: Platform, catalog: Catalog) -> Machine:
    """Return the machine that a self-hosted option names."""
    hardware = option.hardware
    assert hardware is not None  # noqa: S101 - self-hosted options carry hardware
    cluster = next(item for item in platform.clusters if item.name == hardware.cluster)
    instance = catalog.instance(cluster.cloud, hardware.instance)
    return Machine(
        hardware=hardware,
        cluster=cluster,
        instance=instance,
        accelerator=catalog.accelerator(instance.accelerator),
        settings=VllmSettings(
            vllm_version=cluster.serving.vllm_version,
            gpu_memory_utilization=cluster.serving.gpu_memory_utilization,
        ),
    )


@lru_cache(maxsize=1024)
def _ladder(
    replica: Replica,
    machine: Instance,
    max_nodes: int,
    *,
    tier: Tier,
    availability: float | None,
    hours_per_month: float,
    usd_per_node_hour: float,
    node_availability: float,
) -> tuple[FloorStep, ...]:
    """Return the ladder of replicas, with each step's spare nodes paid for.

    It does not depend on how much is asked, so it is remembered.
    """
    steps: list[FloorStep] = []
    count = 0
    while True:
        count += 1
        needed = nodes_for(count, replica.layout, machine.gpus)
        spares = spare_nodes(needed, availability, node_availability, tier)
        if spares is None or needed + spares > max_nodes:
            return tuple(steps)
        nodes = needed + spares
        steps.append(
            FloorStep(
                units=count,
                capacity=count * replica.tokens_per_minute,
                fixed_usd_per_month=machines_usd_per_month(
                    usd_per_node_hour, nodes, hours_per_month
                ),
                nodes=nodes,
            )
        )


def _size(
    best: _Priced, priced: Sequence[_Priced], refusals: Sequence[Refusal], machine: Instance
) -> SelfHosted:
    step = _step(best)
    nodes = nodes_for(step.units, best.replica.layout, machine.gpus)
    spares = step.nodes - nodes
    per_node = max(1, machine.gpus // best.replica.layout.gpus)
    return SelfHosted(
        replica=best.replica,
        replicas=step.units,
        spare_replicas=spares * per_node,
        nodes=nodes,
        spare_nodes=spares,
        gpus_per_node=machine.gpus,
        per_layout_usd=tuple(
            (
                item.replica.layout.tensor_parallel,
                _step(item).units,
                _step(item).nodes,
                item.total_usd,
            )
            for item in priced
        ),
        refusals=tuple(refusals),
    )


def _step(item: _Priced) -> FloorStep:
    assert item.cost.floor is not None  # noqa: S101 - a priced floor has a step
    return item.cost.floor.step


def _node_availability(cluster: Cluster, catalog: Catalog) -> float:
    """Return a single machine's promised availability; without one, none is assumed."""
    promise = catalog.promise(cluster.cloud, "instance")
    return promise.availability if promise else 0.0


def _refused(refusals: Sequence[Refusal]) -> str:
    words = [
        f"TP{item.layout.tensor_parallel}: {item.shortfall}"
        + (f" (nearest: {item.nearest})" if item.nearest else "")
        for item in refusals
    ]
    return "; ".join(words) or "no layout of this machine can be used"
