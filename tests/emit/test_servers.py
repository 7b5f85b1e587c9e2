"""A decided workload becomes a server: every number is the sizing's, or follows from it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from planner.api import plan_stack
from planner.catalog.loader import Catalog, load_catalog
from planner.catalog.shapes import load_shape
from planner.decision import Decision, Outcome
from planner.declare import Stack, load_stack
from planner.declared.clusters import Cluster
from planner.emit.grouping import clusters
from planner.errors import PlannerError
from planner.features import Features, Gateway, Keda
from planner.plan import Plan, VllmServer
from planner.servers import server_of, site_of
from planner.serving.sizing_types import Replica
from planner.workload import BatchWindow, Workload

ROOT = Path(__file__).resolve().parents[2]
KEDA = Keda(prometheus="http://prometheus.monitoring:9090")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_stack(ROOT, "bank-au", at="2026-11-29", write=False)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def stack(catalog: Catalog) -> Stack:
    return load_stack(ROOT, "bank-au", catalog)


@pytest.fixture(scope="module")
def hosted(plan: Plan) -> tuple[Decision, Outcome]:
    (found,) = [d for d in plan.decisions if d.chosen and d.chosen.self_hosted]
    assert found.chosen is not None
    return found, found.chosen


@pytest.fixture(scope="module")
def notes(stack: Stack) -> Workload:
    return next(item for item in stack.workloads if item.name == "case-notes")


@pytest.fixture
def made(hosted: tuple[Decision, Outcome], stack: Stack, catalog: Catalog, notes: Workload) -> Any:
    def make(
        cluster: dict[str, Any] | None = None,
        decision: dict[str, Any] | None = None,
        workload: Workload | None = notes,
        outcome: dict[str, Any] | None = None,
    ) -> VllmServer:
        decided, chosen = hosted
        return server_of(
            decided.model_copy(update=decision or {}),
            chosen.model_copy(update=outcome or {}),
            stack.platform.clusters[0].model_copy(update=cluster or {}),
            catalog,
            node_pool="pool",
            workload=workload,
            shape_of=load_shape,
        )

    return make


def replica_of(hosted: tuple[Decision, Outcome]) -> Replica:
    size = hosted[1].self_hosted
    assert size is not None
    return size.replica


def test_arguments_are_the_estimates_numbers(plan: Plan, hosted: tuple[Decision, Outcome]) -> None:
    (server,) = plan.resources.servers
    replica = replica_of(hosted)
    assert server.max_model_len == replica.ledger.max_model_len
    assert server.gpu_memory_utilization == replica.ledger.gpu_memory_utilization
    assert server.namespace == "llm-interactive"
    assert (server.attention_heads, server.kv_heads) == (64, 8)  # Llama-3.3-70B


@pytest.mark.parametrize(
    "field",
    [
        "max_model_len",
        "max_num_seqs",
        "max_num_batched_tokens",
        "gpu_memory_utilization",
        "kv_cache_dtype",
    ],
)
def test_other_numbers_than_the_estimates_are_refused(plan: Plan, field: str) -> None:
    (server,) = plan.resources.servers
    other = {"kv_cache_dtype": "fp8", "gpu_memory_utilization": 0.5}.get(field, 7)
    assert getattr(server, field) != other
    resources = plan.resources.model_copy(
        update={"servers": (server.model_copy(update={field: other}),)}
    )
    with pytest.raises(PlannerError, match=f"{field} is .*, the estimate used"):
        clusters(plan.model_copy(update={"resources": resources}))


def test_a_queue_is_as_long_as_the_target_allows(
    made: Any, hosted: tuple[Decision, Outcome], notes: Workload
) -> None:
    server, replica = made(), replica_of(hosted)
    target = notes.objectives.ttft_p95_ms
    assert target == 4000
    prompt = replica.tokens_per_minute / replica.requests_per_minute
    prompt *= 1 - hosted[0].mix.output_fraction
    # Prompt tokens a second while the engine prefills, and what it can take in four seconds.
    rate = replica.requests_per_minute / 60 * prompt / replica.prefill_share
    assert server.max_queued_tokens == math.floor(4 * rate)
    # What runs counts too.
    waiting = math.ceil(server.max_queued_tokens / prompt)
    assert server.max_queued_requests == replica.max_num_seqs + waiting


def test_the_longest_request_is_never_too_long_for_an_empty_queue(
    made: Any, notes: Workload
) -> None:
    hurried = notes.objectives.model_copy(update={"ttft_p95_ms": 1.0})
    server = made(workload=notes.model_copy(update={"objectives": hurried}))
    assert server.max_queued_tokens == server.max_model_len


def test_without_a_target_requests_alone_are_limited(made: Any, notes: Workload) -> None:
    calm = notes.objectives.model_copy(update={"ttft_p95_ms": None})
    server = made(workload=notes.model_copy(update={"objectives": calm}))
    assert server.max_queued_tokens is None
    assert server.max_queued_requests == 2 * server.max_num_seqs


def test_batch_takes_in_all_that_comes(made: Any) -> None:
    server = made(decision={"tier": "batch"})
    assert server.max_queued_tokens is server.max_queued_requests is None
    assert server.namespace == "llm-batch"


def test_a_drain_lasts_as_long_as_the_longest_answer(
    made: Any, hosted: tuple[Decision, Outcome], notes: Workload
) -> None:
    longest = notes.traffic.max_tokens * replica_of(hosted).itl_p95_ms / 1000 * 1.2
    assert made().drain_seconds == max(30, math.ceil(longest))
    short = notes.model_copy(update={"traffic": notes.traffic.model_copy(update={"max_tokens": 1})})
    assert made(workload=short).drain_seconds == 30
    endless = notes.traffic.model_copy(update={"max_tokens": 10**6})
    assert made(workload=notes.model_copy(update={"traffic": endless})).drain_seconds <= 900


def test_the_load_is_weights_over_bandwidth(made: Any, hosted: tuple[Decision, Outcome]) -> None:
    server = made()
    weights = replica_of(hosted).ledger.weights_bytes * server.gpus_per_replica
    assert server.load_seconds == math.ceil(weights / 1e9)
    assert server.startup_seconds == server.load_seconds + 300


def keda(**changes: Any) -> dict[str, Any]:
    return {"features": Features(keda=KEDA.model_copy(update=changes))}


def test_replicas_are_the_plans_where_nothing_scales(made: Any) -> None:
    assert made().scaling is None
    assert made().replicas == 2


def test_bounds_of_an_autoscaler_come_from_the_plan(
    made: Any, hosted: tuple[Decision, Outcome]
) -> None:
    size = hosted[1].self_hosted
    assert size is not None
    wide = size.model_copy(update={"replicas": 4, "spare_replicas": 1, "nodes": 4})
    room = (4 + size.spare_nodes) * (size.gpus_per_node // size.replica.layout.gpus)
    mix = hosted[0].mix
    tokens = {"p50": mix.tokens_per_minute_p50, "p90": mix.tokens_per_minute_p90}
    for hold, demand in tokens.items():
        # Each of the four carries a quarter; one is spare.
        carried = 4 * demand / 2.5
        scaling = made(
            cluster=keda(hold=hold),
            outcome={"self_hosted": wide, "floor_tokens_per_minute": carried},
        ).scaling
        assert (scaling.min_replicas, scaling.max_replicas) == (3 + 1, max(5, room))
    # What the peak needs is always there: there is nothing to choose.
    packed = wide.model_copy(update={"spare_nodes": 0, "spare_replicas": 0})
    peak = {"self_hosted": packed, "floor_tokens_per_minute": mix.tokens_per_minute_peak}
    assert made(cluster=keda(hold="peak"), outcome=peak).scaling is None


@pytest.mark.parametrize(
    ("hours", "scales"), [("22:00-06:00", True), ("00:00-00:00", False), ("00:00-23:00", False)]
)
def test_batch_scales_to_nothing_outside_of_a_window_that_leaves_time(
    made: Any, notes: Workload, hours: str, scales: bool
) -> None:
    window = BatchWindow(hours=hours, days=("mon",))
    nightly = notes.model_copy(
        update={"tier": "batch", "traffic": notes.traffic.model_copy(update={"window": window})}
    )
    scaling = made(cluster=keda(), decision={"tier": "batch"}, workload=nightly).scaling
    assert (scaling is not None) is scales
    if scaling is not None:
        assert (scaling.min_replicas, scaling.max_replicas) == (0, 2)
        assert scaling.window == window


def test_spot_nodes_are_left_in_time(made: Any) -> None:
    assert made(cluster={"spot_batch": True}).notice_seconds is None
    assert made(cluster={"spot_batch": True}, decision={"tier": "batch"}).notice_seconds == 30


def test_a_gateway_says_who_calls(stack: Stack) -> None:
    gateway = Features(gateway=Gateway(name="g", namespace="gateways"))

    def site(**changes: Any) -> Cluster:
        return stack.platform.clusters[0].model_copy(update=changes)

    assert site_of(site()).gateway_namespace is None
    assert site_of(site(features=gateway)).gateway_namespace == "gateways"
    assert site_of(site(features=gateway, gateway_namespace="mesh")).gateway_namespace == "mesh"
    assert site_of(site()).node_quotas["Standard_NC80adis_H100_v5"] == 6
