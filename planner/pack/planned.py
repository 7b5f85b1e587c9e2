"""What the plan wants registered, as rows to compare with what is.

Cloud resources are written out here once more, apart from the code that emits them, so
that an edit of that code alone is seen. Kubernetes objects are taken from their manifests,
and the values that carry capacity are then set from the plan itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.bedrock import COMMITMENTS
from planner.emit import vllm
from planner.emit.deployments import cost_tags
from planner.emit.grouping import ClusterResources, ServerOnPool, clusters
from planner.emit.labels import (
    GPU_RESOURCE,
    POOL_LABEL,
    TIER_LABEL,
    WORKLOAD_LABEL,
)
from planner.emit.manifests import Manifest, karpenter_manifests
from planner.pack.planned_pools import managed_pool
from planner.plan import Plan, ProviderAccount, ProviderDeployment
from planner.policy.resources import PlannedRow, RawResource, planned_row
from planner.vertex import API

_OVERFLOW_METRIC = "aiplatform.googleapis.com/publisher/online_serving/consumed_token_throughput"
_OVERFLOW_RESOURCE = "aiplatform.googleapis.com/PublisherModel"
_UPGRADES = {"provisioned": "NoAutoUpgrade", "payg": "OnceCurrentVersionExpired"}


def planned_rows(plan: Plan) -> tuple[PlannedRow, ...]:
    """Return a row for every resource that ``plan`` would have registered.

    Raises PlannerError for a plan that cannot be emitted.
    """
    scopes = _scopes(plan)
    rows: list[PlannedRow] = []
    declared = {account.name: account for account in plan.resources.accounts}
    rows += [_azure_account(account) for account in declared.values() if account.create]
    for item in plan.resources.deployments:
        if item.provider == "azure":
            rows.append(_azure(item, scopes))
        elif item.provider == "aws" and item.model_arn is not None:
            rows.append(_aws(item, scopes))
    for account in declared.values():
        if account.provider == "gcp":
            rows += _gcp(account, plan.resources.deployments, scopes)
    for cluster in clusters(plan):
        rows += _cluster(cluster, scopes)
    return tuple(sorted(rows, key=lambda row: (row.type, row.identity)))


def _scopes(plan: Plan) -> dict[str, dict[str, str]]:
    """Return what a waiver may name of each workload's chosen option."""
    names = ("kind", "model", "provider", "region", "deployment_type")
    return {
        decision.workload: {name: getattr(decision.chosen.option, name) for name in names}
        for decision in plan.decisions
        if decision.chosen is not None
    }


def _row(
    kind: str,
    name: str,
    properties: Mapping[str, Any],
    workload: str | None,
    scopes: Mapping[str, Mapping[str, str]],
    *,
    provider: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    free: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
) -> PlannedRow:
    raw = RawResource(urn="", type=kind, name=name, properties=properties, provider=provider)
    scope = scopes.get(workload or "")
    return planned_row(
        raw, workload=workload, changes=changes, free=free, optional=optional, scope=scope
    )


def _azure_account(account: ProviderAccount) -> PlannedRow:
    properties = {
        "resourceGroupName": account.resource_group,
        "accountName": account.name,
        "location": account.region,
        "kind": "AIServices",
        "sku": {"name": "S0"},
        "identity": {"type": "SystemAssigned"},
        "properties": {"customSubDomainName": account.name, "disableLocalAuth": True},
    }
    return _row("azure-native:cognitiveservices:Account", account.name, properties, None, {})


def _azure(item: ProviderDeployment, scopes: Mapping[str, Mapping[str, str]]) -> PlannedRow:
    properties = {
        "resourceGroupName": item.resource_group,
        "accountName": item.account,
        "deploymentName": item.name,
        "properties": {
            "model": {
                "format": item.model_format or "OpenAI",
                "name": item.model_id or item.model,
                "version": item.model_version,
            },
            "versionUpgradeOption": _UPGRADES[item.kind],
            "spilloverDeploymentName": item.spillover_to,
        },
        "sku": {"name": item.deployment_type, "capacity": item.capacity},
        "tags": cost_tags(item),
    }
    kind = "azure-native:cognitiveservices:Deployment"
    return _row(kind, item.name, properties, item.workload, scopes)


def _aws(item: ProviderDeployment, scopes: Mapping[str, Mapping[str, str]]) -> PlannedRow:
    # The provider repeats the tags on what it makes, or leaves them out.
    free = tuple(f"tagsAll.{name}" for name in cost_tags(item))
    provider = {"region": item.region}
    if item.kind == "provisioned":
        return _row(
            "aws:bedrock/provisionedModelThroughput:ProvisionedModelThroughput",
            item.name,
            {
                "provisionedModelName": item.name,
                "modelArn": item.model_arn,
                "modelUnits": item.capacity,
                "commitmentDuration": COMMITMENTS[item.term_months],
                "tags": cost_tags(item),
            },
            item.workload,
            scopes,
            provider=provider,
            free=free,
        )
    return _row(
        "aws:bedrock/inferenceProfile:InferenceProfile",
        item.name,
        {
            "name": item.name,
            "description": f"{item.workload} {item.tier}",
            "modelSource": {"copyFrom": item.model_arn},
            "tags": cost_tags(item),
        },
        item.workload,
        scopes,
        provider=provider,
        free=free,
    )


