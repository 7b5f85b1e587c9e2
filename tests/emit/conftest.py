"""A hand-made plan with everything that can be emitted."""

from __future__ import annotations

import pytest

from planner.decision import Decision, Mix
from planner.plan import (
    NOTHING_SPENT,
    Inputs,
    NodePool,
    Plan,
    ProviderAccount,
    ProviderDeployment,
    Purchase,
    QuotaNeed,
    Resources,
    VllmServer,
)
from planner.steps import steps_of
from planner.units import GIB
from tests.emit.recorder import Recorder

CHAT = VllmServer(
    name="chat",
    workload="chat",
    tier="interactive",
    cluster="prod-sydney",
    namespace="llm-interactive",
    node_pool="h100-interactive",
    model="Qwen/Qwen3-32B",
    image="vllm/vllm-openai:v0.33.0",
    image_digest="sha256:" + "ab" * 32,
    model_claim="weights",
    model_revision="9216db5781bf21249d130ec9da846c4624c16137",
    vllm_version="0.33.0",
    tensor_parallel=4,
    pipeline_parallel=1,
    replicas=3,
    gpus_per_replica=4,
    max_model_len=16_384,
    max_num_seqs=96,
    max_num_batched_tokens=8_192,
    gpu_memory_utilization=0.92,
    dtype="bfloat16",
    kv_cache_dtype="fp8",
    cpu=12,
    memory_bytes=96 * GIB,
    shm_bytes=16 * GIB,
    startup_seconds=700,
    drain_seconds=120,
    labels={"classification": "restricted", "owner": "chat-team@example.com"},
)
DIGEST = CHAT.model_copy(
    update={
        "name": "digest",
        "workload": "digest",
        "tier": "batch",
        "cluster": "batch-aks",
        "namespace": "llm-batch",
        "node_pool": "a100-batch",
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "image": "registry.example.com:5000/vllm/vllm-openai:v0.33.0",
        "image_digest": None,
        "model_claim": None,
        "tensor_parallel": 1,
        "pipeline_parallel": 2,
        "replicas": 1,
        "gpus_per_replica": 2,
        "startup_seconds": 200,
        "drain_seconds": 20,
        "shm_bytes": 2 * GIB,
        "labels": {},
    }
)
H100 = NodePool(
    name="h100-interactive",
    cluster="prod-sydney",
    cloud="aws",
    region="ap-southeast-2",
    kind="karpenter",
    resource_group=None,
    tier="interactive",
    instance="p5.48xlarge",
    accelerator="H100-SXM-80GB",
    gpus_per_node=8,
    min_nodes=2,
    max_nodes=2,
    zones=("ap-southeast-2a", "ap-southeast-2b"),
    country="AU",
)
A100 = NodePool(
    name="a100-batch",
    cluster="batch-aks",
    cloud="azure",
    region="australiaeast",
    kind="aks_agent_pool",
    resource_group="rg-batch",
    tier="batch",
    instance="Standard_NC48ads_A100_v4",
    accelerator="A100-PCIe-80GB",
    gpus_per_node=2,
    min_nodes=0,
    max_nodes=2,
    zones=(),
    country="AU",
)
PTU = ProviderDeployment(
    name="assist-ptu",
    workload="assist",
    tier="interactive",
    provider="azure",
    account="oai-sydney",
    resource_group="rg-ai",
    region="australiaeast",
    model="gpt-4.1-mini",
    model_version="2025-04-14",
    deployment_type="ProvisionedManaged",
    kind="provisioned",
    capacity=50,
    spillover_to="assist-payg",
)
PAYG = PTU.model_copy(
    update={
        "name": "assist-payg",
        "model_version": None,
        "deployment_type": "Standard",
        "kind": "payg",
        "capacity": 400,
        "spillover_to": None,
    }
)
BEDROCK = PAYG.model_copy(
    update={
        "name": "notes-payg",
        "workload": "notes",
        "provider": "aws",
        "account": "aws-sydney",
        "resource_group": None,
        "region": "ap-southeast-2",
        "model": "nova-pro",
        "model_id": "amazon.nova-pro-v1:0",
        "model_arn": "arn:aws:bedrock:ap-southeast-2::foundation-model/amazon.nova-pro-v1:0",
        "deployment_type": "in_region",
    }
)
ACCOUNTS = (
    ProviderAccount(
        name="aws-sydney", provider="aws", region="ap-southeast-2", account_id="123456789012"
    ),
    ProviderAccount(
        name="oai-sydney", provider="azure", region="australiaeast", resource_group="rg-ai"
    ),
)
QUOTAS = (
    QuotaNeed(
        provider="azure",
        account="oai-sydney",
        region="australiaeast",
        deployment_type="ProvisionedManaged",
        unit="PTU",
        need=50,
        have=20,
    ),
    QuotaNeed(
        provider="azure",
        account="oai-sydney",
        region="australiaeast",
        deployment_type="Standard",
        model="gpt-4.1-mini",
        unit="1,000 tokens/min",
        need=400,
        have=None,
    ),
    QuotaNeed(
        provider="aws",
        account="aws-sydney",
        region="ap-southeast-2",
        deployment_type="in_region",
        model="nova-pro",
        unit="1,000 tokens/min",
        need=400,
        have=400,
    ),
)
PURCHASE = Purchase(
    workload="assist",
    provider="azure",
    account="oai-sydney",
    deployment_type="ProvisionedManaged",
    region="australiaeast",
    model="gpt-4.1-mini",
    unit="PTU",
    units=50,
    deployed_units=50,
    term_months=12,
    usd_per_month=11_050.0,
    exit_rule="exchangeable",
)


