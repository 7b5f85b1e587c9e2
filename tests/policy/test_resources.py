"""Resources as rows: what is compared, what is hidden, what identifies a thing; and the gate."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from planner.policy.bundle import policies_folder
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_resources
from planner.policy.leaves import MARKER, SECRET_KIND, UNKNOWN_VALUES, leaves_of
from planner.policy.resources import (
    IDENTITY,
    PlannedRow,
    RawResource,
    Row,
    base_type,
    planned_row,
    resources_document,
    row_of,
)
from planner.policy.waivers import NO_WAIVERS

NOW = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)
UNKNOWN = min(UNKNOWN_VALUES)
HIDDEN = {MARKER: SECRET_KIND, "value": "open-sesame"}
SEALED = {MARKER: SECRET_KIND, "ciphertext": "v1:abc"}
TOKEN = "hf_" + "0" * 34


def container(**changes: Any) -> dict[str, Any]:
    return {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.33.0",
        "command": ["vllm", "serve"],
        "args": ["/models/m", "--max-model-len", "8192", "--enable-prefix-caching"],
        "env": [{"name": "HOME", "value": "/home/llm"}],
        "resources": {"limits": {"nvidia.com/gpu": "2"}},
        **changes,
    }


def deployment(*containers: dict[str, Any], **changes: Any) -> RawResource:
    return RawResource(
        urn="urn:pulumi:prod::p::kubernetes:apps/v1:Deployment::chat",
        type="kubernetes:apps/v1:Deployment",
        name="chat",
        properties={
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": "chat",
                "namespace": "llm",
                "labels": {
                    "llm-capacity.dev/workload": "chat",
                    "app.kubernetes.io/managed-by": "pulumi",
                },
            },
            "spec": {
                "replicas": 2.0,
                "template": {"spec": {"containers": list(containers or [container()])}},
            },
            **changes,
        },
        provider={"clusterIdentifier": "gpu", "kubeconfig": HIDDEN},
    )


def azure(**changes: Any) -> RawResource:
    properties = {
        "resourceGroupName": "rg",
        "accountName": "aue",
        "deploymentName": "chat",
        "sku": {"name": "Standard", "capacity": 5},
        "tags": {"workload": "chat"},
        **changes,
    }
    kind = "azure-native:cognitiveservices:Deployment"
    return RawResource(f"urn:pulumi:prod::p::{kind}::chat", kind, "chat", properties)


def paths(value: Any) -> dict[str, Any]:
    return {leaf.path: leaf.value for leaf in leaves_of(value)}


def test_leaves_name_list_items_and_flags() -> None:
    assert paths({"a": {"b": [1, {"c": True}]}, "n": None, "e": {}, "l": []}) == {
        "a.b[0]": 1,
        "a.b[1].c": True,
        "e": "{}",
        "l": "[]",
    }
    assert paths({"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}) == {
        "env[A].name": "A",
        "env[A].value": "1",
        "env[B].name": "B",
        "env[B].value": "2",
    }
    # A name that two items share tells neither apart.
    assert set(paths({"t": [{"key": "gpu"}, {"key": "gpu"}]})) == {"t[0].key", "t[1].key"}
    words = ["serve", "--a", "1", "--b", "--c_d=x=y", "--a", "2", "last"]
    assert paths({"args": words}) == {
        "args[0]": "serve",
        "args --a": "1",
        "args --b": "",
        "args --c-d": "x=y",
        "args --a#2": "2",
        "args[1]": "last",
    }


def test_order_of_flags_and_variables_is_no_change() -> None:
    first = deployment(container(args=["--a", "1", "--b", "2"]))
    second = deployment(container(args=["--b", "2", "--a", "1"]))
    assert row_of(first).fields == row_of(second).fields


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (HIDDEN, "secret"),
        (SEALED, "secret"),
        ("[secret]", "secret"),
        (UNKNOWN, "unknown"),
        ({MARKER: "something that is not known here", "value": 1}, "unknown"),
    ],
)
def test_what_cannot_be_read_keeps_its_place_and_no_value(value: Any, state: str) -> None:
    (leaf,) = leaves_of({"a": value})
    assert (leaf.path, leaf.value, leaf.state) == ("a", None, state)


def test_a_row_holds_what_is_compared() -> None:
    row = row_of(deployment())
    assert row.type == "kubernetes:apps:Deployment"
    assert row.identity == "gpu/llm/chat"
    assert row.workload == "chat"
    assert row.subject == "kubernetes:apps/v1:Deployment::chat"
    assert row.fields["spec.replicas"] == 2
    place = "spec.template.spec.containers[vllm]"
    assert row.fields[f"{place}.args --max-model-len"] == "8192"
    assert row.fields["provider.clusterIdentifier"] == "gpu"
    assert row.asks == ("nvidia.com/gpu",)
    assert {"vllm/vllm-openai:v0.33.0", "serve", "/models/m"} <= set(row.runs)
    assert not row.opaque
    assert not row.unknown
    # Names are the identity; Pulumi's label comes and goes.
    gone = {"metadata.name", "metadata.namespace", "kind", "apiVersion"}
    assert not gone & set(row.fields)
    assert not [path for path in row.fields if path.endswith("managed-by")]


@pytest.mark.parametrize(
    ("token", "base"),
    [
        ("kubernetes:apps/v1:Deployment", "kubernetes:apps:Deployment"),
        ("kubernetes:apps/v1beta2:Deployment", "kubernetes:apps:Deployment"),
        ("kubernetes:core/v1:Pod", "kubernetes:core:Pod"),
        ("kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.sh:NodePool"),
        ("azure-native:cognitiveservices:Deployment", "azure-native:cognitiveservices:Deployment"),
        (
            "azure-native:cognitiveservices/v20240601preview:Deployment",
            "azure-native:cognitiveservices:Deployment",
        ),
        (
            "azure-native_cognitiveservices_v20240601preview:cognitiveservices:Deployment",
            "azure-native:cognitiveservices:Deployment",
        ),
        (
            "aws:bedrock/inferenceProfile:InferenceProfile",
            "aws:bedrock/inferenceProfile:InferenceProfile",
        ),
    ],
)
def test_one_thing_has_one_type_whatever_the_version(token: str, base: str) -> None:
    assert base_type(token) == base


def test_a_name_that_is_not_known_is_no_identity() -> None:
    assert row_of(azure()).identity == "aue/chat"
    assert row_of(azure(deploymentName=UNKNOWN)).identity is None
    assert row_of(azure(deploymentName=HIDDEN)).identity is None
    assert row_of(azure(deploymentName=None, accountName=None)).identity is None
    assert row_of(deployment(metadata={"name": UNKNOWN, "namespace": "llm"})).identity is None
    assert row_of(deployment(metadata={"name": "chat"})).identity == "gpu/chat"


def test_a_secret_is_never_in_a_row() -> None:
    env = [{"name": "A", "value": HIDDEN}, {"name": "B", "value": SEALED}]
    row = row_of(deployment(container(env=env)))
    assert "open-sesame" not in row.model_dump_json()
    assert "v1:abc" not in row.model_dump_json()
    assert row.fields["spec.template.spec.containers[vllm].env[A].value"] == "[secret]"
    states = {text.name: text.state for text in row.texts if text.place == "env"}
    assert states == {"A": "secret", "B": "secret"}


def test_texts_say_where_they_stand() -> None:
    found = row_of(deployment(container(args=["run", "--api-key", "x"]))).texts
    assert {(text.place, text.name) for text in found if text.text == "x"} == {
        ("args", "--api-key")
    }
    assert ("args", None) in {(text.place, text.name) for text in found if text.text == "run"}
    assert ("env", "HOME") in {(t.place, t.name) for t in found if t.text == "/home/llm"}
    for kind, place in (("ConfigMap", "config"), ("Secret", "secret")):
        properties = {"metadata": {"name": "a"}, "data": {"K": "v"}, "type": "Opaque"}
        row = row_of(RawResource("", f"kubernetes:core/v1:{kind}", "a", properties))
        assert {(t.place, t.name) for t in row.texts if t.text == "v"} == {(place, "K")}


@pytest.mark.parametrize(
    "change",
    [
        {"image": UNKNOWN},
        {"image": HIDDEN},
        {"args": [UNKNOWN]},
        {"args": UNKNOWN},
        {"command": ["sh", HIDDEN]},
        {"resources": {"limits": UNKNOWN}},
        {"resources": UNKNOWN},
        {"resources": {"limits": {"nvidia.com/gpu": UNKNOWN}}},
    ],
    ids=repr,
)
def test_containers_that_cannot_be_read_are_opaque(change: dict[str, Any]) -> None:
    assert row_of(deployment(container(**change))).opaque


def test_hidden_specs_are_opaque_and_hidden_settings_are_not() -> None:
    assert row_of(deployment(spec=UNKNOWN)).opaque
    assert row_of(deployment(spec={"template": {"spec": {"containers": [UNKNOWN]}}})).opaque
    assert not row_of(deployment(container(env=[{"name": "A", "value": UNKNOWN}]))).opaque


def test_devices_are_found_wherever_pods_are_nested() -> None:
    pod = {"containers": [container()]}
    properties = {
        "metadata": {"name": "a"},
        "spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": pod}}},
    }
    kind = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
    row = row_of(RawResource("", kind, "a", properties))
    assert row.asks == ("nvidia.com/gpu",)
    claims = {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "one"}]}}
    pod_row = row_of(RawResource("", "kubernetes:core/v1:Pod", "a", claims))
    assert pod_row.asks == ("name", "resourceClaimName")
    release = {"chart": "vllm-stack", "values": {"replicas": 1}}
    assert row_of(RawResource("", "kubernetes:helm.sh/v3:Release", "a", release)).runs == (
        "vllm-stack",
    )


def test_a_resource_that_names_its_region_goes_there() -> None:
    kind = "aws:bedrock/inferenceProfile:InferenceProfile"
    provider = {"region": "eu-central-1"}
    plain = row_of(RawResource("", kind, "a", {"name": "a"}, provider))
    moved = row_of(RawResource("", kind, "a", {"name": "a", "region": "us-east-1"}, provider))
    assert plain.fields == {"name": "a", "provider.region": "eu-central-1"}
    assert moved.fields == {"name": "a", "provider.region": "us-east-1"}


def test_a_plan_takes_its_own_values_over_those_of_a_manifest() -> None:
    row = planned_row(
        deployment(), workload="chat", changes={"spec.replicas": 9}, free=("metadata.labels.x",)
    )
    assert row.fields["spec.replicas"] == 9
    with pytest.raises(ValueError, match="plain values"):
        planned_row(azure(deploymentName=UNKNOWN))


def question(rows: list[Row], planned: list[PlannedRow], **more: Any) -> dict[str, Any]:
    return resources_document(
        planned,
        rows,
        stack="prod",
        as_of=NOW.date(),
        evaluated_at=NOW,
        complete=more.get("complete", True),
    )


def test_schema_and_document_have_the_same_keys() -> None:
    schema = json.loads((policies_folder() / "schemas/resources/input.json").read_text())
    planned = planned_row(deployment())
    document = question([row_of(deployment())], [planned])
    properties = schema["properties"]
    assert set(properties) == set(document) | {"nonce"}
    for name in ("planned", "resources"):
        assert set(properties[name]["items"]["properties"]) == set(document[name][0])
        assert properties[name]["items"]["additionalProperties"] is False
    text = properties["resources"]["items"]["properties"]["texts"]["items"]
    assert set(text["properties"]) == set(document["resources"][0]["texts"][0])


def rules_on(engine: PolicyEngine, document: dict[str, Any]) -> set[tuple[str, str]]:
    found = gate_resources(engine, document, NO_WAIVERS)
    return {(finding.rule_id, finding.verdict) for finding in found}


def test_the_engine_allows_what_is_planned(engine: PolicyEngine) -> None:
    for raw in (deployment(), azure()):
        assert rules_on(engine, question([row_of(raw)], [planned_row(raw)])) == set()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (azure(sku={"name": "GlobalStandard", "capacity": 5}), {("RSC-001", "deny")}),
        (azure(sku={"name": "Standard", "capacity": UNKNOWN}), {("RSC-001", "unavailable")}),
        (azure(raiPolicyName="none"), {("RSC-001", "deny")}),
        (azure(tags=HIDDEN), {("RSC-001", "deny")}),
        (deployment(container(image="other:v1")), {("RSC-001", "deny")}),
        (deployment(container(), container(name="beside")), {("RSC-001", "deny")}),
        (
            deployment(container(args=["--trust-remote-code"])),
            {("RSC-001", "deny"), ("TRC-001", "deny")},
        ),
        (
            deployment(container(env=[{"name": "HOME", "value": TOKEN}])),
            {("RSC-001", "deny"), ("SEC-001", "deny")},
        ),
        (
            deployment(container(args=[UNKNOWN])),
            {("RSC-001", "unavailable"), ("RSC-001", "deny"), ("TRC-001", "unavailable"),
             ("SEC-001", "unavailable")},
        ),
    ],
)  # fmt: skip
def test_the_engine_stops_what_differs(
    engine: PolicyEngine, raw: RawResource, expected: set[tuple[str, str]]
) -> None:
    plain = azure() if raw.type.startswith("azure") else deployment()
    document = question([row_of(raw)], [planned_row(plain)])
    assert rules_on(engine, document) == expected
    told = json.dumps([f.model_dump() for f in gate_resources(engine, document)], default=str)
    assert TOKEN not in told
    assert "open-sesame" not in told


def test_the_engine_tells_beside_twice_and_missing_apart(engine: PolicyEngine) -> None:
    shadow = azure(deploymentName="shadow")
    planned = [planned_row(azure())]
    ours, theirs = row_of(azure()), row_of(shadow)
    assert rules_on(engine, question([ours, theirs], planned)) == {("RSC-001", "deny")}
    assert rules_on(engine, question([ours, ours], planned)) == {("RSC-001", "deny")}
    assert rules_on(engine, question([], planned)) == {("RSC-001", "warn")}
    assert rules_on(engine, question([], planned, complete=False)) == set()


def test_every_identity_is_of_a_governed_or_emitted_type() -> None:
    facts = json.loads(
        (policies_folder() / "llm_capacity/facts/governed_types/data.json").read_text()
    )
    emitted_besides = {
        "gcp:projects/service:Service",
        "gcp:monitoring/alertPolicy:AlertPolicy",
    }
    assert set(IDENTITY) <= set(facts["types"]) | emitted_besides
