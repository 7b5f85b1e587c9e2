"""A baseline is a file, a revision or what was deployed; what is none of them is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from planner.against import Baseline, baseline_of
from planner.comparing import compare, snapshot_of
from planner.comparing.packed import packed, unpacked
from planner.deployed import OUTPUT
from planner.errors import InputError
from planner.git_tree import changed_since_commit, commit_of, folder_at, head_of
from planner.plan import Plan
from tests.comparing.conftest import PEAK, Planned, commit, edited, git
from tests.test_plan_reading import TEXT

STACK = "dev"


def never(folder: Path) -> Plan:
    raise AssertionError(f"{folder} need not be planned")


def against(root: Path, name: str, stack: str = STACK) -> Baseline:
    return baseline_of(root, stack, name, never)


def refused(root: Path, name: str, stack: str = STACK) -> str:
    with pytest.raises(InputError) as caught:
        against(root, name, stack)
    (problem,) = caught.value.problems
    assert problem.fix
    return f"{problem.code.id if problem.code else ''} {problem.where}: {problem.what}"


def outputs(planned: Planned) -> dict[str, object]:
    return {
        OUTPUT: packed(snapshot_of(planned(STACK).plan).deployed().to_json()),
        "verdict": "warn",
    }


def test_a_plan_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(TEXT)
    found = against(tmp_path, "plan.json")
    assert found.label == "plan.json"
    assert found.snapshot.kind == "plan"
    assert found.snapshot.totals.total_usd_per_month == 72.1871849176


@pytest.mark.parametrize("form", ["outputs", "state"])
def test_a_deployed_stack_is_read_from_a_file(form: str, tmp_path: Path, planned: Planned) -> None:
    found = outputs(planned)
    state = {
        "version": 3,
        "deployment": {
            "resources": [
                {"urn": "urn:x", "type": "pulumi:providers:azure-native"},
                {"urn": "urn:s", "type": "pulumi:pulumi:Stack", "outputs": found},
            ]
        },
    }
    (tmp_path / "file.json").write_text(json.dumps(found if form == "outputs" else state))
    snapshot = against(tmp_path, "file.json").snapshot
    assert snapshot.kind == "deployed"
    assert compare(snapshot, planned(STACK).plan).empty


def test_a_state_without_a_stack_has_nothing_deployed(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"version": 3, "deployment": {}}))
    assert against(tmp_path, "state.json").snapshot.kind == "nothing"


def test_outputs_that_cannot_be_read_are_refused(tmp_path: Path, planned: Planned) -> None:
    def told(value: object) -> str:
        (tmp_path / "outputs.json").write_text(json.dumps({OUTPUT: value}))
        return refused(tmp_path, "outputs.json")

    line = str(outputs(planned)[OUTPUT])
    whole = json.loads(unpacked(line))
    for odd in ("{}", line[:-8], line + "x", packed("{"), packed("[]")):
        assert told(odd).startswith("E606 outputs.json: its plan_summary is no summary of a plan")
    assert told(None).startswith("E606 outputs.json: its outputs have no plan_summary")
    empty = told(packed("{}"))
    assert empty.startswith("E606 outputs.json: its plan_summary cannot be read: stack")
    assert told(packed(json.dumps({**whole, "schema_version": 2}))).startswith("E605 ")
    assert told(packed(json.dumps({**whole, "schema_version": "1"}))).startswith("E605 ")
    assert told(packed(json.dumps({**whole, "more": 1}))).startswith("E606 ")


def test_an_older_release_deployed_no_summary(tmp_path: Path) -> None:
    state = {
        "deployment": {
            "resources": [{"type": "pulumi:pulumi:Stack", "outputs": {"verdict": "allow"}}]
        }
    }
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert "an older release deployed it" in refused(tmp_path, "state.json")


def test_a_plan_of_another_stack_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(TEXT)
    assert "is a plan of stack dev, not of prod" in refused(tmp_path, "plan.json", "prod")


def test_what_is_neither_file_nor_revision_is_refused(clone: Path, tmp_path: Path) -> None:
    for name in ("nowhere", "HEAD~9", "main:stacks", "--all", "-x", "", " "):
        assert refused(clone, name).startswith("E606 --against: "), name
    assert refused(tmp_path, "main").startswith("E606 --against: ")


def test_without_git_it_says_so(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert refused(clone, "main").startswith("E606 git: it is not installed")
    assert head_of(clone) is None


def state_of(folder: Path) -> tuple[str, ...]:
    # Asking for the status renews times in the index: it is asked first.
    status = git(folder, "status", "--porcelain")
    index = hashlib.sha256((folder / ".git" / "index").read_bytes()).hexdigest()
    return index, status, git(folder, "worktree", "list")


def test_a_revision_leaves_the_checkout_alone(clone: Path) -> None:
    base = git(clone, "rev-parse", "HEAD")
    edited(clone, "bank-au", PEAK)
    (clone / "stacks" / "bank-au" / "new.yaml").write_text("not: tracked\n")
    git(clone, "add", "stacks/bank-au/adviser-assist.yaml")
    before = state_of(clone)
    original = git(clone, "show", "HEAD:stacks/bank-au/adviser-assist.yaml")
    with folder_at(clone, base) as folder:
        kept = folder
        assert (folder / "stacks/bank-au/adviser-assist.yaml").read_text().strip() == original
        assert not (folder / "stacks/bank-au/new.yaml").exists()
        assert (folder / "policies").is_dir()
        assert not (folder / ".git").exists()
    assert not kept.exists()
    assert changed_since_commit(clone)
    assert state_of(clone) == before


def test_a_hooks_environment_does_not_decide(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_PREFIX", "stacks/")
    with folder_at(clone, commit_of(clone, "main")) as folder:
        assert (folder / "stacks/dev/platform.yaml").is_file()


def test_a_project_inside_of_a_repository(tmp_path: Path) -> None:
    project = tmp_path / "infra" / "llm"
    (project / "stacks" / "dev").mkdir(parents=True)
    (project / "stacks" / "dev" / "platform.yaml").write_text("as_of: 2026-11-29\n")
    (tmp_path / "other.txt").write_text("not of the project\n")
    git(tmp_path, "init", "--quiet")
    made = commit(tmp_path, "one")
    with folder_at(project, made) as folder:
        assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
            "platform.yaml"
        ]
        assert folder.name == "llm"
    assert head_of(project) == made
    assert not changed_since_commit(project)


def test_a_revision_is_planned_as_it_was_declared(clone: Path, planned: Planned) -> None:
    edited(clone, "bank-au", PEAK)
    changed = commit(clone, "more demand")
    seen: list[str] = []

    def plan_at(folder: Path) -> Plan:
        text = (folder / "stacks/bank-au/adviser-assist.yaml").read_text()
        seen.append("520545" if "peak: 520545" in text else "400419")
        return planned("bank-au").plan

    found = baseline_of(clone, "bank-au", "HEAD~1", plan_at)
    assert found.label == f"HEAD~1 ({git(clone, 'rev-parse', 'HEAD~1')[:12]})"
    assert baseline_of(clone, "bank-au", changed, plan_at).label == changed
    assert seen == ["400419", "520545"]


def test_a_revision_without_the_stack_has_nothing_there(clone: Path) -> None:
    git(clone, "rm", "-r", "--quiet", "stacks/dev", "stacks/Pulumi.dev.yaml")
    commit(clone, "before dev")
    found = against(clone, "HEAD")
    assert found.snapshot.kind == "nothing"
    assert "which does not have this stack" in found.label


def test_a_revision_that_cannot_be_planned_names_it(clone: Path) -> None:
    def plan_at(folder: Path) -> Plan:
        from planner import faults

        raise InputError([faults.UNKNOWN_KEY.at("stacks/dev/platform.yaml", "unknown key 'x'")])

    with pytest.raises(InputError, match=r"main: stacks/dev/platform\.yaml: unknown key 'x'"):
        baseline_of(clone, STACK, "main", plan_at)


def test_a_file_wins_over_a_revision(clone: Path) -> None:
    (clone / "main").write_text(TEXT)
    assert against(clone, "main").snapshot.kind == "plan"


def test_without_pulumi_the_deployed_stack_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert refused(tmp_path, "deployed").startswith("E606 pulumi: it is not on PATH")


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo 'error: no stack named dev found' >&2; exit 255", "no stack named dev found"),
        ("exit 1", "it said nothing"),
        ("echo '[]'", "no JSON object"),
        ("echo hello", "no JSON object"),
    ],
)
def test_an_engine_that_does_not_answer(
    script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bin" / "pulumi"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    assert told in refused(tmp_path, "deployed")
