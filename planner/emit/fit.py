"""Whether a server fits the nodes that it is to run on."""

from __future__ import annotations

from collections.abc import Iterator

from planner import faults
from planner.emit.labels import quantity
from planner.emit.pods import nodes_of
from planner.errors import PlannerError
from planner.features import ClusterSite
from planner.plan import NodePool, VllmServer


def check_fit(server: VllmServer, pool: NodePool, site: ClusterSite | None) -> None:
    """Refuse what could be created but would never run."""
    where = f"server {server.name}"
    if (server.cluster, server.node_pool) != (pool.cluster, pool.name):
        what = (
            f"it runs on pool {server.node_pool} of cluster {server.cluster}, "
            f"not on {pool.name} of {pool.cluster}"
        )
        raise PlannerError(faults.WRONG_NODES.at(where, what))
    for problem in layout_problems(server, pool, site):
        raise PlannerError(faults.SERVER_DOES_NOT_FIT.at(where, problem))
    if server.memory_bytes <= server.shm_bytes:
        what = (
            f"{quantity(server.shm_bytes)} of shared memory count against the memory "
            f"limit of {quantity(server.memory_bytes)}"
        )
        raise PlannerError(faults.SERVER_DOES_NOT_FIT.at(where, what, "Raise the limit above it."))


def layout_problems(server: VllmServer, pool: NodePool, site: ClusterSite | None) -> Iterator[str]:
    """Yield what is wrong with the spread of a replica over GPUs and nodes."""
    tensor, stages = server.tensor_parallel, server.pipeline_parallel
    if server.gpus_per_replica != tensor * stages:
        yield (
            f"{server.gpus_per_replica} GPUs per replica, but tensor x pipeline parallel "
            f"is {tensor} x {stages}"
        )
    if tensor > pool.gpus_per_node:
        yield (
            f"tensor parallel {tensor} does not fit a node of {pool.name}, which has "
            f"{pool.gpus_per_node} GPUs; spread stages over nodes, not layers"
        )
        return
    nodes = nodes_of(server, pool)
    if nodes > 1 and server.gpus_per_replica % nodes:
        yield (
            f"{server.gpus_per_replica} GPUs cannot be shared evenly by {nodes} nodes of "
            f"{pool.name}"
        )
    if nodes > 1 and (site is None or not site.features.lws):
        yield (
            f"a replica needs {server.gpus_per_replica} GPUs and a node of {pool.name} has "
            f"{pool.gpus_per_node}: that takes LeaderWorkerSet on the cluster. Install it and "
            "declare features.lws"
        )
    if server.attention_heads is not None and server.attention_heads % tensor:
        yield f"{server.attention_heads} attention heads are not divisible by {tensor} GPUs"
