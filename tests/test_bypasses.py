"""Ways around the gates that people try, each tried through the command line.

Others of the same kind lie beside what they attack: `up` without the pack, a resource added
beside the plan (tests/engine/test_policy_pack.py), an edited state (the same, and below), a
waiver approved by its author or backdated (tests/policy/test_waivers_*.py), a forged record
(tests/policy/test_record_chain.py, test_replay.py).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from planner.cli import main
from tests.projects import CHAT, changed


def run(root: Path, *words: str) -> Any:
    return CliRunner().invoke(main, [*words, "--root", str(root)])


@pytest.fixture
def approved(project: Callable[..., Path]) -> Path:
    """A project whose plan somebody approved, kept as its baseline."""
    root = project(CHAT)
    assert run(root, "plan", "--stack", "s").exit_code == 0
    shutil.copyfile(root / "out" / "s" / "plan.json", root / "approved.json")
    return root


def redeclared(root: Path, **changes: Any) -> None:
    (root / "stacks" / "s" / "w-chat.yaml").write_text(json.dumps(changed(CHAT, **changes)))


@pytest.mark.parametrize(
    "changes",
    [{"classification": "internal"}, {"residency__jurisdictions": ["AU", "US"]}],
    ids=["classification", "residency"],
)
def test_protection_is_not_loosened_in_passing(approved: Path, changes: dict[str, Any]) -> None:
    redeclared(approved, **changes)
    words = ("check", "--stack", "s", "--baseline", "approved.json")
    answer = run(approved, *words)
    assert answer.exit_code == 5, answer.output
    assert "DENY CLS-002" in answer.output
    assert "data protection" in answer.output
    redeclared(approved)
    assert run(approved, *words).exit_code == 0


def test_a_baseline_of_a_looser_plan_does_not_bind(approved: Path) -> None:
    redeclared(approved, classification="restricted", residency__jurisdictions=["AU"])
    answer = run(approved, "check", "--stack", "s", "--baseline", "approved.json")
    assert "CLS-002" not in answer.output


def test_a_listed_asset_cannot_be_declared_less(project: Callable[..., Path]) -> None:
    """Without any baseline: policy data has the asset's owner and least classification."""
    root = project(
        changed(
            CHAT,
            data_asset="suspicious matter case files",
            signed_off_by="financial-crime data owner",
            classification="internal",
        ),
    )
    answer = run(root, "check", "--stack", "s")
    assert answer.exit_code == 5, answer.output
    assert "DENY CLS-001" in answer.output


def test_an_edited_state_is_found(approved: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    urn = "urn:pulumi:s::llm-capacity::{0}::beside"
    kind = "azure-native:cognitiveservices:Deployment"
    resource = {
        "urn": urn.format(kind),
        "type": kind,
        "custom": True,
        "inputs": {"sku": {"name": "GlobalStandard", "capacity": 10}, "deploymentName": "beside"},
    }
    state.write_text(json.dumps({"version": 3, "deployment": {"resources": [resource]}}))
    answer = run(approved, "audit", str(state))
    assert answer.exit_code == 5, answer.output
    assert answer.output.startswith("DENY")
    assert "DENY RSC-001" in answer.output
