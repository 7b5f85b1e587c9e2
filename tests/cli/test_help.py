"""Help: every command has examples, every example is a command line that parses."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner

from planner.cli import COMMANDS, main

NAMES = [entry.name for entry in COMMANDS]


def examples_of(name: str) -> list[str]:
    epilog = main.commands[name].epilog or ""
    return [line.removeprefix("$ ") for line in epilog.split("\n\n") if line.startswith("$ ")]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_and_examples_that_parse(name: str) -> None:
    lines = examples_of(name)
    assert any(name in line for line in lines)
    for line in lines:
        # eval "$(llm-capacity env)" holds its command; what follows > is the shell's.
        inner = line.removeprefix('eval "$(').removesuffix(')"').split(" > ")[0]
        program, *arguments = shlex.split(inner)
        if program != "llm-capacity":
            assert program == "pulumi"
            continue
        context = click.Context(main, info_name="llm-capacity")
        found, command, rest = main.resolve_command(context, arguments)
        assert command is not None
        command.make_context(found, list(rest), parent=context)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_has_help_and_options_are_grouped_where_they_are_many(name: str) -> None:
    command = main.commands[name]
    options = [item for item in command.params if isinstance(item, click.Option)]
    assert all(option.help for option in options)
    assert isinstance(command, click.RichCommand)
    if len(options) > 7:
        assert command.panels


def test_help_is_the_same_bytes_when_piped_twice_and_has_no_escape() -> None:
    runner = CliRunner(env={"COLUMNS": "100"})
    first = runner.invoke(main, ["plan", "--help"]).output
    assert first == runner.invoke(main, ["plan", "--help"]).output
    assert "\x1b" not in first
    assert "Examples:" in first


def on_a_terminal(*arguments: str, cwd: Path, **env: str) -> str:
    """What a command prints where both streams are a terminal."""
    parent, child = pty.openpty()
    base = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "planner", *arguments],
        cwd=cwd,
        env={**base, "TERM": "xterm-256color", "COLUMNS": "100", **env},
        stdin=child,
        stdout=child,
        stderr=child,
    ) as process:
        os.close(child)
        told = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            told += part
        process.wait()
    os.close(parent)
    return told.decode()


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_that_want_it(
    tmp_path: Path, env: dict[str, str], coloured: bool
) -> None:
    # No project here: one line of error, with its verdict word in red.
    told = on_a_terminal("validate", cwd=tmp_path, **env)
    assert "error: " in told or "error:\x1b[0m" in told
    assert ("\x1b[1;31m" in told) is coloured
