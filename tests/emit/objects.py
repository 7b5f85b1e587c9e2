"""Servers on clusters that declare everything, and their objects by kind."""

from __future__ import annotations

from typing import Any

from planner.emit.grouping import clusters
from planner.features import ClusterSite, Features, Gateway, Keda, Scaling
from planner.plan import NodePool, Plan, VllmServer
from tests.emit.conftest import A100, CHAT, DIGEST, H100, with_resources

KEDA = Keda(prometheus="http://prometheus.monitoring.svc:9090")
EVERYTHING = Features(
    keda=KEDA,
    pod_monitor=True,
    kueue=True,
    gateway=Gateway(name="inference", namespace="gateways"),
    inference_pool=True,
    lws=True,
)


def site(name: str, features: Features = EVERYTHING, **changes: Any) -> ClusterSite:
    return ClusterSite(
        name=name,
        features=features,
        **{
            "gateway_namespace": "gateways",
            "monitoring_namespace": "monitoring",
            "batch_client_namespaces": ("jobs",),
            **changes,
        },
    )


def with_servers(plan: Plan, *servers: VllmServer, pools: tuple[NodePool, ...] = ()) -> Plan:
    """Return the plan with these servers, on clusters that have everything."""
    return with_resources(
        plan,
        servers=servers,
        node_pools=pools or (H100, A100),
        sites=(site(H100.cluster), site(A100.cluster)),
    )


def scaled(server: VllmServer, least: int, most: int) -> VllmServer:
    scaling = Scaling(min_replicas=least, max_replicas=most)
    return server.model_copy(update={"scaling": scaling})


def objects(plan: Plan) -> list[dict[str, Any]]:
    return [manifest for cluster in clusters(plan) for manifest in cluster.objects()]


def one(plan: Plan, kind: str, name: str) -> dict[str, Any]:
    (found,) = [
        item for item in objects(plan) if item["kind"] == kind and item["metadata"]["name"] == name
    ]
    return found


def full(plan: Plan) -> Plan:
    """Return a plan whose interactive server scales, and whose batch server is queued."""
    return with_servers(plan, scaled(CHAT, 2, 4), DIGEST)
