"""The plugin's schema is whole, and what it names is what declared files have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest

from planner.catalog.loader import load_catalog
from planner.declare import json_schemas, load_stack
from planner.errors import InputError
from planner.plan import Plan
from planner.plugin.component import TYPE, kubeconfigs_of
from planner.plugin.declared import camel, declared, declared_project
from planner.plugin.host import CapacityProvider
from planner.plugin.schema import PREFIX
from planner.workload import Workload
from tests.emit.conftest import plan as plan
from tests.projects import CHAT, CLUSTER, PLATFORM, changed

REF = "#/types/"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CapacityProvider().schema)
    return found


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    component = schema["resources"][TYPE]
    for key in ("inputProperties", "properties"):
        for name, item in component[key].items():
            yield f"{key}.{name}", item
    for name, item in schema["types"].items():
        for key, one in item.get("properties", {}).items():
            yield f"{name}.{key}", one


def parts(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield item
    for key in ("items", "additionalProperties"):
        if key in item:
            yield from parts(item[key])
    for one in item.get("oneOf", []):
        yield from parts(one)


def test_everything_is_described_and_typed(schema: dict[str, Any]) -> None:
    assert schema["description"]
    assert schema["version"] != "0.0.0"
    for name, item in schema["types"].items():
        assert item["description"].strip(), name
        for value in item.get("enum", []):
            assert {"name", "value", "description"} <= set(value), name
    for name, item in properties(schema):
        assert item["description"].strip(), name
        assert "\n" not in item["description"], name
        for part in parts(item):
            assert {"type", "$ref", "oneOf"} & set(part), name
            ref = part.get("$ref", "")
            assert not ref.startswith(REF) or ref.removeprefix(REF) in schema["types"], ref
            assert ref != "pulumi.json#/Any", name


def test_workloads_and_platform_have_every_key_and_its_enum(schema: dict[str, Any]) -> None:
    types = schema["types"]
    for name, source in (
        ("Workload", json_schemas()["workload"]),
        ("Platform", json_schemas()["platform"]),
    ):
        for inner, definition in {**source["$defs"], name: source}.items():
            found = types[f"{PREFIX}{inner}"]
            assert set(found["properties"]) == {camel(key) for key in definition["properties"]}
            assert found["required"] == sorted(camel(k) for k in definition.get("required", []))
    assert [row["value"] for row in types[f"{PREFIX}Tier"]["enum"]] == ["interactive", "batch"]
    assert types[f"{PREFIX}Workload"]["properties"]["tier"]["$ref"] == f"{REF}{PREFIX}Tier"
    assert types[f"{PREFIX}PaygRate"]["properties"]["kind"]["const"] == "payg"
    rates = types[f"{PREFIX}Platform"]["properties"]["rates"]["items"]
    assert set(rates["discriminator"]["mapping"]) == {"payg", "provisioned", "instance", "unit"}


def test_keys_are_told_in_the_words_of_declared_files(schema: dict[str, Any]) -> None:
    told = schema["types"][f"{PREFIX}Workload"]["properties"]
    for key, field in Workload.model_fields.items():
        assert told[camel(key)]["description"] == " ".join(str(field.description).split())


def test_what_is_required_and_secret_is_said(schema: dict[str, Any]) -> None:
    component = schema["resources"][TYPE]
    assert component["isComponent"]
    assert component["requiredInputs"] == ["project"]
    assert set(component["required"]) == set(component["properties"])
    assert {"verdict", "capacityDigest", "endpoints", "decisions"} <= set(component["properties"])
    assert component["inputProperties"]["kubeconfigs"]["secret"]
    assert not component["inputProperties"]["kubeconfigs"].get("plain")


def camelled(value: Any, *kept: str) -> Any:
    """Keys as a program writes them; those below a map of the user's own stay."""
    if isinstance(value, dict):
        return {
            camel(key): item if key in kept else camelled(item, *kept)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [camelled(item, *kept) for item in value]
    return float(value) if type(value) is int else value


RATE = {
    "kind": "payg",
    "provider": "azure",
    "model": "gpt-4.1-mini",
    "deployment_type": "Standard",
    "region": "australiaeast",
    "input_usd_per_mtok": 1.5,
    "output_usd_per_mtok": 2,
    "date": "2026-11-01",
    "ref": "quote",
}


def test_inputs_are_read_as_declared_files_are(tmp_path: Path) -> None:
    account = {**PLATFORM["accounts"][0], "model_versions": {"gpt_x-4.1": "a_b"}}
    platform = changed(PLATFORM, accounts=[account], clusters=[CLUSTER], rates=[RATE])
    given = camelled(platform, "model_versions")
    assert given["accounts"][0]["resourceGroup"] == "rg"
    assert declared(given, json_schemas()["platform"]) == platform
    workload = declared(camelled(CHAT), json_schemas()["workload"])
    assert workload == CHAT
    assert type(workload["traffic"]["max_tokens"]) is int

    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "here").write_text("")
    given = camelled(changed(PLATFORM, rates=[RATE]))
    root = declared_project(tmp_path, "s", [camelled(CHAT)], given)
    assert (root / "policies" / "here").is_file()
    stack = load_stack(root, "s", load_catalog())
    assert [item.name for item in stack.workloads] == ["chat"]
    assert stack.platform.accounts[0].name == "aue"

    # A workload that has gone is gone; one without a name is told, not lost.
    declared_project(tmp_path, "s", [camelled(changed(CHAT, name="other")), {"Name": 1}], given)
    names = sorted(path.name for path in (root / "stacks" / "s").iterdir())
    assert names == ["other.yaml", "platform.yaml", "workload-1.yaml"]
    with pytest.raises(InputError, match="unknown key 'Name'"):
        load_stack(root, "s", load_catalog())


def test_two_workloads_of_a_name_and_hostile_names_are_told(tmp_path: Path) -> None:
    twice = [camelled(CHAT), camelled(CHAT), camelled(changed(CHAT, name="../../x"))]
    root = declared_project(tmp_path, "s", twice, camelled(PLATFORM))
    assert not (tmp_path / "x.yaml").exists()
    with pytest.raises(InputError) as caught:
        load_stack(root, "s", load_catalog())
    assert "the name 'chat' is taken" in str(caught.value)
    assert "workload-2.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("workloads", "platform", "told"),
    [
        ([], PLATFORM, "lists no workload"),
        (None, PLATFORM, "lists no workload"),
        ([CHAT], None, "platform: is missing"),
        ([1], {}, "workload-0.yaml"),
    ],
)
def test_inputs_that_are_no_documents_are_told(
    workloads: Any, platform: Any, told: str, tmp_path: Path
) -> None:
    def planned() -> None:
        root = declared_project(tmp_path, "s", workloads, platform)
        load_stack(root, "s", load_catalog())

    with pytest.raises(InputError, match=told):
        planned()


def test_each_cluster_of_the_plan_gets_its_own_kubeconfig(plan: Plan) -> None:
    given: dict[str, Any] = {"prod-sydney": "a", "another": "b"}
    assert kubeconfigs_of(plan, given) == {"prod-sydney": "a"}
    assert kubeconfigs_of(plan, None) == {}
    assert set(kubeconfigs_of(plan, pulumi.Output.from_input(given))) == {
        "batch-aks",
        "prod-sydney",
    }
