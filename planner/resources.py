"""From decisions to the resources that they imply: names, sizes, bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from planner.catalog.loader import Catalog
from planner.catalog.rows import ModelRow
from planner.decision import Decision, Outcome
from planner.economics.prices import PriceBook
from planner.economics.provisioned import owned_units
from planner.plan import NodePool, ProviderDeployment, Purchase, Resources, VllmServer
from planner.platform import Account, Platform
from planner.units import GIB

QUOTA_MARGIN = 1.2
"""Pay-as-you-go quota asked for above the expected peak: minutes are not smooth."""

HOST_SHARE = 0.85
"""Share of a node's CPU and memory that its servers ask for; the rest runs the node."""

SHM_BYTES_PER_GPU = 2 * GIB
"""Shared memory for NCCL and worker messages, per GPU of a replica."""

ENGINE_START_SECONDS = 300
"""Engine start besides reading weights: compile, graph capture, profiling run."""

LONGEST_DRAIN_SECONDS = 900


def resources_of(
    decisions: Sequence[Decision], platform: Platform, catalog: Catalog, book: PriceBook
) -> Resources:
    """Return what will exist for ``decisions``; nothing where nothing was decided."""
    decided = [(decision, decision.chosen) for decision in decisions if decision.chosen]
    hosted = [(d, o) for d, o in decided if o.self_hosted is not None]
    return Resources(
        node_pools=_node_pools(hosted, platform),
        servers=tuple(_server(d, o, platform, catalog) for d, o in hosted),
        deployments=tuple(
            item for d, o in decided for item in _deployments(d, o, platform, catalog)
        ),
        purchases=tuple(item for d, o in decided for item in _purchases(d, o, platform, book)),
    )


def pool_name(outcome: Outcome, tier: str) -> str:
    """Return the node pool's name: tier and machine type, one pool for each pair."""
    machine = outcome.option.deployment_type.removeprefix("Standard_").lower()
    return f"{tier}-{''.join(ch if ch.isalnum() else '-' for ch in machine)}"


def _node_pools(
    hosted: Sequence[tuple[Decision, Outcome]], platform: Platform
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
        )
    return tuple(pools[key] for key in sorted(pools))


def _server(
    decision: Decision, outcome: Outcome, platform: Platform, catalog: Catalog
) -> VllmServer:
    hardware, size = outcome.option.hardware, outcome.self_hosted
    assert hardware is not None  # noqa: S101 - filtered by the caller
    assert size is not None  # noqa: S101 - filtered by the caller
    cluster = next(item for item in platform.clusters if item.name == hardware.cluster)
    serving, replica = cluster.serving, size.replica
    gpus = replica.layout.gpus
    machine = catalog.instance(cluster.cloud, hardware.instance)
    part = min(1.0, gpus / machine.gpus) * HOST_SHARE
    source = next(
        (item for item in serving.model_sources if item.model == outcome.option.model), None
    )
    weights_bytes = replica.ledger.weights_bytes * gpus
    return VllmServer(
        name=decision.workload,
        workload=decision.workload,
        tier=decision.tier,
        cluster=cluster.name,
        namespace=cluster.namespace,
        node_pool=pool_name(outcome, decision.tier),
        model=outcome.option.model,
        image=serving.image,
        image_digest=serving.image_digest,
        model_claim=source.persistent_volume_claim if source else None,
        model_revision=source.revision if source else None,
        vllm_version=serving.vllm_version,
        tensor_parallel=replica.layout.tensor_parallel,
        pipeline_parallel=replica.layout.pipeline_parallel,
        replicas=size.replicas + size.spare_replicas,
        gpus_per_replica=gpus,
        max_model_len=replica.ledger.max_model_len,
        max_num_seqs=replica.max_num_seqs,
        max_num_batched_tokens=replica.max_num_batched_tokens,
        gpu_memory_utilization=replica.ledger.gpu_memory_utilization,
        dtype="bfloat16",
        kv_cache_dtype=replica.kv_dtype,
        cpu=max(1, math.floor(machine.vcpu * part)),
        memory_bytes=math.floor(machine.memory_gib * part) * GIB,
        shm_bytes=SHM_BYTES_PER_GPU * gpus,
        startup_seconds=math.ceil(weights_bytes / serving.load_bytes_per_s) + ENGINE_START_SECONDS,
        drain_seconds=_drain_seconds(replica.ledger.max_model_len, replica.itl_p95_ms),
        labels={"owner": decision.owner, "classification": decision.classification},
    )