def decision_of(workload: str, tier: str, classification: str) -> Decision:
    return Decision(
        workload=workload,
        owner=f"{workload}-team@example.com",
        tier=tier,
        critical=False,
        classification=classification,
        residency=("NO", "AU"),
        status="decided",
        mix=Mix(
            output_fraction=0.2,
            cached_fraction=0.1,
            tokens_per_minute_p50=1e5,
            tokens_per_minute_p90=2e5,
            tokens_per_minute_peak=3e5,
            requests_per_minute_p50=50.0,
            tokens_per_month=1e9,
            active_hours_per_month=730.0,
            growth_factor=1.0,
            source="declared",
        ),
        chosen=None,
        runner_up=None,
        others=(),
        flip=None,
        tightest_objective="itl",
        engineering_usd_per_month=0.0,
        ladder=(),
        explanation=f"{workload}: cheapest that meets the objectives.",
        countries=("AU", "NO"),
    )


def with_resources(plan: Plan, **changes: object) -> Plan:
    """Return the plan with other resources, and the steps that follow from them."""
    resources = plan.resources.model_copy(update=changes)
    resources = resources.model_copy(update={"steps": steps_of(resources, {}, {})})
    return plan.model_copy(update={"resources": resources})


@pytest.fixture
def plan() -> Plan:
    plan = Plan(
        stack="prod",
        as_of="2026-11-01",
        verdict="allow",
        decisions=(
            decision_of("chat", "interactive", "restricted"),
            decision_of("digest", "batch", "internal"),
            decision_of("assist", "interactive", "confidential"),
            decision_of("notes", "interactive", "public"),
        ),
        findings=(),
        resources=Resources(
            node_pools=(H100, A100),
            servers=(CHAT, DIGEST),
            deployments=(PTU, PAYG, BEDROCK),
            purchases=(PURCHASE,),
            accounts=ACCOUNTS,
            quotas=QUOTAS,
        ),
        totals=NOTHING_SPENT.model_copy(
            update={
                "fixed_usd_per_month": 100_000.0,
                "variable_usd_per_month": 1_000.0,
                "total_usd_per_month": 101_000.0,
                "reported_per_month": 101_000.0,
                "gpus": 14,
                "nodes": 4,
                "provisioned_units": 50,
            }
        ),
        inputs=Inputs(input_digest="1" * 64, catalog_digest="2" * 64, policy_digest="3" * 64),
        warnings=(),
    )
    return with_resources(plan)


@pytest.fixture
def chat() -> VllmServer:
    return CHAT


@pytest.fixture
def digest() -> VllmServer:
    return DIGEST


@pytest.fixture
def h100() -> NodePool:
    return H100


@pytest.fixture
def a100() -> NodePool:
    return A100


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    return Recorder(monkeypatch)
