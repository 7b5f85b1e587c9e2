"""What the example stacks emit passes a strict schema check, and says what the plan says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from planner.api import plan_stack
from planner.emit.render import documents, render
from planner.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
CORE = ("v1", "apps/v1", "scheduling.k8s.io/v1")


@pytest.fixture(scope="module", params=["dev", "bank-au", "saas-global"])
def plan(request: pytest.FixtureRequest) -> Plan:
    return plan_stack(ROOT, request.param, at="2026-11-29", write=False)


def objects(plan: Plan) -> list[dict[str, Any]]:
    yaml = YAML(typ="safe", pure=True)
    return [yaml.load(text) for name, text in documents(plan).items() if name.endswith(".yaml")]


def test_every_core_kind_passes_the_strict_schema(plan: Plan) -> None:
    checked = 0
    for item in objects(plan):
        if item["apiVersion"] in CORE:
            kubernetes_validate.validate(item, "1.34", strict=True)
            checked += 1
    assert checked >= 4 * bool(plan.resources.servers)


def test_flags_and_replicas_are_the_plans_numbers(plan: Plan) -> None:
    deployments = {o["metadata"]["name"]: o for o in objects(plan) if o["kind"] == "Deployment"}
    assert len(deployments) == len(plan.resources.servers)
    for server in plan.resources.servers:
        spec = deployments[server.name]["spec"]
        container = spec["template"]["spec"]["containers"][0]
        flags = dict(zip(container["args"][1::2], container["args"][2::2], strict=False))
        assert spec["replicas"] == server.replicas
        assert flags["--tensor-parallel-size"] == str(server.tensor_parallel)
        assert flags["--max-model-len"] == str(server.max_model_len)
        assert flags["--max-num-seqs"] == str(server.max_num_seqs)
        assert container["resources"]["limits"]["nvidia.com/gpu"] == str(server.gpus_per_replica)


def test_rendering_twice_gives_the_same_bytes(plan: Plan, tmp_path: Path) -> None:
    first, second = render(plan, tmp_path / "a"), render(plan, tmp_path / "b")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