def _drain_seconds(longest_output_tokens: int, itl_ms: float) -> int:
    longest = math.ceil(longest_output_tokens * itl_ms / 1000)
    return max(30, min(LONGEST_DRAIN_SECONDS, longest))


def _deployments(
    decision: Decision, outcome: Outcome, platform: Platform, catalog: Catalog
) -> Iterator[ProviderDeployment]:
    option, cost = outcome.option, outcome.cost
    row = catalog.model(option.model)
    floor = cost.floor if cost else None
    peak = decision.mix.tokens_per_minute_peak
    spill_name = None
    if option.spill is not None:
        spill_name = f"{decision.workload}-spill"
        account = _account(platform, option.spill.account)
        yield _deployment(
            decision,
            row,
            account,
            spill_name,
            option.spill.deployment_type,
            "payg",
            _thousands(max(peak - outcome.floor_tokens_per_minute, 0.0)),
            None,
        )
    if option.kind == "self_hosted" or option.account is None:
        return
    account = _account(platform, option.account)
    if option.kind == "payg":
        capacity = _thousands(peak)
        kind: str = "payg"
    else:
        capacity, kind = (floor.step.units if floor else 0), "provisioned"
    yield _deployment(
        decision,
        row,
        account,
        decision.workload,
        option.deployment_type,
        kind,
        capacity,
        spill_name,
    )


def _deployment(
    decision: Decision,
    row: ModelRow,
    account: Account,
    name: str,
    deployment_type: str,
    kind: str,
    capacity: int,
    spillover_to: str | None,
) -> ProviderDeployment:
    return ProviderDeployment(
        name=name,
        workload=decision.workload,
        tier=decision.tier,
        provider=account.provider,
        account=account.name,
        resource_group=account.resource_group,
        region=account.region,
        model=row.name,
        model_version=account.model_versions.get(row.name) or row.azure_version,
        model_format=row.azure_format,
        deployment_type=deployment_type,
        kind="payg" if kind == "payg" else "provisioned",
        capacity=capacity,
        spillover_to=spillover_to,
    )


def _purchases(
    decision: Decision, outcome: Outcome, platform: Platform, book: PriceBook
) -> Iterator[Purchase]:
    """Yield what has to be bought beyond the units already owned."""
    option, cost = outcome.option, outcome.cost
    if option.term_months == 0 or cost is None or cost.floor is None:
        return
    owned = owned_units(
        platform.commitments,
        provider=option.provider,
        model=option.model,
        deployment_type=option.deployment_type,
        region=option.region,
        as_of=platform.as_of,
    )
    units = cost.floor.step.units - sum(item.units for item in owned)
    price = book.provisioned(
        option.provider, option.model, option.deployment_type, option.region, option.term_months
    )
    if units <= 0 or price is None:
        return
    yield Purchase(
        workload=decision.workload,
        provider=option.provider,
        deployment_type=option.deployment_type,
        region=option.region,
        model=option.model,
        units=units,
        term_months=option.term_months,
        usd_per_month=units * price.usd_per_unit_month,
        exit_rule=cost.exit.rule if cost.exit else "",
    )


def _thousands(tokens_per_minute: float) -> int:
    return max(1, math.ceil(tokens_per_minute * QUOTA_MARGIN / 1000))


def _account(platform: Platform, name: str) -> Account:
    return next(account for account in platform.accounts if account.name == name)
