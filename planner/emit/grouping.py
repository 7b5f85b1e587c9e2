"""A plan's Kubernetes side, cluster by cluster, checked before anything exists."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from planner import faults
from planner.emit import vllm
from planner.emit.admission import admission_manifests
from planner.emit.checks import node_quotas, placed_problems, pool_room, set_problems
from planner.emit.karpenter import karpenter_manifests
from planner.emit.kueue import kueue_manifests
from planner.emit.labels import aks_pool_name, service_name
from planner.emit.manifests import priority_class_manifest, priority_class_name
from planner.emit.metadata import Manifest, Provenance
from planner.emit.placing import NO_SITE, ServerOnPool, spared
from planner.emit.pool_terms import pool_problems
from planner.emit.tenancy import default_deny_manifest, namespace_manifest, quota_manifests
from planner.errors import PlannerError
from planner.features import ClusterSite
from planner.plan import NodePool, Plan

__all__ = ["ClusterResources", "ServerOnPool", "clusters"]

_EMPTY_POOL_SECONDS = 1800


@dataclass(frozen=True)
class ClusterResources:
    """What a plan puts on one cluster, each list in the order of its names.

    ``guards`` are the admission policies of the cluster.
    """

    stack: str
    cluster: str
    pools: tuple[NodePool, ...]
    servers: tuple[ServerOnPool, ...]
    site: ClusterSite = NO_SITE
    guards: tuple[Manifest, ...] = ()

    def objects(self) -> list[Manifest]:
        """Return every object of the cluster, in an order in which they can be applied."""
        servers = [manifest for placed in self.servers for manifest in placed.manifests()]
        return [*self.shared(), *self.node_pools(), *servers]

    def shared(self) -> list[Manifest]:
        """Return what belongs to no server: namespaces, classes, guards, quotas and queues."""
        return [
            *self.namespaces(),
            *self.priority_classes(),
            *self.guards,
            *self.tenancy(),
            *self.queues(),
        ]

    def namespaces(self) -> list[Manifest]:
        """Return the Namespaces that the servers live in, one a tier."""
        return [namespace_manifest(name, tier) for name, tier in self._tenants()]

    def priority_classes(self) -> list[Manifest]:
        """Return a PriorityClass for each tier in use."""
        tiers = sorted({placed.server.tier for placed in self.servers})
        return [priority_class_manifest(self.stack, tier) for tier in tiers]

    def tenancy(self) -> list[Manifest]:
        """Return each namespace's quotas and the policy that closes it."""
        found: list[Manifest] = []
        for name, tier in self._tenants():
            held = [placed for placed in self.servers if placed.server.namespace == name]
            servers = [(item.server, item.nodes, item.spare) for item in held]
            priority = priority_class_name(self.stack, tier)
            found += quota_manifests(name, tier, servers, priority)
            found.append(default_deny_manifest(name, tier))
        return found

    def queues(self) -> list[Manifest]:
        """Return Kueue's objects of each batch namespace, where the cluster has Kueue."""
        if not self.site.features.kueue:
            return []
        found: list[Manifest] = []
        for name, tier in self._tenants():
            held = [placed for placed in self.servers if placed.server.namespace == name]
            if tier == "batch":
                pools = {
                    pool.name: (pool, [(i.server, i.nodes) for i in held if i.pool == pool])
                    for pool in self.pools
                }
                used = [(pool, servers) for pool, servers in pools.values() if servers]
                found += kueue_manifests(self.stack, name, used)
        return found

    def load_seconds(self, pool: NodePool) -> int:
        """Return how long to keep an empty node: what its slowest server needs to load."""
        budgets = [
            vllm.startup_budget_seconds(placed.server)
            for placed in self.servers
            if placed.pool == pool
        ]
        return max(budgets, default=_EMPTY_POOL_SECONDS)

    def node_pools(self) -> list[Manifest]:
        """Return the pools that are Kubernetes objects; managed pools are not."""
        return [
            manifest
            for pool in self.pools
            if pool.kind == "karpenter"
            for manifest in karpenter_manifests(pool, self.load_seconds(pool))
        ]

    def notes(self) -> list[str]:
        """Return what somebody should know of the servers before they exist."""
        return [note for placed in self.servers for note in placed.notes()]

    def _tenants(self) -> list[tuple[str, str]]:
        return sorted({(item.server.namespace, item.server.tier) for item in self.servers})


