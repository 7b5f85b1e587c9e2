"""Reading declared files: every problem at once, with its place and the way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.loader import load_catalog
from planner.declare import json_schemas, load_stack
from planner.errors import EXIT_BAD_INPUT, InputError
from planner.yamlfile import MAX_BYTES
from tests.projects import CHAT, CLUSTER, PLATFORM, changed


def problems(root: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_stack(root, "s", load_catalog())
    assert caught.value.exit_code == EXIT_BAD_INPUT
    return [str(problem) for problem in caught.value.problems]


def test_a_valid_stack_loads_and_its_digest_follows_the_bytes(project: Any) -> None:
    root = project(CHAT)
    stack = load_stack(root, "s", load_catalog())
    assert [workload.name for workload in stack.workloads] == ["chat"]
    again = load_stack(project(CHAT), "s", load_catalog())
    assert again.input_digest == stack.input_digest
    other = load_stack(project(changed(CHAT, owner="other")), "s", load_catalog())
    assert other.input_digest != stack.input_digest


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        ({"colour": "red"}, "(colour)", "unknown key 'colour'"),
        ({"traffic__tokens_per_minute__p50": -1}, "p50", "greater than or equal to 0"),
        ({"traffic__tokens_per_minute__p90": 1}, "tokens_per_minute", "must not decrease"),
        ({"traffic__output_fraction": 1.2}, "output_fraction", "less than or equal to 1"),
        ({"models": [{"name": "gpt-9"}]}, "(models.0.name)", "unknown"),
        ({"residency": {"jurisdictions": ["XX"]}}, "(residency.jurisdictions.0)", "XX"),
        ({"residency": {"jurisdictions": ["UK"]}}, "(residency.jurisdictions.0)", "UK"),
        ({"residency": {"jurisdictions": []}}, "residency", "at least 1"),
        ({"tier": "realtime"}, "(tier)", "'interactive' or 'batch'"),
        ({"traffic__max_tokens": 100}, "traffic", "max_tokens is below output_tokens.p95"),
        ({"traffic__output_fraction": 0.5}, "output_fraction", "imply"),
        ({"traffic__window": {"hours": "25:00-1:00", "days": ["mon"]}}, "window", "clock span"),
        ({"traffic__trace": "t.csv"}, "traffic", "exactly one of"),
        ({"horizon_months": 0}, "(horizon_months)", "greater than 0"),
        ({"critical": "yes"}, "(critical)", "boolean"),
        ({"name": "Chat_1"}, "(name)", "pattern"),
        (
            {"pin": {"provider": "azure", "deployment_type": "Gobal"}},
            "(pin.deployment_type)",
            "Gobal",
        ),
        ({"pin": {"deployment_type": "GlobalStandrd"}}, "(pin.deployment_type)", "GlobalStandrd"),
        ({"pin": {"spill_to": "Standrd"}}, "(pin.spill_to)", "Standrd"),
        ({"pin": {"spill_to": "Standard@mars"}}, "(pin.spill_to)", "mars"),
        ({"pin": {"provider": "azur"}}, "(pin.provider)", "azur"),
        ({"pin": {"model": "gpt-9"}}, "(pin.model)", "gpt-9"),
    ],
)
def test_one_wrong_value_is_named_with_its_place(
    project: Any, change: dict[str, Any], where: str, what: str
) -> None:
    found = problems(project(changed(CHAT, **change)))
    assert len(found) == 1, found
    assert where in found[0]
    assert what in found[0]
    assert found[0].startswith("stacks/s/w-")


def test_all_problems_of_all_files_come_together(project: Any) -> None:
    bad_platform = changed(
        PLATFORM, accounts=[{"name": "a", "provider": "azure", "region": "mars"}]
    )
    found = problems(
        project(
            changed(CHAT, tier="fast", colour=1),
            changed(CHAT, name="second", horizon_months=-1),
            platform=bad_platform,
        )
    )
    assert len(found) == 4
    assert any("platform.yaml" in item and "mars" in item for item in found)


def test_a_near_miss_is_suggested(project: Any) -> None:
    assert "classification" in problems(project(changed(CHAT, clasification="public")))[0]
    assert "gpt-4.1-mini" in problems(project(changed(CHAT, models=[{"name": "gpt-41-mini"}])))[0]


def test_the_line_of_the_value_is_given(project: Any) -> None:
    root = project(changed(CHAT, tier="fast"))
    line = problems(root)[0].split(":")[1].split(" ")[0]
    text = (root / "stacks/s/w-chat.yaml").read_text().splitlines()
    assert '"tier": "fast"' in text[int(line) - 1]


def test_no_workload_no_platform_no_folder_are_explained(project: Any, tmp_path: Path) -> None:
    assert "no workload is declared" in problems(project())[0]
    (tmp_path / "stacks/s/platform.yaml").unlink()
    assert any("platform.yaml" in item and "missing" in item for item in problems(tmp_path))
    with pytest.raises(InputError, match="there is no folder stacks/t"):
        load_stack(tmp_path, "t", load_catalog())


def test_names_are_unique(project: Any) -> None:
    root = project(CHAT)
    (root / "stacks/s/w-other.yaml").write_text(json.dumps(CHAT))
    assert "the name 'chat' is taken by stacks/s/w-chat.yaml" in problems(root)[0]


def test_platform_references_are_checked(project: Any) -> None:
    cluster = changed(CLUSTER, nodes=[{"instance": "Standard_X", "max_nodes": 1}])
    found = problems(project(CHAT, platform=changed(PLATFORM, clusters=[cluster, CLUSTER])))
    assert any("Standard_X" in item and "clusters.0.nodes.0.instance" in item for item in found)
    assert any("'gpu' is declared twice" in item for item in found)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("name: [", "expected"),
        ("name: a\nname: b\n", "duplicate key"),
        ("a: &x [1]\n" + "b: [" + "*x, " * 60 + "]\n", "aliases"),
        ("[" * 40 + "]" * 40, "nested deeper"),
        ("x: " + "y" * MAX_BYTES, "bytes"),
        ("- 1\n- 2\n", "a mapping is expected"),
        ("!!python/object/apply:os.system [echo]\n", "constructor"),
    ],
)
def test_hostile_or_broken_yaml_is_refused(project: Any, text: str, what: str) -> None:
    root = project(CHAT)
    (root / "stacks/s/w-bad.yaml").write_text(text)
    found = problems(root)
    assert any(what in item and "w-bad.yaml" in item for item in found), found


def test_yaml_is_version_1_2(project: Any) -> None:
    # YAML 1.1 would read NO as false, and the date as an object.
    root = project()
    text = json.dumps(CHAT).replace('["AU"]', "[AU, NO]").replace('"2026-10-15"', "2026-10-15")
    (root / "stacks/s/w-chat.yaml").write_text(text)
    stack = load_stack(root, "s", load_catalog())
    assert stack.workloads[0].residency.jurisdictions == ("AU", "NO")


def test_a_trace_may_not_leave_the_project(project: Any, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.csv"
    outside.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n")
    for trace in ("../outside.csv", str(outside)):
        traffic = {**CHAT["traffic"], "trace": trace}
        del traffic["tokens_per_minute"]
        found = problems(project(changed(CHAT, traffic=traffic)))
        assert "traffic.trace" in found[0]
        assert "outside" in found[0]


def test_schemas_for_editors_name_every_field() -> None:
    schemas = json_schemas()
    assert {"name", "tier", "residency", "pin"} <= set(schemas["workload"]["properties"])
    assert {"as_of", "clusters", "accounts", "rates"} <= set(schemas["platform"]["properties"])
    assert schemas["workload"]["additionalProperties"] is False


def test_an_alias_is_read_as_the_model_it_names(project: Any) -> None:
    row = {
        "provider": "azure",
        "model": "Llama-3.3-70B-Instruct",
        "deployment_type": "GlobalStandard",
        "region": "australiaeast",
        "ttft_p95_ms": 1,
        "itl_p95_ms": 1,
        "date": "2026-11-01",
        "ref": "test",
    }
    workload = changed(CHAT, models=[{"name": "llama-3.3-70b-instruct"}])
    root = project(workload, platform=changed(PLATFORM, latencies=[row]))
    stack = load_stack(root, "s", load_catalog())
    assert stack.workloads[0].models[0].name == "meta-llama/Llama-3.3-70B-Instruct"
    assert stack.platform.latencies[0].model == "meta-llama/Llama-3.3-70B-Instruct"
    bad = changed(PLATFORM, latencies=[{**row, "deployment_type": "Globl"}])
    assert any(
        "latencies.0.deployment_type" in item for item in problems(project(workload, platform=bad))
    )
