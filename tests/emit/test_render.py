"""Rendered files: complete, the same every time, and never over someone's work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from planner.emit.grouping import clusters
from planner.emit.render import MARKER, documents, render, to_yaml
from planner.errors import InputError, PlannerError
from planner.plan import Plan

ROOT = Path(__file__).parents[2]


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_files_are_the_manifests(plan: Plan, tmp_path: Path) -> None:
    written = render(plan, tmp_path / "out")
    names = [path.relative_to(tmp_path / "out").as_posix() for path in written]
    assert names == [
        "batch-aks/0-namespace_batch.yaml",
        "batch-aks/1-priorityclass_llm-prod-batch.yaml",
        "batch-aks/3-deployment_batch_digest.yaml",
        "batch-aks/3-service_batch_digest.yaml",
        "batch-aks/agent-pools.md",
        "manual-steps.md",
        "prod-sydney/0-namespace_llm.yaml",
        "prod-sydney/1-priorityclass_llm-prod-interactive.yaml",
        "prod-sydney/2-nodepool_h100-interactive.yaml",
        "prod-sydney/3-deployment_llm_chat.yaml",
        "prod-sydney/3-service_llm_chat.yaml",
    ]
    assert all(path.is_file() for path in written)
    sydney = next(item for item in clusters(plan) if item.cluster == "prod-sydney")
    expected = sydney.servers[0].manifests()[0]
    text = (tmp_path / "out/prod-sydney/3-deployment_llm_chat.yaml").read_text()
    assert yaml.safe_load(text) == expected  # PyYAML reads YAML 1.1, as kubectl does
    assert "*id" not in text
    assert "{" not in text.replace("{}", "")


@pytest.mark.parametrize(
    "text", ["NO", "on", "y", "1", "1e3", "0x1F", "12:30", "", "~", "a: b", "# c"]
)
def test_text_stays_text_for_kubectl(text: str) -> None:
    assert yaml.safe_load(to_yaml({"metadata": {"value": text}}))["metadata"]["value"] == text


def test_two_renders_are_byte_identical(plan: Plan, tmp_path: Path) -> None:
    render(plan, tmp_path / "one")
    render(plan, tmp_path / "two")
    first = _tree(tmp_path / "one")
    assert first == _tree(tmp_path / "two")
    render(plan, tmp_path / "one")
    assert first == _tree(tmp_path / "one")


def test_the_bytes_do_not_depend_on_the_process(plan: Plan, tmp_path: Path) -> None:
    source = tmp_path / "plan.json"
    source.write_text(plan.model_dump_json())
    program = (
        "import sys; from pathlib import Path; from planner.plan import Plan;"
        "from planner.emit.render import render;"
        "render(Plan.model_validate_json(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))"
    )
    trees = []
    for seed, zone, locale in (("0", "UTC", "C"), ("4711", "Pacific/Auckland", "C.UTF-8")):
        out = tmp_path / seed
        subprocess.run(
            [sys.executable, "-c", program, str(source), str(out)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale},
            check=True,
        )
        trees.append(_tree(out))
    assert trees[0] == trees[1] == {name: text.encode() for name, text in documents(plan).items()}


def test_rendering_imports_no_pulumi() -> None:
    program = "import sys, planner.emit.render; sys.exit('pulumi' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_no_secret_is_rendered(plan: Plan) -> None:
    for name, text in documents(plan).items():
        assert "kind: Secret" not in text, name
        assert "kubeconfig" not in text.lower(), name


def test_an_old_render_is_replaced_whole(plan: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(plan, out)
    smaller = plan.resources.model_copy(
        update={"servers": plan.resources.servers[:1], "node_pools": plan.resources.node_pools[:1]}
    )
    render(plan.model_copy(update={"resources": smaller}), out)
    assert not (out / "batch-aks").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_someones_folder_is_left_alone(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not written by a render"):
        render(plan, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_added_to_a_render_is_not_lost(plan: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(plan, out)
    (out / "prod-sydney/kustomization.yaml").write_text("resources: []")
    before = _tree(out)
    with pytest.raises(InputError, match="kustomization"):
        render(plan, out)
    assert _tree(out) == before


@pytest.mark.parametrize("marker", ["", "[]", "{}", '{"files": 3}'])
def test_a_broken_marker_claims_nothing(plan: Plan, tmp_path: Path, marker: str) -> None:
    (tmp_path / MARKER).write_text(marker)
    with pytest.raises(InputError):
        render(plan, tmp_path)


def test_a_link_is_not_followed(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    with pytest.raises(InputError, match="not a folder"):
        render(plan, tmp_path / "out")


def test_an_empty_folder_is_taken(plan: Plan, tmp_path: Path) -> None:
    render(plan, tmp_path)
    assert (tmp_path / MARKER).is_file()


@pytest.mark.parametrize("verdict", ["deny", "unavailable"])
def test_a_denied_plan_is_not_rendered(plan: Plan, tmp_path: Path, verdict: str) -> None:
    with pytest.raises(PlannerError, match=verdict):
        render(plan.model_copy(update={"verdict": verdict}), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_agent_pools_are_noted(plan: Plan) -> None:
    note = documents(plan)["batch-aks/agent-pools.md"]
    assert "rg-batch | Standard_NC48ads_A100_v4 | 0 to 2" in note
    assert "`llm-capacity.dev/gpu-pool=a100-batch`" in note
