"""What is emitted and what the second gate expects agree, property by property."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format

from planner.emit import manifests, stack
from planner.pack.planned import planned_rows
from planner.plan import Plan, ProviderAccount, ProviderDeployment
from planner.policy.resources import PlannedRow, RawResource, Row, row_of
from tests.emit.conftest import BEDROCK, with_resources
from tests.emit.recorder import Recorder

MODEL = "arn:aws:bedrock:ap-southeast-2:123456789012:inference-profile/apac.amazon.nova-pro-v1:0"
ORDER = BEDROCK.model_copy(
    update={
        "name": "vision",
        "workload": "notes",
        "provider": "gcp",
        "account": "vertex",
        "region": "us-central1",
        "deployment_type": "pt_us_dedicated",
        "kind": "provisioned",
        "capacity": 3,
        "model_id": "gemini-3.5-flash",
        "model_arn": None,
    }
)


def everything(plan: Plan) -> Plan:
    """Return the plan with a resource of each kind that can be emitted."""
    found: list[ProviderDeployment] = [
        item.model_copy(update={"model_arn": MODEL}) if item.provider == "aws" else item
        for item in plan.resources.deployments
    ]
    units = found[-1].model_copy(
        update={
            "name": "units",
            "kind": "provisioned",
            "deployment_type": "provisioned",
            "capacity": 2,
            "term_months": 6,
        }
    )
    accounts = [
        item.model_copy(update={"create": item.provider == "azure"})
        for item in plan.resources.accounts
    ]
    vertex = ProviderAccount(
        name="vertex", provider="gcp", region="us-central1", account_id="acme-vertex"
    )
    resources = plan.resources.model_copy(
        update={"deployments": (*found, units, ORDER), "accounts": (*accounts, vertex)}
    )
    return with_resources(plan.model_copy(update={"resources": resources}))


def registered(recorder: Recorder, plan: Plan) -> list[Row]:
    recorder.run(lambda: stack.emit(plan, kubeconfigs={}))
    inputs = {
        request.name: json_format.MessageToDict(request.object) for request in recorder.requests
    }
    rows = []
    for request in recorder.requests:
        if not request.custom or request.type.startswith("pulumi:"):
            continue
        provider = request.provider.split("::")[-2] if request.provider else None
        raw = RawResource(
            urn="",
            type=request.type,
            name=request.name,
            properties=inputs[request.name],
            provider=inputs.get(provider or ""),
        )
        rows.append(row_of(raw))
    return rows


def differences(row: Row, wanted: PlannedRow) -> dict[str, Any]:
    return {
        path: (row.fields.get(path), wanted.fields.get(path))
        for path in row.fields.keys() | wanted.fields.keys()
        if row.fields.get(path) != wanted.fields.get(path)
        and path not in wanted.free
        and not (path in wanted.optional and path not in row.fields)
    }


def test_everything_emitted_is_expected_and_nothing_else(recorder: Recorder, plan: Plan) -> None:
    whole = everything(plan)
    wanted = {(row.type, row.identity): row for row in planned_rows(whole)}
    rows = registered(recorder, whole)
    assert {(row.type, row.identity) for row in rows} == set(wanted)
    for row in rows:
        assert differences(row, wanted[row.type, str(row.identity)]) == {}, row.subject
        assert not row.opaque, row.subject
    assert {row.type.split(":")[0] for row in rows} == {"azure-native", "aws", "gcp", "kubernetes"}


def test_an_edit_of_the_emitting_code_is_seen(
    recorder: Recorder, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = manifests.pod_spec

    def edited(*arguments: Any) -> dict[str, Any]:
        spec = made(*arguments)
        container = spec["containers"][0]
        container["image"] = "other:v1"
        container["resources"]["limits"]["nvidia.com/gpu"] = "8"
        place = container["args"].index("--max-model-len")
        container["args"][place + 1] = "999999"
        return spec

    monkeypatch.setattr(manifests, "pod_spec", edited)
    wanted = {(row.type, row.identity): row for row in planned_rows(plan)}
    (row, *_) = [
        row for row in registered(recorder, plan) if row.type == "kubernetes:apps:Deployment"
    ]
    container = "spec.template.spec.containers[vllm]"
    assert set(differences(row, wanted[row.type, str(row.identity)])) == {
        f"{container}.image",
        f"{container}.resources.limits.nvidia.com/gpu",
        f"{container}.args --max-model-len",
    }


def test_a_planned_row_says_whose_it_is(plan: Plan) -> None:
    rows = planned_rows(plan)
    owners = {row.identity: row.workload for row in rows if row.type.endswith(":Deployment")}
    assert owners["prod-sydney/llm-interactive/chat"] == "chat"
    assert list(rows) == sorted(rows, key=lambda row: (row.type, row.identity))
