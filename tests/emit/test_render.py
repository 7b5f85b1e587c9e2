"""Rendered files: complete, the same every time, and never over someone's work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from planner.emit.grouping import clusters
from planner.emit.layout import file_name
from planner.emit.leaks import refuse_secrets
from planner.emit.render import MARKER, documents, render, to_yaml
from planner.emit.waves import ANNOTATION, WAVES, in_wave, wave_of
from planner.errors import InputError, PlannerError
from planner.plan import Plan

ROOT = Path(__file__).parents[2]
RECORD = {
    "verdict": "allow",
    "stack": "prod",
    "evaluated_at": "2026-11-29T00:00:00Z",
    "actor": "a",
    "commit": "c",
    "run": "1",
    "pipeline_url": None,
    "decision_id": "sha256:1",
    "previous": None,
    "archive_digest": "d",
    "input_digest": "e",
}


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_has_a_file_for_each_object_and_the_evidence(plan: Plan, tmp_path: Path) -> None:
    written = render(plan, tmp_path / "out", RECORD)
    names = {path.relative_to(tmp_path / "out").as_posix() for path in written}
    assert {
        "README.md",
        "manual-steps.md",
        "plan.json",
        "policy-record.json",
        "purchases/assist.json",
        "purchases/assist.md",
        "batch-aks/kustomization.yaml",
        "batch-aks/infra/kustomization.yaml",
        "batch-aks/infra/namespace_llm-batch.yaml",
        "batch-aks/infra/priorityclass_llm-prod-batch.yaml",
        "batch-aks/workloads/kustomization.yaml",
        "batch-aks/workloads/deployment_llm-batch_digest.yaml",
        "batch-aks/workloads/service_llm-batch_digest.yaml",
        "prod-sydney/infra/nodepool_h100-interactive.yaml",
        "prod-sydney/workloads/deployment_llm-interactive_chat.yaml",
    } <= names
    assert all(path.is_file() for path in written)
    sydney = next(item for item in clusters(plan) if item.cluster == "prod-sydney")
    expected = sydney.servers[0].manifests()[0]
    text = (tmp_path / "out/prod-sydney/workloads/deployment_llm-interactive_chat.yaml").read_text()
    found = yaml.safe_load(text)  # PyYAML reads YAML 1.1, as kubectl does
    assert found["metadata"]["annotations"].pop(ANNOTATION) == "0"
    if "annotations" not in expected["metadata"]:
        del found["metadata"]["annotations"]
    assert found == expected
    assert "*id" not in text
    assert json.loads((tmp_path / "out/plan.json").read_text())["stack"] == "prod"


def test_every_object_of_every_cluster_is_in_a_file(plan: Plan) -> None:
    files = documents(plan)
    for resources in clusters(plan):
        kept = [
            yaml.safe_load(text)
            for name, text in files.items()
            if name.startswith(f"{resources.cluster}/") and not name.endswith("kustomization.yaml")
        ]
        assert len(kept) == len(resources.objects())
        for manifest in kept:
            assert int(manifest["metadata"]["annotations"][ANNOTATION]) == wave_of(manifest)
            assert manifest["kind"] in WAVES, "a kind of ours without a wave of its own"


def test_kustomizations_name_every_file_in_the_order_of_steps(plan: Plan) -> None:
    files = documents(plan)
    reached = set()
    for cluster in ("batch-aks", "prod-sydney"):
        top = yaml.safe_load(files[f"{cluster}/kustomization.yaml"])
        assert top["resources"] == ["infra", "workloads"]
        for step in top["resources"]:
            listed = yaml.safe_load(files[f"{cluster}/{step}/kustomization.yaml"])["resources"]
            assert listed == sorted(listed)
            for name in listed:
                manifest = yaml.safe_load(files[f"{cluster}/{step}/{name}"])
                assert (wave_of(manifest) < 0) == (step == "infra")
            reached |= {f"{cluster}/{step}/{name}" for name in listed}
    assert reached == {
        name for name in files if name.endswith(".yaml") and "kustomization" not in name
    }


def test_waves_are_in_the_order_in_which_things_need_each_other() -> None:
    order = ("Namespace", "PriorityClass", "PersistentVolumeClaim", "Deployment", "HTTPRoute")
    waves = [WAVES[kind] for kind in order]
    assert waves == [-3, -2, -1, 0, 2]
    assert WAVES["PodDisruptionBudget"] == WAVES["ScaledObject"] == WAVES["PodMonitor"] == 1
    assert wave_of({"kind": "Unheard"}) == 0


def test_a_wave_keeps_what_else_is_annotated() -> None:
    manifest = {"kind": "Namespace", "metadata": {"name": "a", "annotations": {"x": "y"}}}
    assert in_wave(manifest)["metadata"]["annotations"] == {"x": "y", ANNOTATION: "-3"}
    assert manifest["metadata"]["annotations"] == {"x": "y"}


def test_long_names_stay_apart_and_fit_a_file_system() -> None:
    names = {
        file_name({"kind": "Service", "metadata": {"namespace": "n" * 63, "name": "a" * 252 + end}})
        for end in "bc"
    }
    assert len(names) == 2
    assert all(len(name.encode()) <= 205 for name in names)


def test_two_objects_of_one_name_are_not_written(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.emit.layout.file_name", lambda manifest: "same.yaml")
    with pytest.raises(PlannerError, match="two objects would be written to"):
        documents(plan)


def test_the_record_says_what_was_decided_and_not_when(plan: Plan) -> None:
    text = documents(plan, RECORD)["policy-record.json"]
    assert json.loads(text) == {"verdict": "allow", "stack": "prod"}
    later = {**RECORD, "evaluated_at": "2027-01-01T00:00:00Z", "run": "2", "actor": "other"}
    assert documents(plan, later)["policy-record.json"] == text
    assert "policy-record.json" not in documents(plan)


def test_the_page_names_what_only_pulumi_makes(plan: Plan) -> None:
    page = documents(plan)["README.md"]
    for row in (
        "| AKS agent pool | batch-aks/a100-batch | 0 to 2 x Standard_NC48ads_A100_v4, resource "
        "group rg-batch |",
        "| azure deployment | oai-sydney/assist-ptu | ProvisionedManaged gpt-4.1-mini, 50 units |",
        "| aws deployment | aws-sydney/notes-payg | in_region nova-pro, 400 thousand tokens",
    ):
        assert row in page
    assert "h100-interactive" not in page  # Karpenter makes it from a file
    assert plan.capacity_digest in page
    nothing = plan.resources.model_copy(
        update={"deployments": (), "servers": (), "node_pools": (), "accounts": ()}
    )
    bare = documents(plan.model_copy(update={"resources": nothing}))["README.md"]
    assert "None: nothing here is applied to a cluster." in bare
    assert "Nothing: the files are all there is." in bare


@pytest.mark.parametrize(
    "text", ["NO", "on", "y", "1", "1e3", "0x1F", "12:30", "", "~", "a: b", "# c"]
)
def test_text_stays_text_for_kubectl(text: str) -> None:
    assert yaml.safe_load(to_yaml({"metadata": {"value": text}}))["metadata"]["value"] == text


VALUES: dict[str, Any] = {
    "empty": {"map": {}, "list": [], "text": ""},
    "numbers": [1, -2, 0.92, 1e-07, 1e22, 10**18, True, False, None],
    "nested": [[1, [2, {"a": [3]}]], {"b": [{"c": {}}, {"d": []}]}, []],
    "odd keys": {"a b": 1, "NO": 2, "a/b.c": 3, "1": 4, "": 5},
    "odd texts": [
        "a\nb",
        "tab\t",
        "\x7f\x85\u2028\ufeff",
        "caf\u00e9 \U0001f600",
        '"q"',
        "a:",
        "-",
    ],
}


@pytest.mark.parametrize("reader", ["yaml 1.1", "yaml 1.2"])
def test_every_reader_gets_back_what_was_written(reader: str) -> None:
    text = to_yaml(VALUES)
    read = yaml.safe_load if reader == "yaml 1.1" else YAML(typ="safe", pure=True).load
    assert read(text) == VALUES
    with pytest.raises(TypeError, match="object cannot be written"):
        to_yaml({"a": object()})
    with pytest.raises(ValueError, match="JSON"):
        to_yaml({"a": float("nan")})


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
    other = tmp_path / "elsewhere/clone"
    shutil.copytree(ROOT / "planner", other / "planner")
    for seed, zone, locale, clone in (
        ("0", "UTC", "C", ROOT),
        ("4711", "Pacific/Auckland", "C.UTF-8", other),
    ):
        out = tmp_path / seed
        subprocess.run(
            [sys.executable, "-c", program, str(source), str(out)],
            cwd=clone,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale},
            check=True,
        )
        trees.append(_tree(out))
    assert trees[0] == trees[1]
    assert trees[0].pop(MARKER)
    assert trees[0] == {name: text.encode() for name, text in documents(plan).items()}


def test_rendering_imports_no_pulumi() -> None:
    program = "import sys, planner.emit.render; sys.exit('pulumi' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_no_secret_is_rendered(plan: Plan) -> None:
    for name, text in documents(plan).items():
        assert "kind: Secret" not in text, name
        assert "kubeconfig" not in text.lower(), name


TOKEN = "hf_" + "a" * 34


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ({"kind": "Secret", "data": {"a": "Yg=="}}, "a Secret with its data"),
        ({"kind": "Secret", "stringData": {"a": "b"}}, "a Secret with its data"),
        ({"kind": "Deployment", "spec": {"env": [TOKEN]}}, "spec.env.0 looks like a Hugging Face"),
        ({"kind": "ConfigMap", "data": {"password": "hunter2hunter2"}}, "data.password looks"),
        ({"kind": "ConfigMap", "data": {TOKEN: "x"}}, "data looks like a Hugging Face"),
    ],
)
def test_what_holds_a_secret_is_refused_and_not_shown(manifest: dict[str, Any], told: str) -> None:
    with pytest.raises(PlannerError, match=f"c/x.yaml: {told}") as caught:
        refuse_secrets({"c/x.yaml": manifest}, {})
    assert TOKEN not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_secret_may_be_named(plan: Plan) -> None:
    refuse_secrets({"a": {"kind": "Secret", "metadata": {"name": "hub"}}}, {"b.md": "no secret"})
    with pytest.raises(PlannerError, match=r"b.md:2: looks like"):
        refuse_secrets({}, {"b.md": f"line\n{TOKEN}\n"})


def test_a_folder_with_a_secret_is_not_written(plan: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(plan, out)
    before = _tree(out)
    server = plan.resources.servers[0]
    leaking = server.model_copy(update={"labels": {**server.labels, "owner": TOKEN}})
    resources = plan.resources.model_copy(update={"servers": (leaking,)})
    with pytest.raises(PlannerError, match="would hold a secret") as caught:
        render(plan.model_copy(update={"resources": resources}), out)
    assert TOKEN not in str(caught.value)
    assert _tree(out) == before


def test_an_old_render_is_replaced_whole(plan: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(plan, out)
    smaller = plan.resources.model_copy(
        update={"servers": plan.resources.servers[:1], "node_pools": plan.resources.node_pools[:1]}
    )
    render(plan.model_copy(update={"resources": smaller}), out)
    assert not (out / "batch-aks").exists()
    assert (out / "prod-sydney/workloads/deployment_llm-interactive_chat.yaml").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_someones_folder_is_left_alone(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not written by a render"):
        render(plan, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_added_to_a_render_is_not_lost(plan: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    render(plan, out)
    (out / "prod-sydney/patch.yaml").write_text("resources: []")
    before = _tree(out)
    with pytest.raises(InputError, match="patch"):
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
