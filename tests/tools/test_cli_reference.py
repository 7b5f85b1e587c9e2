"""docs/cli.md is what the commands say."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli import COMMANDS
from tools import cli_reference


def test_the_page_is_current() -> None:
    assert cli_reference.run(["--check"]) == 0, "run `make docs`"


def test_a_page_that_differs_is_told_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / cli_reference.PAGE
    page.parent.mkdir()
    page.write_text("older\n")
    assert cli_reference.run(["--check"], tmp_path) == 1
    assert "make docs" in capsys.readouterr().err
    assert cli_reference.run([], tmp_path) == 0
    assert cli_reference.run(["--check"], tmp_path) == 0


def test_the_page_has_a_section_for_every_command_and_its_inner_ones() -> None:
    page = cli_reference.page_text()
    for entry in COMMANDS:
        assert f"\n## {entry.name}\n" in page
    assert "\n### waivers sign\n" in page
    assert "| `--stack` `TEXT` | Stack name, as in stacks/Pulumi.NAME.yaml (required) |" in page