def clusters(plan: Plan) -> tuple[ClusterResources, ...]:
    """Return the plan's clusters by name, or say everything that cannot be emitted.

    Raises PlannerError with every reason; nothing of such a plan is emitted.
    """
    resources = plan.resources
    sites = {site.name: site for site in resources.sites}
    problems = [str(problem) for problem in node_quotas(resources.node_pools, sites)]
    problems += _doubled(plan)
    problems += [problem for pool in resources.node_pools for problem in pool_problems(pool)]
    placed, lost = _placed(plan, sites)
    problems += lost
    for pool in resources.node_pools:
        servers = [item.server for item in placed if item.pool == pool]
        problems += [str(problem) for problem in pool_room(pool, servers)]
    problems += _mixed(placed)
    problems += [text for item in placed for text in _refused(item, plan)]
    if not problems:
        found = _clusters(plan, placed, sites)
        problems += [str(p) for one in found for p in set_problems(one.cluster, one.objects())]
    if problems:
        head = faults.NOT_EMITTABLE.at(f"stack {plan.stack}", "the plan cannot be emitted")
        raise PlannerError(head, [f"  {line}" for line in dict.fromkeys(problems)])
    return found


def _clusters(
    plan: Plan, placed: list[ServerOnPool], sites: dict[str, ClusterSite]
) -> tuple[ClusterResources, ...]:
    resources = plan.resources
    names = sorted(
        {p.cluster for p in resources.node_pools} | {s.cluster for s in resources.servers}
    )
    return tuple(
        ClusterResources(
            stack=plan.stack,
            cluster=name,
            pools=tuple(
                sorted(
                    (pool for pool in resources.node_pools if pool.cluster == name),
                    key=lambda pool: pool.name,
                )
            ),
            servers=tuple(
                sorted(
                    (item for item in placed if item.server.cluster == name),
                    key=lambda item: (item.server.namespace, item.server.name),
                )
            ),
            site=sites.get(name, NO_SITE),
            guards=tuple(admission_manifests(plan, name)),
        )
        for name in names
    )


def _placed(plan: Plan, sites: dict[str, ClusterSite]) -> tuple[list[ServerOnPool], list[str]]:
    """Return each server on its pool, and what has no pool or no decision."""
    resources = plan.resources
    pools = {(pool.cluster, pool.name): pool for pool in resources.node_pools}
    roomy = {
        key: spared([s for s in resources.servers if (s.cluster, s.node_pool) == key], pool)
        for key, pool in pools.items()
    }
    decided = {decision.workload: decision for decision in plan.decisions}
    capacity_digest = plan.capacity_digest
    placed: list[ServerOnPool] = []
    problems: list[str] = []
    for server in resources.servers:
        key = (server.cluster, server.node_pool)
        decision = decided.get(server.workload)
        if key not in pools:
            problems.append(
                f"server {server.name}: cluster {server.cluster} has no pool {server.node_pool}"
            )
        elif decision is None:
            problems.append(f"server {server.name}: workload {server.workload} has no decision")
        else:
            provenance = Provenance(
                stack=plan.stack,
                capacity_digest=capacity_digest,
                owner=decision.owner,
                classification=decision.classification,
                residency=decision.residency,
            )
            site = sites.get(server.cluster, NO_SITE)
            spare = server.name in roomy[key]
            placed.append(ServerOnPool(server, pools[key], provenance, site, spare))
    return placed, problems


def _refused(item: ServerOnPool, plan: Plan) -> list[str]:
    """Return what is wrong with one server; what cannot even be written down is one problem."""
    try:
        workload, *others = item.manifests()
    except PlannerError as error:
        return [str(error)]
    decision = next(d for d in plan.decisions if d.workload == item.server.workload)
    return [str(problem) for problem in placed_problems(item, decision, workload, others)]


def _mixed(placed: list[ServerOnPool]) -> list[str]:
    """Return a problem for each namespace that two tiers would share."""
    tiers: dict[tuple[str, str], set[str]] = {}
    for item in placed:
        tiers.setdefault((item.server.cluster, item.server.namespace), set()).add(item.server.tier)
    return [
        str(
            faults.WRONG_NODES.at(
                f"cluster {cluster}, namespace {name}",
                "holds servers of both tiers",
                "Give each tier its own, for its own quota and policies.",
            )
        )
        for (cluster, name), found in sorted(tiers.items())
        if len(found) > 1
    ]


def _doubled(plan: Plan) -> list[str]:
    resources = plan.resources
    return [
        *_repeated("node pool", [f"{p.cluster}/{p.name}" for p in resources.node_pools]),
        *_repeated(
            "AKS agent pool",
            [
                f"{p.cluster}/{aks_pool_name(p.name)}"
                for p in resources.node_pools
                if p.kind == "aks_agent_pool"
            ],
        ),
        *_repeated("server", [f"{s.cluster}/{service_name(s.name)}" for s in resources.servers]),
    ]


def _repeated(what: str, names: list[str]) -> list[str]:
    return [
        f"{what} {name} occurs twice" for name, count in sorted(Counter(names).items()) if count > 1
    ]
