"""The tutorial is run as a newcomer would: every command, every edit, in its order.

From the wheel, in an empty folder, with the real engine. Installation itself (blocks marked
`sh`) needs a package index and is left out; the wheel stands in for it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from planner.toolchain import cache as store
from planner.toolchain.shell_env import TOOLS_FILE
from tests.docs.walkthrough import Command, FileStep, steps
from tests.installed import Installed
from tools.shell_env import PROJECT

pytestmark = pytest.mark.engine

PAGE = PROJECT / "docs" / "tutorial.md"
SECONDS = 600


def script(wanted: list[Command | FileStep], results: Path) -> str:
    """The page as one shell session: what a command leaves in the shell, the next one has."""
    lines = []
    for number, step in enumerate(wanted):
        if isinstance(step, FileStep):
            old, new = step.change
            change = (
                "import pathlib, sys; file, old, new = sys.argv[1:]; path = pathlib.Path(file); "
                "text = path.read_text(); assert text.count(old) == 1, old; "
                "path.write_text(text.replace(old, new))"
            )
            lines.append(shlex.join(["python", "-c", change, step.file, old, new]))
            lines.append(f"echo $? > {results}/{number}.code")
        else:
            streams = f">{results}/{number}.out 2>{results}/{number}.err"
            # A redirection of its own (`> before.json`) comes after ours, and wins.
            lines += [f"{{ {step.text}\n}} {streams}", f"echo $? > {results}/{number}.code"]
    return "\n".join(lines) + "\n"


@pytest.fixture
def note_kept() -> object:
    """Leave the user's note of where the tools are as it was: `setup` writes it."""
    note = store.cache_root(os.environ) / TOOLS_FILE
    before = note.read_text() if note.is_file() else None
    yield
    if before is None:
        note.unlink(missing_ok=True)
    else:
        note.write_text(before)


def test_the_page_has_what_a_newcomer_needs() -> None:
    commands = [step.text for step in steps(PAGE) if isinstance(step, Command)]
    told = [text.split()[1] for text in commands if text.startswith("llm-capacity ")]
    wanted = ["setup", "doctor", "init", "validate", "plan", "explain", "check", "diff", "report"]
    assert [name for name in dict.fromkeys(told) if name in wanted] == wanted
    assert sum(text.startswith("pulumi preview") for text in commands) == 2


def test_every_command_of_the_page_does_what_it_shows(
    installed: Installed, tmp_path: Path, note_kept: object
) -> None:
    del note_kept
    if not (PROJECT / ".venv" / TOOLS_FILE).exists():
        pytest.skip("the engine is not set up: run `make setup`")
    wanted, results = list(steps(PAGE)), tmp_path / "results"
    results.mkdir()
    folder = tmp_path / "empty"
    folder.mkdir()
    subprocess.run(
        ["bash", "-c", script(wanted, results)],
        cwd=folder,
        env=installed.environment(PULUMI_HOME=str(tmp_path / "pulumi-home")),
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )
    for number, step in enumerate(wanted):
        code = int((results / f"{number}.code").read_text())
        if isinstance(step, FileStep):
            assert code == 0, step
            continue
        out = (results / f"{number}.out").read_text()
        err = (results / f"{number}.err").read_text()
        assert code == step.code, (step.text, out, err)
        for line in step.shown:
            assert line.strip() in out, (step.text, line, out)
    report = folder / "my-capacity" / "report.html"
    assert report.read_text().lower().startswith("<!doctype html>")
