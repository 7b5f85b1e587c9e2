"""`validate`: declared files alone, every problem of every stack at once, no engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planner.cli import main
from tests.projects import CHAT, PLATFORM, changed
from tools.shell_env import PROJECT


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, ["validate", *(str(argument) for argument in arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_examples_are_valid_without_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    result = run("--root", PROJECT)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "bank-au: valid, 4 workloads",
        "dev: valid, 2 workloads",
        "saas-global: valid, 4 workloads",
    ]


def test_every_problem_of_every_file_is_told_with_its_line(project: Any) -> None:
    one = changed(CHAT, tier="slow", models=[{"name": "gpt-0"}])
    two = changed(CHAT, name="other", horizon_months=0)
    root = project(one, two, platform={**PLATFORM, "acounts": []})
    result = run("--root", root, "--stack", "s", "--format", "json")
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    assert found["valid"] is False
    (stack,) = found["stacks"]
    where = [problem["where"] for problem in stack["problems"]]
    assert any("w-chat.yaml" in place and "(tier)" in place for place in where)
    assert any("w-other.yaml" in place and "(horizon_months)" in place for place in where)
    assert any("platform.yaml" in place and "(acounts)" in place for place in where)
    assert all(problem["code"] and problem["fix"] for problem in stack["problems"])
    assert result.stderr == f"error: {len(where)} problems in the input\n"
    told = run("--root", root, "--stack", "s").stdout.splitlines()
    assert told[0] == f"s: {len(where)} problems"
    assert len(told) == 1 + len(where)


def test_a_reference_to_nothing_in_the_catalog_is_a_problem(project: Any) -> None:
    root = project(changed(CHAT, models=[{"name": "gpt-0"}]))
    result = run("--root", root, "--stack", "s")
    assert result.exit_code == 2
    assert "gpt-0" in result.stdout


def test_one_bad_stack_does_not_hide_another(tmp_path: Path) -> None:
    init = CliRunner().invoke(main, ["init", "--root", str(tmp_path), "--as-of", "2026-11-30"])
    assert init.exit_code == 0
    (tmp_path / "stacks" / "Pulumi.gone.yaml").write_text("config: {}\n")
    result = run("--root", tmp_path)
    assert result.exit_code == 2
    assert "dev: valid, 1 workload" in result.stdout
    assert "gone: 1 problem\n" in result.stdout
    assert ".schemas" not in result.stdout


def test_a_folder_without_stacks_is_bad_input(tmp_path: Path) -> None:
    result = run("--root", tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "llm-capacity init" in result.stderr
