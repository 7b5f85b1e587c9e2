"""What a plan needs that the program does not do: for a person, in order."""

from __future__ import annotations

from planner.emit.karpenter import NODE_CLASS_NAME
from planner.emit.labels import quantity
from planner.emit.pods import ephemeral_bytes
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
    if item.kind == "gke_node_pool":
        return f"Cluster {item.cluster}: GKE itself runs the GPU driver and the device plugin."
    text = f"Cluster {item.cluster}: the NVIDIA device plugin must run on nodes of its GPU pools."
    if item.kind == "eks_node_group":
        text += (
            " The node role must be able to pull images and join the cluster, and each subnet "
            f"lie in {item.region} and in one of the zones meant: they alone settle the zones."
        )
    return text


def _server(item: VllmServer) -> str:
    where = f"Cluster {item.cluster}, namespace {item.namespace}"
    named = [held for held in (item.hf_token_secret, item.api_key_secret) if held is not None]
    held = [f"Secret {secret.name} must have the key {secret.key}" for secret in named]
    held += [f"Secret {name} must be there to pull images" for name in item.image_pull_secrets]
    held.append(f"a node's disk must have {quantity(ephemeral_bytes(item))} for each pod")
    return f"{where}: " + "; ".join([_weights(item), *held]) + "."


def _weights(item: VllmServer) -> str:
    if item.from_hub:
        return f"pods need a way out to the model hub for {item.model}"
    if item.model_image is not None:
        return f"nodes must mount image volumes and be able to pull {item.model_image}"
    if item.model_url is not None:
        return (
            f"{model_location(item)} must hold {item.model}, readable by the ServiceAccount "
            f"{item.name}, and the image must have the streamer (vllm[runai])"
        )
    folder = model_location(item).removeprefix(MODEL_ROOT)
    revision = f" at revision {item.model_revision}" if item.model_revision else ""
    return (
        f"claim {item.model_claim} must hold {item.model}{revision} in its folder "
        f"{folder}, readable by user 2000 and mountable by every replica (ReadOnlyMany or "
        "ReadWriteMany)"
    )
