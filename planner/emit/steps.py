"""What a plan needs that the program does not do: for a person, in order."""

from __future__ import annotations

from planner.emit.manifests import NODE_CLASS_NAME
from planner.emit.vllm import MODEL_ROOT, model_location
from planner.plan import NodePool, Plan, ProviderDeployment, Purchase, VllmServer


def manual_steps(plan: Plan) -> list[str]:
    """Return the steps before capacity is real, each once, in a stable order."""
    resources = plan.resources
    steps = [
        *(_purchase(item) for item in resources.purchases),
        *(_deployment(item) for item in resources.deployments if item.provider != "azure"),
        *(_pool(item) for item in resources.node_pools),
        *(_server(item) for item in resources.servers),
    ]
    return list(dict.fromkeys(steps))


def _purchase(item: Purchase) -> str:
    term = f"{item.term_months} months" if item.term_months else "no term"
    return (
        f"Sign for {item.units} units of {item.deployment_type} for {item.model} at "
        f"{item.provider} {item.region}, {term} (workload {item.workload})."
    )


def _deployment(item: ProviderDeployment) -> str:
    where = f"{item.provider} account {item.account}, {item.region}"
    if item.kind == "payg":
        return (
            f"Enable {item.model} ({item.deployment_type}) in {where}; pay-as-you-go needs no "
            f"resource (workload {item.workload})."
        )
    return (
        f"Create {item.capacity} units of {item.deployment_type} for {item.model} in {where} "
        f"(workload {item.workload})."
    )


def _pool(item: NodePool) -> str:
    if item.kind == "karpenter":
        return (
            f"Cluster {item.cluster}: Karpenter and its node class {NODE_CLASS_NAME!r} must exist, "
            "with an image that has the GPU driver, and the NVIDIA device plugin."
        )
    return f"Cluster {item.cluster}: the NVIDIA device plugin must run on nodes of its GPU pools."


def _server(item: VllmServer) -> str:
    where = f"Cluster {item.cluster}, namespace {item.namespace}"
    if item.model_claim is None:
        return f"{where}: pods need a way out to the model hub for {item.model}."
    folder = model_location(item).removeprefix(MODEL_ROOT)
    revision = f" at revision {item.model_revision}" if item.model_revision else ""
    return (
        f"{where}: claim {item.model_claim} must hold {item.model}{revision} in its folder "
        f"{folder}, readable by user 2000 and mountable by every replica (ReadOnlyMany or "
        "ReadWriteMany)."
    )
