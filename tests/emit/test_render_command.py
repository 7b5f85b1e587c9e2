"""`llm-capacity render`: the whole folder from declared files, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result

from planner.cli import main
from tests.projects import CHAT, changed


def rendered(root: Path, out: Path, at: str = "2026-11-29") -> Result:
    arguments = ["render", "--stack", "s", "--root", str(root), "--out", str(out), "--at", at]
    return CliRunner().invoke(main, arguments)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_changes_when_a_decision_does(
    project: Callable[..., Path], tmp_path: Path
) -> None:
    root, out = project(CHAT), tmp_path / "deploy" / "s"
    answer = rendered(root, out)
    assert answer.exit_code == 0, answer.output
    first = tree(out)
    assert first["plan.json"] == (root / "out/s/plan.json").read_bytes()
    record = json.loads(first["policy-record.json"])
    run = json.loads((root / "out/s/policy-record.jsonl").read_text())
    assert record["verdict"] == run["verdict"]
    assert record["findings"] == run["findings"]
    assert record["capacity_digest"] == json.loads(first["plan.json"])["capacity_digest"]

    # Another moment and another run, the same decision.
    assert rendered(root, out, "2026-11-30").exit_code == 0
    assert tree(out) == first
    assert len((root / "out/s/policy-record.jsonl").read_text().splitlines()) == 2

    project(changed(CHAT, objectives={"dedicated": True}))
    assert rendered(root, out).exit_code == 0
    assert tree(out)["plan.json"] != first["plan.json"]


def test_what_the_policy_denies_is_not_rendered(
    project: Callable[..., Path], tmp_path: Path
) -> None:
    root, out = project(CHAT), tmp_path / "deploy"
    assert rendered(root, out).exit_code == 0
    before = tree(out)
    project(changed(CHAT, residency={"jurisdictions": ["NZ"]}))
    denied = rendered(root, out)
    assert denied.exit_code == 5
    assert tree(out) == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".deploy")]
