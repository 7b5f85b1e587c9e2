"""Standard streams that are closed: the run goes on, and nothing is written to a stranger's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(folder: Path, redirections: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = f'exec "$@" {redirections}'
    return subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, "-m", "planner", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_stops_no_command(tmp_path: Path, closed: str) -> None:
    started = run(tmp_path, closed, "init", "--as-of", "2026-11-30")
    assert (started.returncode, "Traceback" in started.stderr) == (0, False), started.stderr
    wrong = run(tmp_path, closed, "validate", "--stack", "nope")
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False), wrong.stderr
    if "2>" not in closed:
        assert "error: " in wrong.stderr
    # No file got the descriptor of a stream, and with it what was printed.
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert "error: " not in path.read_text(), path
