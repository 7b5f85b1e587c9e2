"""How callers reach an interactive server: an InferencePool, and a route of the Gateway."""

from __future__ import annotations

from typing import Any

from planner.emit import vllm
from planner.emit.labels import service_name
from planner.emit.metadata import Manifest, Provenance, metadata, selector
from planner.emit.network import PICKER_PORT, picker_name
from planner.features import Gateway
from planner.plan import VllmServer

INFERENCE_GROUP = "inference.networking.k8s.io"
CLIENT_HEADERS = ("x-gateway-inference-objective", "x-gateway-inference-fairness-id")
"""With these a caller could put itself before others: they end at the gateway."""
ROUTE_MARGIN_SECONDS = 30
"""What a request may wait before its first token, on top of its longest answer."""


def inference_pool_manifest(server: VllmServer, provenance: Provenance) -> Manifest:
    """Return the pool of a server's pods, and the picker that chooses among them.

    Without its picker a request may go to any of them: it is a matter of speed alone.
    """
    return {
        "apiVersion": f"{INFERENCE_GROUP}/v1",
        "kind": "InferencePool",
        "metadata": metadata(server, server.name, provenance),
        "spec": {
            "selector": {"matchLabels": selector(server)},
            "targetPorts": [{"number": vllm.PORT}],
            "endpointPickerRef": {
                "name": picker_name(server),
                "port": {"number": PICKER_PORT},
                "failureMode": "FailOpen",
            },
        },
    }


def route_manifest(
    server: VllmServer, gateway: Gateway, provenance: Provenance, *, pooled: bool
) -> Manifest:
    """Return the route to a server: /SERVER/v1 of the gateway, and no other path of vLLM."""
    backend: dict[str, Any] = {"name": service_name(server.name), "port": vllm.PORT}
    if pooled:
        backend = {"group": INFERENCE_GROUP, "kind": "InferencePool", "name": server.name}
    prefix = f"/{server.name}/v1"
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": metadata(server, server.name, provenance),
        "spec": {
            "parentRefs": [{"name": gateway.name, "namespace": gateway.namespace}],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": prefix}}],
                    "filters": [
                        {
                            "type": "URLRewrite",
                            "urlRewrite": {
                                "path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/v1"}
                            },
                        },
                        {
                            "type": "RequestHeaderModifier",
                            "requestHeaderModifier": {"remove": list(CLIENT_HEADERS)},
                        },
                    ],
                    "backendRefs": [backend],
                    "timeouts": {"request": f"{server.drain_seconds + ROUTE_MARGIN_SECONDS}s"},
                }
            ],
        },
    }
