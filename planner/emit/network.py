"""Who may call a server, and what it may call: everything else is closed.

A NetworkPolicy knows addresses and labels, no host names. Which hosts may be talked to is a
question to the policy (egress of the cluster), and the network's own firewall's to hold.
"""

from __future__ import annotations

from typing import Any

from planner.emit import vllm
from planner.emit.labels import PART_OF, TIER_LABEL
from planner.emit.metadata import Manifest, Provenance, metadata, selector
from planner.features import ClusterSite
from planner.plan import VllmServer

NAMESPACE_LABEL = "kubernetes.io/metadata.name"
GROUP_LABEL = "leaderworkerset.sigs.k8s.io/name"
PICKER_PORT = 9002
_METADATA_SERVICE = "169.254.169.254/32"
"""Where clouds hand out credentials of the node: never a model source."""
_DNS = {
    "to": [{"namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: "kube-system"}}}],
    "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
}


def callers(server: VllmServer, site: ClusterSite) -> list[str]:
    """Return the namespaces that may call ``server``, besides the one that watches it."""
    if server.tier == "batch":
        return list(site.batch_client_namespaces)
    return [site.gateway_namespace] if site.gateway_namespace else []


def picker_name(server: VllmServer) -> str:
    """Return the name of a server's endpoint picker, as its chart gives it."""
    return f"{server.name}-epp"


def network_policy_manifests(
    server: VllmServer, site: ClusterSite, provenance: Provenance, *, grouped: bool
) -> list[Manifest]:
    """Return the policies of a server and, with inference pools, of its endpoint picker.

    Pods of a replica over several nodes (``grouped``) talk on ports that NCCL picks.
    """
    group = {"podSelector": {"matchLabels": {GROUP_LABEL: server.name}}}
    picked = site.features.inference_pool and server.tier == "interactive"
    sources = [_namespace(name) for name in callers(server, site)]
    if site.monitoring_namespace:
        sources.append(_namespace(site.monitoring_namespace))
    if picked:
        sources.append(_pods(_picker_labels(server)))
    ingress: list[dict[str, Any]] = []
    if sources:
        ingress.append({"from": sources, "ports": [_tcp(vllm.PORT)]})
    egress: list[dict[str, Any]] = [_DNS, *_model_source(server)]
    if grouped:
        ingress.append({"from": [group]})
        egress.append({"to": [group]})
    chosen = group["podSelector"] if grouped else {"matchLabels": selector(server)}
    found = [_policy(server, server.name, provenance, chosen, ingress, egress)]
    return [*found, _picker_policy(server, site, provenance)] if picked else found


def _picker_policy(server: VllmServer, site: ClusterSite, provenance: Provenance) -> Manifest:
    """Let a picker be asked by the gateway, watch the cluster's API and measure servers."""
    ingress: list[dict[str, Any]] = []
    if site.gateway_namespace:
        ingress.append({"from": [_namespace(site.gateway_namespace)], "ports": [_tcp(PICKER_PORT)]})
    egress: list[dict[str, Any]] = [
        _DNS,
        {"to": [_pods(selector(server))], "ports": [_tcp(vllm.PORT)]},
        {"ports": [_tcp(443), _tcp(6443)]},
    ]
    chosen = {"matchLabels": _picker_labels(server)}
    found = _policy(server, picker_name(server), provenance, chosen, ingress, egress)
    labels = {**PART_OF, TIER_LABEL: server.tier}
    return {**found, "metadata": {**found["metadata"], "labels": labels}}


def _policy(
    server: VllmServer,
    name: str,
    provenance: Provenance,
    chosen: dict[str, Any],
    ingress: list[dict[str, Any]],
    egress: list[dict[str, Any]],
) -> Manifest:
    spec: dict[str, Any] = {"podSelector": chosen, "policyTypes": ["Ingress", "Egress"]}
    if ingress:
        spec["ingress"] = ingress
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(server, name, provenance),
        "spec": {**spec, "egress": egress},
    }


def _model_source(server: VllmServer) -> list[dict[str, Any]]:
    """Return the way to the weights; claims and images are mounted by the node itself."""
    if not server.from_hub and server.model_url is None:
        return []
    blocks: list[dict[str, Any]] = [{"ipBlock": {"cidr": cidr}} for cidr in server.model_cidrs]
    anywhere = {"ipBlock": {"cidr": "0.0.0.0/0", "except": [_METADATA_SERVICE]}}
    return [{"to": blocks or [anywhere], "ports": [_tcp(443)]}]


def _picker_labels(server: VllmServer) -> dict[str, str]:
    return {"inferencepool": picker_name(server)}


def _namespace(name: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: name}}}


def _pods(labels: dict[str, str]) -> dict[str, Any]:
    return {"podSelector": {"matchLabels": labels}}


def _tcp(port: int) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}
