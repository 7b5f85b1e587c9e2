"""The plan: decisions, the resources they imply, and the digests that name them.

Canonical JSON: sorted keys, no clock, no randomness, amounts rounded to the
digits that matter, so equal inputs give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from planner.base import Frozen
from planner.decision import Decision
from planner.policy.verdicts import Finding, Verdict

SCHEMA_VERSION = 1
_SIGNIFICANT_DIGITS = 12


class VllmServer(Frozen):
    """One vLLM deployment on Kubernetes. Bytes and seconds are whole numbers."""

    name: str
    workload: str
    tier: str
    cluster: str
    namespace: str
    node_pool: str
    model: str
    image: str
    image_digest: str | None
    model_claim: str | None
    model_revision: str | None
    vllm_version: str
    tensor_parallel: int
    pipeline_parallel: int
    replicas: int
    gpus_per_replica: int
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    gpu_memory_utilization: float
    dtype: str
    kv_cache_dtype: str
    cpu: int
    memory_bytes: int
    shm_bytes: int
    startup_seconds: int
    drain_seconds: int
    labels: dict[str, str]


class NodePool(Frozen):
    """The GPU nodes that servers of one tier run on."""

    name: str
    cluster: str
    cloud: str
    region: str
    kind: Literal["aks_agent_pool", "karpenter"]
    resource_group: str | None
    tier: str
    instance: str
    accelerator: str
    gpus_per_node: int
    min_nodes: int
    max_nodes: int
    zones: tuple[str, ...]


class ProviderDeployment(Frozen):
    """A model deployment in a provider account.

    ``capacity`` counts provisioned units, or thousands of tokens per minute of
    quota for pay-as-you-go. ``spillover_to`` names another deployment of the
    same account, which must exist first.
    """

    name: str
    workload: str
    tier: str
    provider: str
    account: str
    resource_group: str | None
    region: str
    model: str
    model_version: str | None
    model_format: str | None = None
    deployment_type: str
    kind: Literal["payg", "provisioned"]
    capacity: int
    spillover_to: str | None


class Purchase(Frozen):
    """A commitment for a person to sign; never bought by the program."""

    workload: str
    provider: str
    deployment_type: str
    region: str
    model: str
    units: int
    term_months: int
    usd_per_month: float
    exit_rule: str


class Resources(Frozen):
    """What will exist."""

    node_pools: tuple[NodePool, ...]
    servers: tuple[VllmServer, ...]
    deployments: tuple[ProviderDeployment, ...]
    purchases: tuple[Purchase, ...]


class Totals(Frozen):
    """Fleet totals, USD a month; ``reported`` is in the stack's currency with tax.

    ``sunk_usd_per_month`` is paid for commitments already owned whatever is
    decided; it is shown beside the total, not in it.
    """

    fixed_usd_per_month: float
    variable_usd_per_month: float
    engineering_usd_per_month: float
    total_usd_per_month: float
    sunk_usd_per_month: float
    undecided_workloads: int
    currency: str
    reported_per_month: float
    gpus: int
    nodes: int
    provisioned_units: int


class Inputs(Frozen):
    """Digests (sha256) of what the plan rests on."""

    input_digest: str
    catalog_digest: str
    policy_digest: str


class Plan(Frozen):
    """Everything decided for a stack. See the module for its JSON form."""

    schema_version: int = SCHEMA_VERSION
    stack: str
    as_of: str
    verdict: Verdict
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]
    resources: Resources
    totals: Totals
    inputs: Inputs
    warnings: tuple[str, ...]

    @property
    def capacity_digest(self) -> str:
        """Return the digest of what will exist: what an approval names."""
        chosen = [
            {
                "workload": decision.workload,
                "status": decision.status,
                "option": decision.chosen.option.id if decision.chosen else None,
            }
            for decision in self.decisions
        ]
        return _digest({"stack": self.stack, "chosen": chosen, "resources": _plain(self.resources)})

    @property
    def evidence_digest(self) -> str:
        """Return the digest of the whole plan: prices, catalog and policy included."""
        return _digest(_plain(self))

    def to_json(self) -> str:
        """Return the canonical JSON document, newline-terminated."""
        document = {
            **_plain(self),
            "capacity_digest": self.capacity_digest,
            "evidence_digest": self.evidence_digest,
        }
        return json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def canonical(value: Any) -> str:
    """Return ``value`` (plain JSON data) as one canonical line."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(model: Frozen) -> Any:
    return rounded(model.model_dump(mode="json"))


def rounded(value: Any) -> Any:
    """Return ``value`` with every float cut to 12 significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()
