"""Completion: the scripts of three shells, and names from the project's folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from planner.cli import main
from planner.cli.setting_up import COMPLETE_VARIABLE, PROGRAM


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two stacks; one has its files elsewhere, one a broken file."""
    stacks = tmp_path / "stacks"
    for name in ("dev", "shared"):
        (stacks / name).mkdir(parents=True)
        (stacks / name / "platform.yaml").write_text("name: not-a-workload\n")
    (stacks / "Pulumi.dev.yaml").write_text("config:\n  llm-capacity:folder: dev\n")
    (stacks / "Pulumi.prod.yaml").write_text('config:\n  "llm-capacity:folder": "shared"\n')
    (stacks / "dev" / "a.yaml").write_text("name: assistant\n")
    (stacks / "dev" / "b.yaml").write_bytes(b"\xff\xfe")
    (stacks / "shared" / "c.yaml").write_text('# first\nname: "archive-search"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(*before: str, incomplete: str = "") -> list[str]:
    found = ShellComplete(main, {}, PROGRAM, COMPLETE_VARIABLE).get_completions(
        list(before), incomplete
    )
    return [item.value for item in found]


def test_stacks_come_from_their_files(folder: Path) -> None:
    assert completed("plan", "--stack") == ["dev", "prod"]
    assert completed("plan", "--stack", incomplete="p") == ["prod"]


def test_workloads_are_those_of_the_stack_or_of_all(folder: Path) -> None:
    assert completed("explain", "--stack", "prod") == ["archive-search"]
    assert completed("explain") == ["archive-search", "assistant"]
    assert completed("explain", incomplete="as") == ["assistant"]


def test_another_project_is_named_by_root(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert completed("plan", "--root", str(folder), "--stack") == ["dev", "prod"]
    assert completed("plan", "--stack") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_that_asks_this_program(shell: str) -> None:
    told = CliRunner().invoke(main, ["completion", shell])
    assert told.exit_code == 0
    assert f"{COMPLETE_VARIABLE}={shell}_complete" in told.stdout
    assert PROGRAM in told.stdout


def test_the_variable_is_the_one_that_click_reads_for_the_program() -> None:
    # click derives it from the program's name: upper case, hyphens as underscores.
    assert f"_{PROGRAM.upper().replace('-', '_')}_COMPLETE" == COMPLETE_VARIABLE
