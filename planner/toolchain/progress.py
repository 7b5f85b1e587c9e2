"""Progress of set-up, on stderr: what runs, how long it may take, how long it has taken."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

HEARTBEAT_SECONDS = 20.0
TAIL_LINES = 15


class SetupError(Exception):
    """A set-up step failed; the text says what is missing and the way out."""


def say(text: str) -> None:
    """Print one line of progress."""
    print(f"set-up: {text}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Seconds as "45 s" or "2 min 05 s"."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


def run_step(
    what: str,
    command: Sequence[str],
    *,
    log: Path,
    minutes: float,
    remedy: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run a long command, with its output in `log` and a sign of life on stderr.

    Args:
        what: what the step does, for people.
        command: program and arguments.
        log: file that takes the output of the command.
        minutes: expected wall time, minutes.
        remedy: the way out, printed when the step fails.
        cwd: working directory.
        env: whole environment of the command.

    Raises:
        SetupError: the command is absent or ended with an error.
    """
    expected = duration(minutes * 60)
    say(f"{what} (about {expected})")
    started = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                command, cwd=cwd, env=env, stdout=output, stderr=subprocess.STDOUT
            )
        except FileNotFoundError as error:
            raise SetupError(f"{what}: {command[0]} is missing. {remedy}") from error
        try:
            code = _wait(process, what, started, expected)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if code != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-TAIL_LINES:])
        raise SetupError(f"{what}: ended with code {code}.\n{tail}\n{remedy}\nWhole log: {log}")
    say(f"{what}: done in {duration(time.monotonic() - started)}")


def _wait(process: subprocess.Popen[bytes], what: str, started: float, expected: str) -> int:
    while True:
        try:
            return process.wait(timeout=HEARTBEAT_SECONDS)
        except subprocess.TimeoutExpired:
            elapsed = duration(time.monotonic() - started)
            say(f"  {what}: {elapsed} of about {expected}")
