"""The table of commands says what the commands say, and telling it imports none of them."""

from __future__ import annotations

import subprocess
import sys

import rich_click as click
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from planner.cli import COMMANDS, main
from planner.cli.lazy import Entry, LazyGroup


def test_every_row_is_the_commands_own_name_and_sentence() -> None:
    for entry in COMMANDS:
        command = main.commands[entry.name]
        assert command.name == entry.name
        first = (command.help or "").split("\n\n")[0]
        assert " ".join(first.split()) == entry.told


def test_help_lists_every_command_under_its_heading() -> None:
    told = CliRunner().invoke(main, ["--help"], terminal_width=200).output
    for entry in COMMANDS:
        assert f" {entry.name} " in told
        assert f"─ {entry.panel} ─" in told


def test_help_and_completion_import_nothing_that_plans() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from planner.cli import main\n"
        "CliRunner().invoke(main, ['--help'])\n"
        "heavy = {'pydantic', 'numpy', 'planner.api', 'planner.cli.deciding', 'pulumi'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_command_is_imported_when_it_is_looked_up_and_an_unknown_one_is_refused() -> None:
    group = LazyGroup(name="g")
    group.use([Entry("schema", "planner.cli.setting_up:schema", "Start", "told")])
    context = click.Context(group)
    assert group.list_commands(context) == ["schema"]
    found = group.get_command(context, "schema")
    assert found is not None
    assert found.name == "schema"
    assert group.get_command(context, "nothing") is None


def test_names_are_completed_with_their_sentence() -> None:
    found = ShellComplete(main, {}, "llm-capacity", "_X").get_completions([], "pl")
    assert [(item.value, item.help) for item in found] == [
        ("plan", "Decide the stack and print the plan; write plan and record to out/STACK/.")
    ]
