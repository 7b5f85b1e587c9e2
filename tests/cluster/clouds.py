"""Clouds that say yes: what `up` asks of azure-native, aws and gcp, answered by a stand-in.

Everything is accepted and remembered, nothing is made, except that an agent pool or node group
brings its nodes to the test cluster, with the labels and taints that were asked for.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from planner.toolchain.ports import attachment
from planner.toolchain.preview_provider.check import plain
from planner.toolchain.preview_provider.sdk import SDKS, Sdk
from planner.toolchain.preview_provider.server import HOST, UNLIMITED, PreviewProvider
from tests.cluster.api import Api, Object
from tests.cluster.machines import create_nodes, node


@dataclass
class Clouds:
    """What the clouds hold now: inputs by type and id. `regions` is by cluster."""

    api: Api
    regions: Mapping[str, str]
    held: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    nodes: dict[tuple[str, str], list[Object]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    attachment: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ids: Iterator[int] = field(default_factory=itertools.count)

    def create(self, token: str, inputs: dict[str, Any]) -> str:
        """Hold what was asked for; a node pool's nodes come."""
        with self._lock:
            name = f"id-{next(self._ids)}"
            self.calls.append(("create", token))
            self.held[(token, name)] = inputs
        bring = NODES.get(token)
        if bring is not None:
            made = bring(inputs, self.regions)
            create_nodes(self.api, made)
            self.nodes[(token, name)] = made
        return name

    def update(self, token: str, name: str, inputs: dict[str, Any]) -> None:
        with self._lock:
            self.calls.append(("update", token))
            self.held[(token, name)] = inputs

    def delete(self, token: str, name: str) -> None:
        with self._lock:
            self.calls.append(("delete", token))
            self.held.pop((token, name), None)
        for item in self.nodes.pop((token, name), []):
            self.api.delete(item)


def _agent_pool(inputs: Mapping[str, Any], regions: Mapping[str, str]) -> list[Object]:
    """Nodes of an AKS agent pool, as many as its autoscaler may add."""
    zones = inputs.get("availabilityZones") or [""]
    count = int(inputs.get("maxCount") or inputs["count"])
    name, cluster = inputs["agentPoolName"], inputs["resourceName"]
    labels = {**inputs.get("nodeLabels", {}), "kubernetes.azure.com/agentpool": name}
    return [
        node(
            f"aks-{name}-{number}",
            "azure",
            inputs["vmSize"],
            regions[cluster],
            zones[number % len(zones)],
            labels,
            [_taint(text) for text in inputs.get("nodeTaints", [])],
        )
        for number in range(count)
    ]


def _taint(text: str) -> dict[str, str]:
    """An AKS taint: KEY=VALUE:EFFECT."""
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


NODES: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str]], list[Object]]] = {
    "azure-native:containerservice:AgentPool": _agent_pool
}


class Yes(PreviewProvider):
    """Checks as the preview-only provider does, and takes real operations too."""

    def __init__(self, sdk: Sdk, clouds: Clouds) -> None:
        super().__init__(sdk)
        self._clouds = clouds

    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:
        if request.preview:
            return super().Create(request, context)
        name = self._clouds.create(_token(request.urn), _values(request.properties))
        return provider_pb2.CreateResponse(id=name, properties=request.properties)

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:
        if not request.preview:
            self._clouds.update(_token(request.urn), request.id, _values(request.news))
        return provider_pb2.UpdateResponse(properties=request.news)

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._clouds.delete(_token(request.urn), request.id)
        return empty_pb2.Empty()


@contextmanager
def clouds(api: Api, regions: Mapping[str, str]) -> Iterator[Clouds]:
    """Serve all three; `attachment` is the value of PULUMI_DEBUG_PROVIDERS."""
    answering = Clouds(api, regions)
    servers, ports = [], {}
    for sdk in SDKS.values():
        server = grpc.server(ThreadPoolExecutor(max_workers=4), options=UNLIMITED)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(Yes(sdk, answering), server)
        ports[sdk.package] = server.add_insecure_port(f"{HOST}:0")
        server.start()
        servers.append(server)
    answering.attachment = attachment(ports)
    try:
        yield answering
    finally:
        for server in servers:
            server.stop(None).wait()


def _token(urn: str) -> str:
    return urn.split("::")[2].split("$")[-1]


def _values(properties: struct_pb2.Struct) -> dict[str, Any]:
    """Inputs as data, out of the envelopes of the wire."""
    found: dict[str, Any] = json_format.MessageToDict(properties)
    return {name: plain(value) for name, value in found.items()}
