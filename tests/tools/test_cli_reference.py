"""docs/cli.md is what the commands say."""

from __future__ import annotations

from planner.cli import COMMANDS
from tools import cli_reference
from tools.generated import stale
from tools.shell_env import PROJECT


def test_the_page_is_current() -> None:
    assert stale(PROJECT, cli_reference.texts(PROJECT)) == [], "run `make docs`"


def test_the_page_has_a_section_for_every_command_and_its_inner_ones() -> None:
    page = cli_reference.page_text()
    for entry in COMMANDS:
        assert f"\n## {entry.name}\n" in page
    assert "\n### waivers sign\n" in page
    assert "| `--stack` `TEXT` | Stack name, as in stacks/Pulumi.NAME.yaml (required) |" in page