def _gcp(
    account: ProviderAccount,
    deployments: tuple[ProviderDeployment, ...],
    scopes: Mapping[str, Mapping[str, str]],
) -> Iterator[PlannedRow]:
    project = account.account_id or account.name
    service = {"project": project, "service": API, "disableOnDestroy": False}
    yield _row("gcp:projects/service:Service", f"{account.name}-api", service, None, {})
    for item in deployments:
        ours = item.account == account.name and item.kind == "provisioned"
        if not ours or item.spillover_to is not None:
            continue
        model = item.model_id or item.model
        title = f"{item.workload}: requests for {model} left the provisioned order"
        kept = "conditions[0].conditionThreshold"
        yield _row(
            "gcp:monitoring/alertPolicy:AlertPolicy",
            f"{account.name}-{item.name}-overflow",
            {
                "project": project,
                "displayName": title,
                "combiner": "OR",
                "conditions": [
                    {
                        "displayName": title,
                        "conditionThreshold": {
                            "filter": (
                                f'metric.type = "{_OVERFLOW_METRIC}" AND '
                                f'resource.type = "{_OVERFLOW_RESOURCE}" AND '
                                f'resource.labels.model_user_id = "{model}" AND '
                                'metric.labels.request_type = "spillover"'
                            ),
                            "comparison": "COMPARISON_GT",
                            "thresholdValue": 0,
                            "duration": "0s",
                            "aggregations": [
                                {"alignmentPeriod": "60s", "perSeriesAligner": "ALIGN_DELTA"}
                            ],
                        },
                    }
                ],
                "userLabels": {k: v for k, v in cost_tags(item).items() if k != "owner"},
            },
            item.workload,
            scopes,
            # What to do is for people to read and to improve.
            free=("documentation.content", "documentation.mimeType", f"{kept}.trigger.count"),
        )


def _cluster(
    cluster: ClusterResources, scopes: Mapping[str, Mapping[str, str]]
) -> Iterator[PlannedRow]:
    for manifest in cluster.shared():
        yield _object(cluster.cluster, manifest, None, scopes)
    for pool in cluster.pools:
        if pool.kind != "karpenter":
            yield managed_pool(pool)
            continue
        for manifest in karpenter_manifests(pool, cluster.load_seconds(pool)):
            limit = str(pool.max_nodes * pool.gpus_per_node)
            changes = {f"spec.limits.{GPU_RESOURCE}": limit}
            yield _object(cluster.cluster, manifest, None, scopes, changes)
    for placed in cluster.servers:
        for manifest in placed.manifests():
            changes = _planned(placed, manifest["kind"])
            yield _object(cluster.cluster, manifest, placed.server.workload, scopes, changes)


def _object(
    cluster: str,
    manifest: Manifest,
    workload: str | None,
    scopes: Mapping[str, Mapping[str, str]],
    changes: Mapping[str, Any] | None = None,
) -> PlannedRow:
    version = manifest["apiVersion"]
    group = version if "/" in version else f"core/{version}"
    kind = f"kubernetes:{group}:{manifest['kind']}"
    provider = {"clusterIdentifier": cluster}
    name = manifest["metadata"]["name"]
    # Left out by the provider: false is what a priority class has by itself.
    optional = ("globalDefault",) if manifest["kind"] == "PriorityClass" else ()
    more: Any = {"provider": provider, "changes": changes, "optional": optional}
    return _row(kind, name, manifest, workload, scopes, **more)


def _planned(placed: ServerOnPool, kind: str) -> dict[str, Any]:
    """Return the fields of an object that capacity rests on, as the plan itself has them."""
    server, scaling = placed.server, placed.server.scaling
    if kind == "ScaledObject" and scaling is not None:
        return {
            "spec.minReplicaCount": scaling.min_replicas,
            "spec.maxReplicaCount": scaling.max_replicas,
        }
    replicas = {} if scaling else {"spec.replicas": server.replicas}
    if kind == "Deployment":
        return replicas | _capacity(placed, "spec.template")
    if kind == "LeaderWorkerSet":
        group = "spec.leaderWorkerTemplate"
        return {
            **replicas,
            f"{group}.size": placed.nodes,
            **_capacity(placed, f"{group}.leaderTemplate"),
            **_capacity(placed, f"{group}.workerTemplate"),
        }
    return {}


def _capacity(placed: ServerOnPool, template: str) -> dict[str, Any]:
    """Return the fields of a server's pods that capacity and residency rest on."""
    server, container = placed.server, f"{template}.spec.containers[vllm]"
    flags = {
        "--served-model-name": server.model,
        "--tensor-parallel-size": server.tensor_parallel,
        "--max-model-len": server.max_model_len,
        "--max-num-seqs": server.max_num_seqs,
        "--max-num-batched-tokens": server.max_num_batched_tokens,
        "--gpu-memory-utilization": server.gpu_memory_utilization,
        "--dtype": server.dtype,
        "--kv-cache-dtype": server.kv_cache_dtype,
    }
    if server.pipeline_parallel > 1:
        flags["--pipeline-parallel-size"] = server.pipeline_parallel
    gpus = str(server.gpus_per_replica // placed.nodes)
    return {
        f"{container}.image": vllm.image_reference(server),
        f"{container}.resources.limits.{GPU_RESOURCE}": gpus,
        f"{container}.resources.requests.{GPU_RESOURCE}": gpus,
        f"{template}.spec.nodeSelector.{POOL_LABEL}": server.node_pool,
        f"{template}.metadata.labels.{WORKLOAD_LABEL}": server.workload,
        f"{template}.metadata.labels.{TIER_LABEL}": server.tier,
        **{f"{container}.args {flag}": str(value) for flag, value in flags.items()},
    }
