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

from planner import faults
from planner.emit import vllm
from planner.emit.grouping import ClusterResources, ServerOnPool
from planner.emit.labels import service_name
from planner.emit.manifests import Manifest
from planner.emit.node_pools import GpuNodePool, GpuNodePoolArgs
from planner.emit.settling import in_force
from planner.plan import VllmServer

CONFIG_KEY = "kubeconfig-{cluster}"
NO_CLUSTER = json.dumps(
    {"apiVersion": "v1", "kind": "Config", "clusters": [], "contexts": [], "users": []}
)
"""A kubeconfig of no cluster: the provider previews by itself and refuses real operations."""

_KINDS: dict[str, Callable[..., pulumi.CustomResource]] = {
    "Deployment": kubernetes.apps.v1.Deployment,
    "Namespace": kubernetes.core.v1.Namespace,
    "NetworkPolicy": kubernetes.networking.v1.NetworkPolicy,
    "PodDisruptionBudget": kubernetes.policy.v1.PodDisruptionBudget,
    "PriorityClass": kubernetes.scheduling.v1.PriorityClass,
    "ResourceQuota": kubernetes.core.v1.ResourceQuota,
    "Service": kubernetes.core.v1.Service,
    "ServiceAccount": kubernetes.core.v1.ServiceAccount,
    "ValidatingAdmissionPolicy": kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy,
    "ValidatingAdmissionPolicyBinding": (
        kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding
    ),
}
"""Kinds of Kubernetes itself; all others are custom resources, written out field by field."""

_BEFORE_PODS = frozenset({"NetworkPolicy", "ServiceAccount"})
_NEEDS_PODS = frozenset({"HTTPRoute", "InferencePool", "ScaledObject"})


@dataclass(frozen=True)
class ServingClusterArgs:
    """What a cluster runs, and how to reach it.

    Attributes:
        resources: the plan's part on this cluster, from :func:`planner.emit.grouping.clusters`.
        kubeconfig: the cluster's; None previews without a cluster, and refuses to change one.
    """

    resources: ClusterResources
    kubeconfig: pulumi.Input[str] | None


class ServingCluster(pulumi.ComponentResource):
    """Node pools, tenancy, queues and servers of one cluster.

    ``namespaces`` and ``priority_classes`` are keyed by name, ``shared`` (guards, quotas,
    policies, queues) by kind and name, ``workloads`` (a Deployment or a LeaderWorkerSet each)
    and ``services`` by server.
    """

    provider: kubernetes.Provider
    namespaces: dict[str, pulumi.CustomResource]
    priority_classes: dict[str, pulumi.CustomResource]
    shared: dict[str, pulumi.CustomResource]
    node_pools: dict[str, GpuNodePool]
    workloads: dict[str, pulumi.CustomResource]
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
        self.shared = {}
        for manifest in (*resources.guards, *resources.tenancy(), *resources.queues()):
            label = _label(manifest)
            self.shared[label] = self._register(
                f"{name}-{label}",
                manifest,
                [*self._home(manifest), *self.priority_classes.values()],
            )
        guards = [self.shared[_label(manifest)] for manifest in resources.guards]
        self._in_force = [in_force(guard) for guard in guards]
        self.node_pools = {
            pool.name: GpuNodePool(
                f"{name}-pool-{pool.name}",
                GpuNodePoolArgs(pool, resources.load_seconds(pool), self.provider),
                pulumi.ResourceOptions(parent=self),
            )
            for pool in resources.pools
        }
        self.workloads, self.services = {}, {}
        for placed in resources.servers:
            self._server(name, placed)
        self.register_outputs({"endpoints": endpoints(resources)})

    def _server(self, name: str, placed: ServerOnPool) -> None:
        """Register a server: what its pods need, the pods, and what needs them."""
        server, timeouts = placed.server, _timeouts(placed.server)
        workload, service, *others = placed.manifests()
        home, role = self._home(workload), f"{name}-{server.name}"

        def registered(manifest: Manifest, needed: Sequence[pulumi.Resource]) -> pulumi.Resource:
            kind, own = manifest["kind"].lower(), manifest["metadata"]["name"]
            return self._register(f"{name}-{own}-{kind}", manifest, needed)

        first = [registered(item, home) for item in others if item["kind"] in _BEFORE_PODS]
        # A Service is ready when its pods are.
        self.services[server.name] = self._register(f"{role}-service", service, home, timeouts)
        needed: list[pulumi.Input[pulumi.Resource]] = [
            *home,
            *self.priority_classes.values(),
            *self.shared.values(),
            *self._in_force,
            self.node_pools[server.node_pool],
            *first,
        ]
        self.workloads[server.name] = self._register(
            f"{role}-{workload['kind'].lower()}", workload, needed, timeouts
        )
        for item in others:
            if item["kind"] not in _BEFORE_PODS:
                pods = [self.workloads[server.name]] if item["kind"] in _NEEDS_PODS else []
                registered(item, [*home, *pods])

    def _home(self, manifest: Manifest) -> list[pulumi.Resource]:
        """Return the Namespace of an object, nothing for one of the whole cluster."""
        namespace = manifest["metadata"].get("namespace")
        return [self.namespaces[namespace]] if namespace else []

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
        depends_on: Sequence[pulumi.Input[pulumi.Resource]] = (),
        timeouts: pulumi.CustomTimeouts | None = None,
    ) -> pulumi.CustomResource:
        options = pulumi.ResourceOptions(
            parent=self,
            provider=self.provider,
            depends_on=list(depends_on),
            custom_timeouts=timeouts,
        )
        typed = _KINDS.get(manifest["kind"])
        if typed is not None:
            return typed(name, opts=options, **arguments(manifest))
        # The SDK's class for custom resources knows no fields but metadata and spec.
        token = f"kubernetes:{manifest['apiVersion']}:{manifest['kind']}"
        return pulumi.CustomResource(token, name, dict(manifest), options)


def _label(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    parts = (manifest["kind"].lower(), metadata.get("namespace"), metadata["name"])
    return "-".join(part for part in parts if part)


def _secret(kubeconfig: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the kubeconfig as a secret; with a blank one the provider takes the ambient one."""

    def checked(text: str) -> str:
        if not text.strip():
            what = "a kubeconfig in the stack's configuration is blank"
            problem = faults.NO_KUBECONFIG.at("stack configuration", what, "Set it again.")
            raise pulumi.RunError(str(problem))
        return text

    return pulumi.Output.secret(kubeconfig).apply(checked)


def missing_kubeconfigs(names: Sequence[str]) -> pulumi.RunError:
    """Return the error of a real run against clusters whose kubeconfig is not set."""
    commands = "\n".join(
        "  pulumi config set --secret llm-capacity:"
        f"{CONFIG_KEY.format(cluster=name)} < KUBECONFIG_FILE"
        for name in names
    )
    what = f"no kubeconfig for {', '.join(names)}: nothing was changed"
    problem = faults.NO_KUBECONFIG.at("stack configuration", what)
    return pulumi.RunError(f"{problem}\n{commands}")


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
        update=f"{once * max(server.most_replicas, 1)}s",
        delete=f"{vllm.grace_seconds(server) + 300}s",
    )
