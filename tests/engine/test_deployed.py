"""What a deployed stack says of itself, read back by the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.against import baseline_of
from planner.comparing import compare, snapshot_of
from planner.comparing.packed import packed
from planner.deployed import OUTPUT
from planner.plan import Plan
from planner.plan_reading import read_plan
from tests.test_plan_reading import TEXT

pytestmark = pytest.mark.engine


def never(folder: Path) -> Plan:
    raise AssertionError(f"{folder} need not be planned")


def test_the_deployed_stack_is_asked(
    throw_away: Any, engine_env: Any, run_pulumi: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = read_plan(TEXT)
    summary = packed(snapshot_of(plan).deployed().to_json())
    project = throw_away(f"import pulumi\npulumi.export({OUTPUT!r}, {summary!r})\n")
    for name, value in engine_env.items():
        monkeypatch.setenv(name, value)

    before = baseline_of(project, "dev", "deployed", never)
    assert before.snapshot.kind == "nothing"

    up = run_pulumi(["up", "--yes", "--skip-preview", "--stack", "dev"], project, engine_env)
    assert up.returncode == 0, up.stderr
    deployed = baseline_of(project, "dev", "deployed", never)
    assert deployed.label == "the deployed stack dev"
    assert compare(deployed.snapshot, plan).empty

    # The exported state tells the same, without an engine.
    exported = run_pulumi(["stack", "export", "--file", "state.json"], project, engine_env)
    assert exported.returncode == 0, exported.stderr
    assert json.loads((project / "state.json").read_text())["version"] == 3
    monkeypatch.setenv("PATH", "")
    found = baseline_of(project, "dev", "state.json", never)
    assert found.snapshot == deployed.snapshot
