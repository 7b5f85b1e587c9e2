"""A plan's objects on the cluster without Pulumi, with the nodes of its pools, for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from planner.emit.grouping import ClusterResources, clusters
from planner.plan import NodePool, Plan
from tests.cluster.api import Api, Object, ready, remove, until
from tests.cluster.machines import ClaimKeeper, claims, create_nodes, nodes_of

# Karpenter does not run here: its pools' nodes are made by hand.
NOT_HERE = {"NodePool"}


@dataclass
class Deployed:
    """One cluster's part of a plan, applied and running."""

    api: Api
    plan: Plan
    resources: ClusterResources

    def server(self, name: str) -> tuple[Object, NodePool]:
        """A server's Deployment as it is now, and its pool."""
        placed = next(item for item in self.resources.servers if item.server.name == name)
        found = self.api.get("apps/v1", "Deployment", name, placed.server.namespace)
        return {"apiVersion": "apps/v1", "kind": "Deployment", **found}, placed.pool

    def pods(self, name: str) -> list[Object]:
        """A server's pods that stay."""
        selector = f"app.kubernetes.io/instance={name}"
        pods = self.api.list("v1", "Pod", labelSelector=selector)
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def ready(self, name: str) -> int:
        return sum(ready(pod) for pod in self.pods(name))

    def scale(self, name: str, replicas: int) -> None:
        """Run that many replicas and wait for them to be Ready on their own."""
        deployment, _ = self.server(name)
        self.api.patch(deployment, {"spec": {"replicas": replicas}})
        until(f"{name} runs {replicas}", lambda: self.runs(name, replicas))

    def runs(self, name: str, replicas: int) -> bool:
        return len(self.pods(name)) == self.ready(name) == replicas

    def node(self, pod: Object) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "Node",
            **self.api.get("v1", "Node", pod["spec"]["nodeName"]),
        }

    def lose(self, node: Object) -> None:
        """A machine is gone, and the cloud has said so: its Node is deleted, and then its pods.

        Without that word Kubernetes waits 40 s + 300 s before it moves pods.
        """
        self.api.delete(node)
        for pod in self.api.list("v1", "Pod"):
            if pod["spec"].get("nodeName") == node["metadata"]["name"]:
                self.api.delete(pod, at_once=True)

    def replace(self, node: Object) -> None:
        """The pool brings a machine like the one that was lost."""
        labels = node["metadata"]["labels"]
        taints = [
            item for item in node["spec"].get("taints", []) if "node.kuber" not in item["key"]
        ]
        self.api.create(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node["metadata"]["name"], "labels": labels},
                "spec": {"taints": taints},
                "status": {key: node["status"][key] for key in ("allocatable", "capacity")},
            }
        )

    def evict(self, name: str, pod: Object) -> None:
        """Evict a pod of a server as soon as its budget, which is counted now and then, lets it."""
        space = pod["metadata"]["namespace"]

        def allowed() -> bool:
            budget = self.api.get("policy/v1", "PodDisruptionBudget", name, space)
            return bool(budget.get("status", {}).get("disruptionsAllowed"))

        until(f"the budget of {name} allows an eviction", allowed)
        self.api.evict(pod)

    def cordon(self, node: Object, closed: bool = True) -> None:
        self.api.patch(node, {"spec": {"unschedulable": closed}})


@contextmanager
def deployed(api: Api, plan: Plan) -> Iterator[Deployed]:
    """Apply the one cluster of a plan and wait until its servers are Ready; then remove all."""
    (resources,) = clusters(plan)
    nodes = [item for pool in resources.pools for item in nodes_of(pool)]
    objects = [item for item in resources.objects() if item["kind"] not in NOT_HERE]
    with ClaimKeeper(api, claims(plan, resources.cluster)):
        try:
            create_nodes(api, nodes)
            for item in objects:
                api.apply(item)
            found = Deployed(api, plan, resources)
            for placed in resources.servers:
                server = placed.server
                until(f"{server.name} is Ready", lambda s=server: found.runs(s.name, s.replicas))
            yield found
        finally:
            # A pod on a node that is gone is nobody's to end.
            remove(api, reversed(objects))
            remove(api, nodes)
