"""Resources from a plan: the only package of the planner that imports pulumi.

The components for programs of one's own are importable from here, each with its arguments::

    from planner.emit import ServingCluster, ServingClusterArgs, clusters

They are loaded when they are first asked for: reading a plan takes no Pulumi.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.emit.aws import BedrockCapacity, BedrockCapacityArgs
    from planner.emit.azure import AzureDeployments, AzureDeploymentsArgs
    from planner.emit.gcp import VertexProject, VertexProjectArgs
    from planner.emit.grouping import ClusterResources, ServerOnPool, clusters
    from planner.emit.kubernetes import ServingCluster, ServingClusterArgs
    from planner.emit.node_pools import GpuNodePool, GpuNodePoolArgs
    from planner.emit.stack import emit

__all__ = [
    "AzureDeployments",
    "AzureDeploymentsArgs",
    "BedrockCapacity",
    "BedrockCapacityArgs",
    "ClusterResources",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "ServerOnPool",
    "ServingCluster",
    "ServingClusterArgs",
    "VertexProject",
    "VertexProjectArgs",
    "clusters",
    "emit",
]

_HOMES = {
    "AzureDeployments": "azure",
    "AzureDeploymentsArgs": "azure",
    "BedrockCapacity": "aws",
    "BedrockCapacityArgs": "aws",
    "ClusterResources": "grouping",
    "GpuNodePool": "node_pools",
    "GpuNodePoolArgs": "node_pools",
    "ServerOnPool": "grouping",
    "ServingCluster": "kubernetes",
    "ServingClusterArgs": "kubernetes",
    "VertexProject": "gcp",
    "VertexProjectArgs": "gcp",
    "clusters": "grouping",
    "emit": "stack",
}


def __getattr__(name: str) -> Any:
    """Load a component from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
