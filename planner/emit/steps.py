"""What a plan needs that the program does not do: for a person, in order."""

from __future__ import annotations

from planner.emit.manifests import NODE_CLASS_NAME
from planner.emit.vllm import MODEL_ROOT, model_location
from planner.plan import NodePool, Plan, VllmServer


def manual_steps(plan: Plan) -> list[str]:
    """Return the steps before capacity is real, each once: quota, capacity, deploy, reserve.

    Those of clusters stand with the deployment, before what is bought for good.
    """
    resources = plan.resources
    person = [step for step in resources.steps if step.by == "person"]
    steps = [
        *(step.text for step in person if step.phase != "reserve"),
        *(_pool(item) for item in resources.node_pools),
        *(_server(item) for item in resources.servers),
        *(step.text for step in person if step.phase == "reserve"),
    ]
    return list(dict.fromkeys(steps))


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
