"""The plan's own guard on a cluster: what the plan may not do, kubectl cannot do either.

A ValidatingAdmissionPolicy and its binding, as plain data. In the plan's namespaces, whatever
asks for a GPU or could land on a GPU node must be a workload of the plan, on a pool of its
tier, in a region inside of its residency. Other namespaces are never looked at. The rules are
those of the policy bundle, told once more for the API server (:mod:`planner.emit.admission_cel`).
"""

from __future__ import annotations

from planner.emit import vllm
from planner.emit.admission_cel import Guarded, Rule, names_of, variables_of
from planner.emit.admission_rules import rules_of
from planner.emit.labels import DIGEST_ANNOTATION, object_name
from planner.emit.manifests import Manifest, priority_class_name
from planner.plan import Plan

_RESOURCES = (
    ("", "v1", ("pods", "pods/ephemeralcontainers", "replicationcontrollers")),
    ("apps", "v1", ("daemonsets", "deployments", "replicasets", "statefulsets")),
    ("batch", "v1", ("cronjobs", "jobs")),
    ("leaderworkerset.x-k8s.io", "v1", ("leaderworkersets",)),
)
"""What holds a pod, or makes one."""

# An object that somebody else has left as it was, such as one being deleted, passes.
_CHANGED = (
    "oldObject == null || object.spec != oldObject.spec || "
    "object.metadata.?labels != oldObject.metadata.?labels"
)


def admission_manifests(plan: Plan, cluster: str) -> list[Manifest]:
    """Return the policy and the binding that guard ``cluster``; none where it has no servers."""
    guarded = guarded_by(plan, cluster)
    if not guarded.namespaces:
        return []
    name = guard_name(plan.stack)
    metadata = {
        "name": name,
        "labels": {"app.kubernetes.io/part-of": "llm-capacity"},
        "annotations": {DIGEST_ANNOTATION: plan.capacity_digest},
    }
    policy = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "resourceRules": [
                {
                    "apiGroups": [group],
                    "apiVersions": [version],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": list(resources),
                    "scope": "Namespaced",
                }
                for group, version, resources in _RESOURCES
            ],
        },
        "matchConditions": [
            {
                "name": "in-the-namespaces-of-the-plan",
                "expression": f"request.namespace in {names_of(guarded.namespaces)}",
            },
            {"name": "changed", "expression": _CHANGED},
        ],
        "variables": [
            {"name": name, "expression": expression}
            for name, expression in variables_of(guarded).items()
        ],
        "validations": [_validation(rule) for rule in rules_of(guarded)],
    }
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": metadata}
    return [
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": policy},
        {
            **head,
            "kind": "ValidatingAdmissionPolicyBinding",
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


def guard_name(stack: str) -> str:
    """Return the name of a stack's policy and binding: they are cluster-wide."""
    return object_name(f"llm-{stack}-guard".lower().replace("_", "-"), "admission policy")


def guarded_by(plan: Plan, cluster: str) -> Guarded:
    """Return what the guard of a cluster knows of the plan.

    A workload may be in every region of the plan's pools whose country its residency names;
    a pool or a residency of unknown countries admits nothing.
    """
    pools = [pool for pool in plan.resources.node_pools if pool.cluster == cluster]
    servers = plan.resources.servers
    here = [server for server in servers if server.cluster == cluster]
    decisions = {decision.workload: decision for decision in plan.decisions}
    hosted = [decisions[name] for name in sorted({server.workload for server in servers})]
    unpinned = {vllm.image_reference(item) for item in here if item.image_digest is None}
    return Guarded(
        namespaces={
            name: tuple(sorted({server.tier for server in here if server.namespace == name}))
            for name in sorted({server.namespace for server in here})
        },
        tiers={decision.workload: decision.tier for decision in hosted},
        classifications={decision.workload: decision.classification for decision in hosted},
        regions={
            decision.workload: tuple(
                sorted(
                    {
                        pool.region
                        for pool in plan.resources.node_pools
                        if pool.country in decision.countries
                    }
                )
            )
            for decision in hosted
        },
        pool_tiers={pool.name: pool.tier for pool in pools},
        pool_regions={pool.name: pool.region for pool in pools},
        priority_classes={
            tier: priority_class_name(plan.stack, tier)
            for tier in sorted({server.tier for server in here})
        },
        unpinned_images=tuple(sorted(unpinned)),
    )


def _validation(rule: Rule) -> dict[str, str]:
    return {
        "expression": rule.expression,
        "message": rule.message,
        "messageExpression": rule.told,
        "reason": "Forbidden",
    }
