"""A program in YAML through the real engine: the plugin plans, gates and registers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from ruamel.yaml import YAML

from tools.shell_env import PROJECT
from tools.yaml_host import yaml_host

pytestmark = pytest.mark.engine

STACK = "dev"
Preview = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The example and the policies that judge it, as in a clone."""
    clone = tmp_path / "clone"
    shutil.copytree(PROJECT / "policies", clone / "policies")
    shutil.copytree(PROJECT / "examples" / "yaml", clone / "examples" / "yaml")
    return clone / "examples" / "yaml"


@pytest.fixture
def pulumi(example: Path, tmp_path: Path, engine_env: dict[str, str], run_pulumi: Any) -> Preview:
    """`pulumi(*command)` in the example's folder, with a backend of its own."""
    host = yaml_host(engine_env)
    if host is None:
        pytest.skip("the YAML language host is not built: run `python -m tools.yaml_host`")
    if shutil.which("pulumi-resource-llm-capacity", path=engine_env["PATH"]) is None:
        pytest.fail("the plugin is not installed: run `make setup`")
    (tmp_path / "backend").mkdir()
    env = {
        **engine_env,
        "PATH": f"{host.parent}:{engine_env['PATH']}",
        "PULUMI_BACKEND_URL": f"file://{tmp_path / 'backend'}",
    }

    def run(*command: str, **more: str) -> CompletedProcess[str]:
        if not (tmp_path / "backend" / ".pulumi").exists():
            made = run_pulumi(["stack", "init", STACK, "--non-interactive"], example, env)
            assert made.returncode == 0, made.stderr
        whole = [*command, "--stack", STACK, "--non-interactive"]
        answer: CompletedProcess[str] = run_pulumi(whole, example, {**env, **more})
        return answer

    return run


def told(answer: CompletedProcess[str]) -> str:
    return answer.stdout + answer.stderr


def edit(example: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the properties of the example's component."""
    yaml = YAML()
    program = yaml.load(example / "Pulumi.yaml")
    change(program["resources"]["capacity"]["properties"])
    yaml.dump(program, example / "Pulumi.yaml")


def test_a_yaml_program_declares_a_workload_and_gets_its_capacity(
    pulumi: Preview, example: Path
) -> None:
    answer = pulumi("preview")
    assert answer.returncode == 0, told(answer)
    for part in (
        "llm-capacity:index:Capacity",
        "azure-native:cognitiveservices:Deployment",
        "product-chat: ",
        'model         : "gpt-4.1-mini"',
    ):
        assert part in answer.stdout, told(answer)
    declared = example.parent.parent / "out" / "declared" / STACK
    plan = json.loads((declared / "out" / STACK / "plan.json").read_text())
    assert plan["decisions"][0]["workload"] == "product-chat"
    assert plan["capacity_digest"] in answer.stdout
    record = json.loads((declared / "out" / STACK / "policy-record.jsonl").read_text())
    assert record["capacity_digest"] == plan["capacity_digest"]
    steps = json.loads(pulumi("preview", "--json").stdout)["steps"]
    component = next(s["newState"] for s in steps if s["newState"]["type"].endswith(":Capacity"))
    inside = [s["newState"] for s in steps if s["newState"].get("parent") == component["urn"]]
    assert [item["type"] for item in inside] == ["llm-capacity:azure:AzureDeployments"]


def test_a_denial_fails_the_program_with_its_reasons(pulumi: Preview, example: Path) -> None:
    edit(example, lambda one: one["workloads"][0].update(pin={"deploymentType": "GlobalStandard"}))
    answer = pulumi("preview")
    assert answer.returncode != 0
    for part in ("denied by policy", "RES-001", "product-chat", "citation:", "remedy:"):
        assert part in told(answer), told(answer)
    assert "Traceback" not in told(answer)
    assert 'File "' not in told(answer)
    assert "AzureDeployments" not in told(answer)
    plan = example.parent.parent / "out" / "declared" / STACK / "out" / STACK / "plan.json"
    assert json.loads(plan.read_text())["verdict"] == "deny"


def test_a_wrong_value_is_told_by_the_key(pulumi: Preview, example: Path) -> None:
    def wrong(one: dict[str, Any]) -> None:
        one["workloads"][0]["horizonMonths"] = 900
        one["platform"]["accounts"][0]["region"] = "nowhere"

    edit(example, wrong)
    answer = pulumi("preview")
    assert answer.returncode != 0
    assert "product-chat.yaml" in told(answer)
    assert "horizon_months" in told(answer)
    assert "nowhere" in told(answer)
    assert "Traceback" not in told(answer)

    # What the schema does not know is found before the plugin is asked.
    edit(example, lambda one: one["workloads"][0].update(colour="red"))
    unknown = pulumi("preview")
    assert unknown.returncode != 0
    assert "colour" in told(unknown)


def test_a_real_run_needs_the_pack_and_the_approved_plan(pulumi: Preview, example: Path) -> None:
    up = ("up", "--yes", "--skip-preview")
    without = pulumi(*up)
    assert without.returncode != 0
    assert "Run again with --policy-pack" in told(without)
    assert "does not create" not in told(without)

    clone = example.parent.parent
    root = {"LLM_CAPACITY_ROOT": str(clone / "out" / "declared" / STACK)}
    pack = ("--policy-pack", str(clone / "policies" / "pulumi"))
    with_pack = pulumi(*up, *pack, **root)
    assert "does not create azure-native resources" in told(with_pack), told(with_pack)

    edit(example, lambda one: one.update(approvedDigest="0" * 64))
    other = pulumi(*up, *pack, **root)
    assert other.returncode != 0
    assert "this is not the plan that was approved" in told(other)
    assert "does not create" not in told(other)


def test_a_stack_of_a_projects_own_files_is_planned_as_well(pulumi: Preview, example: Path) -> None:
    shutil.copytree(PROJECT / "stacks", example.parent.parent / "stacks")

    def files(one: dict[str, Any]) -> None:
        del one["workloads"], one["platform"]
        one["stack"] = "dev"

    edit(example, files)
    answer = pulumi("preview")
    assert answer.returncode == 0, told(answer)
    assert (example.parent.parent / "out" / "dev" / "plan.json").is_file()


@pytest.mark.parametrize("language", ["go", "nodejs"])
def test_every_language_can_take_the_schema(
    language: str, engine_env: dict[str, str], run_pulumi: Any, tmp_path: Path
) -> None:
    plugin = shutil.which("pulumi-resource-llm-capacity", path=engine_env["PATH"])
    out = ("--language", language, "--out", str(tmp_path / "sdk"))
    answer = run_pulumi(["package", "gen-sdk", str(plugin), *out], tmp_path, engine_env)
    # The engine binds the whole schema before it asks for the generator of the language.
    absent = f"no language plugin 'pulumi-language-{language}'" in told(answer)
    assert answer.returncode == 0 or absent, told(answer)
