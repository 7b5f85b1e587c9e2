"""What a rendered folder says of itself, and what has to be made in another way."""

from __future__ import annotations

from collections.abc import Sequence

from planner.emit.grouping import ClusterResources
from planner.emit.steps import manual_steps
from planner.plan import NodePool, Plan

_POOLS = {
    "aks_agent_pool": "AKS agent pool",
    "eks_managed": "EKS managed node group",
    "eks_node_group": "EKS managed node group",
    "gke_node_pool": "GKE node pool",
}


def readme(plan: Plan, found: Sequence[ClusterResources]) -> str:
    """Return the page that a reader of the folder starts from; it names no moment."""
    names = [item.cluster for item in found if item.servers or item.node_pools()]
    clusters = "\n".join(
        f"- `{name}`: Argo CD syncs `{name}/` by its waves; Flux applies `{name}/infra/`, then "
        f"`{name}/workloads/`"
        for name in names
    )
    notes = [f"- {note}" for item in found for note in item.notes()]
    told = "\n".join(["## Notes", "", *notes, "", ""]) if notes else ""
    return f"""# Capacity of {plan.stack}

Written by `llm-capacity render`. Do not edit: change the declared workloads and render again.

| | |
|---|---|
| as of | {plan.as_of} |
| verdict | {plan.verdict} |
| capacity digest | `{plan.capacity_digest}` |

`plan.json` is the plan, `policy-record.json` what the policy said of it, `purchases/` what a
person has to sign, `manual-steps.md` what a person has to do, `guards/` the residency rule for
the clouds' own guards.

## Clusters

{clusters or "None: nothing here is applied to a cluster."}

{told}## Made by Pulumi only

{_pulumi_only(plan)}"""


def manual_steps_page(plan: Plan) -> str:
    """Return the steps of a person as a page, empty where there are none."""
    steps = manual_steps(plan)
    if not steps:
        return ""
    numbered = [f"{number}. {text}" for number, text in enumerate(steps, start=1)]
    return "\n".join(["# For a person, in this order", "", *numbered, ""])


def _pulumi_only(plan: Plan) -> str:
    """Return what no file here makes: accounts, deployments, pools of a cloud's own API."""
    rows = [
        *(
            (f"{item.provider} account", item.name, f"{item.region}")
            for item in plan.resources.accounts
            if item.create
        ),
        *(
            (
                f"{item.provider} deployment",
                f"{item.account}/{item.name}",
                f"{item.deployment_type} {item.model}, {_capacity(item.kind, item.capacity)}",
            )
            for item in plan.resources.deployments
        ),
        *(_pool(pool) for pool in plan.resources.node_pools if pool.kind != "karpenter"),
    ]
    if not rows:
        return "Nothing: the files are all there is.\n"
    told = "\n".join(f"| {kind} | {name} | {what} |" for kind, name, what in sorted(rows))
    return f"""No file here makes these: `pulumi up` of the plan does. Pods wait for their nodes.

| what | name | of it |
|---|---|---|
{told}
"""


def _capacity(kind: str, capacity: int) -> str:
    return f"{capacity:,} {'units' if kind == 'provisioned' else 'thousand tokens a minute'}"


def _pool(pool: NodePool) -> tuple[str, str, str]:
    zones = f", zones {', '.join(pool.zones)}" if pool.zones else ""
    group = f", resource group {pool.resource_group}" if pool.resource_group else ""
    return (
        _POOLS.get(pool.kind, pool.kind),
        f"{pool.cluster}/{pool.name}",
        f"{pool.min_nodes} to {pool.max_nodes} x {pool.instance}{zones}{group}",
    )
