"""The servers of one cluster as Pulumi resources.

Always through an explicit provider: an ambient KUBECONFIG never decides which
cluster is touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from planner.emit import vllm
from planner.emit.grouping import ClusterResources
from planner.emit.labels import service_name
from planner.emit.manifests import Manifest
from planner.emit.node_pools import GpuNodePool, GpuNodePoolArgs
from planner.plan import VllmServer

CONFIG_KEY = "kubeconfig-{cluster}"
NO_CLUSTER = json.dumps(
    {"apiVersion": "v1", "kind": "Config", "clusters": [], "contexts": [], "users": []}
)
"""A kubeconfig of no cluster: the provider previews by itself and refuses real operations."""

_KINDS: dict[str, Callable[..., pulumi.CustomResource]] = {
    "Namespace": kubernetes.core.v1.Namespace,
    "Service": kubernetes.core.v1.Service,
    "Deployment": kubernetes.apps.v1.Deployment,
    "PriorityClass": kubernetes.scheduling.v1.PriorityClass,
}


@dataclass(frozen=True)
class ServingClusterArgs:
    """What a cluster runs, and the kubeconfig of it; None previews without a cluster."""

    resources: ClusterResources
    kubeconfig: pulumi.Input[str] | None


class ServingCluster(pulumi.ComponentResource):
    """Node pools, namespaces, priority classes, Deployments and Services of one cluster."""

    provider: kubernetes.Provider
    namespaces: dict[str, pulumi.CustomResource]
    priority_classes: dict[str, pulumi.CustomResource]
    node_pools: dict[str, GpuNodePool]
    deployments: dict[str, pulumi.CustomResource]
    services: dict[str, pulumi.CustomResource]

    def __init__(
        self, name: str, args: ServingClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("llm-capacity:kubernetes:ServingCluster", name, None, opts)
        resources = args.resources
        self.provider = self._explicit_provider(name, args)
        self.namespaces = {
            manifest["metadata"]["name"]: self._register(
                f"{name}-namespace-{manifest['metadata']['name']}", manifest
            )
            for manifest in resources.namespaces()
        }
        self.priority_classes = {
            manifest["metadata"]["name"]: self._register(
                f"{name}-{manifest['metadata']['name']}", manifest
            )
            for manifest in resources.priority_classes()
        }
        self.node_pools = {
            pool.name: GpuNodePool(
                f"{name}-pool-{pool.name}",
                GpuNodePoolArgs(pool, resources.load_seconds(pool), self.provider),
                pulumi.ResourceOptions(parent=self),
            )
            for pool in resources.pools
        }
        self.deployments, self.services = {}, {}
        for placed in resources.servers:
            server = placed.server
            deployment, service = placed.manifests()
            role = f"{name}-{server.name}"
            needed: list[pulumi.Resource] = [
                self.namespaces[server.namespace],
                *self.priority_classes.values(),
                self.node_pools[server.node_pool],
            ]
            self.services[server.name] = self._register(
                f"{role}-service", service, [self.namespaces[server.namespace]]
            )
            self.deployments[server.name] = self._register(
                f"{role}-deployment", deployment, needed, _timeouts(server)
            )
        self.register_outputs({"endpoints": endpoints(resources)})

    def _explicit_provider(self, name: str, args: ServingClusterArgs) -> kubernetes.Provider:
        kubeconfig = args.kubeconfig
        if kubeconfig is None:
            cluster = args.resources.cluster
            if not pulumi.runtime.is_dry_run():
                raise missing_kubeconfigs([cluster])
            pulumi.log.info(
                f"cluster {cluster} was not contacted: no kubeconfig in "
                f"llm-capacity:{CONFIG_KEY.format(cluster=cluster)}",
                self,
            )
        return kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=NO_CLUSTER if kubeconfig is None else _secret(kubeconfig),
            cluster_identifier=args.resources.cluster,
            delete_unreachable=False,
            skip_update_unreachable=False,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _register(
        self,
        name: str,
        manifest: Manifest,
        depends_on: Sequence[pulumi.Resource] = (),
        timeouts: pulumi.CustomTimeouts | None = None,
    ) -> pulumi.CustomResource:
        options = pulumi.ResourceOptions(
            parent=self,
            provider=self.provider,
            depends_on=list(depends_on),
            custom_timeouts=timeouts,
        )
        return _KINDS[manifest["kind"]](name, opts=options, **arguments(manifest))


def _secret(kubeconfig: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the kubeconfig as a secret; with a blank one the provider takes the ambient one."""

    def checked(text: str) -> str:
        if not text.strip():
            raise pulumi.RunError(
                "a kubeconfig in the stack's configuration is blank: set it again"
            )
        return text

    return pulumi.Output.secret(kubeconfig).apply(checked)


def missing_kubeconfigs(names: Sequence[str]) -> pulumi.RunError:
    """Return the error of a real run against clusters whose kubeconfig is not set."""
    commands = "\n".join(
        "  pulumi config set --secret llm-capacity:"
        f"{CONFIG_KEY.format(cluster=name)} < KUBECONFIG_FILE"
        for name in names
    )
    return pulumi.RunError(
        f"no kubeconfig for {', '.join(names)}: nothing was changed. Set it:\n{commands}"
    )


def arguments(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest's top-level fields as the typed resource's arguments."""
    return {
        re.sub(r"(?<!^)([A-Z])", r"_\1", key).lower(): value
        for key, value in manifest.items()
        if key not in ("apiVersion", "kind")
    }


def endpoints(resources: ClusterResources) -> dict[str, str]:
    """Return each server's address inside the cluster."""
    servers = [placed.server for placed in resources.servers]
    return {
        server.name: f"http://{service_name(server.name)}.{server.namespace}.svc:{vllm.PORT}"
        for server in servers
    }


def _timeouts(server: VllmServer) -> pulumi.CustomTimeouts:
    """Return how long to wait: pods start together, but are replaced one after another."""
    once = vllm.progress_deadline_seconds(server)
    return pulumi.CustomTimeouts(
        create=f"{once}s",
        update=f"{once * max(server.replicas, 1)}s",
        delete=f"{vllm.grace_seconds(server) + 300}s",
    )
