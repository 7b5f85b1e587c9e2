"""Starts, finds again and stops the preview-only provider, one for each watching process."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from planner.toolchain.ports import ports_of
from planner.toolchain.progress import SetupError

START_SECONDS = 60.0
CONNECT_SECONDS = 1.0
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Running:
    """A preview-only provider that serves each package on a loopback port of its own."""

    pid: int
    ports: dict[str, int]


def alive(pid: int) -> bool:
    """Whether a process with that id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def provider_for(project: Path, python: Path, run_folder: Path, watch_pid: int) -> Running:
    """The provider that watches `watch_pid`: the running one, else a new one.

    Args:
        project: the clone, from which the provider's code is imported.
        python: the Python of the clone's environment.
        run_folder: per-user folder that remembers what runs.
        watch_pid: the provider ends when this process is gone.

    Raises:
        SetupError: the provider did not start.
    """
    run_folder.mkdir(parents=True, exist_ok=True)
    record = _record(run_folder, watch_pid)
    known = _read(record)
    if known is not None and alive(known.pid) and _answers(known):
        return known
    running = _start(project, python, run_folder, watch_pid)
    _forget_dead(run_folder)
    record.write_text(json.dumps(asdict(running)))
    return running


def stop_provider(run_folder: Path, watch_pid: int) -> None:
    """Stop the provider that watches `watch_pid`, if one runs."""
    record = _record(run_folder, watch_pid)
    known = _read(record)
    if known is not None and _answers(known):
        os.kill(known.pid, signal.SIGTERM)
    record.unlink(missing_ok=True)


def _record(run_folder: Path, watch_pid: int) -> Path:
    return run_folder / f"preview-provider-{watch_pid}.json"


def _read(record: Path) -> Running | None:
    try:
        known = Running(**json.loads(record.read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return known if isinstance(known.ports, dict) and known.ports else None


def _forget_dead(run_folder: Path) -> None:
    for record in run_folder.glob("preview-provider-*.json"):
        known = _read(record)
        if known is None or not alive(known.pid):
            record.unlink(missing_ok=True)


def _answers(running: Running) -> bool:
    try:
        for port in running.ports.values():
            socket.create_connection((LOOPBACK, port), timeout=CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _start(project: Path, python: Path, run_folder: Path, watch_pid: int) -> Running:
    log = run_folder / "preview-provider.log"
    command = [
        str(python),
        "-m",
        "planner.toolchain.preview_provider",
        "--watch-pid",
        str(watch_pid),
    ]
    with log.open("ab") as errors:
        process = subprocess.Popen(
            command,
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    assert process.stdout is not None  # noqa: S101
    with process.stdout as output:
        ready, _, _ = select.select([output], [], [], START_SECONDS)
        line = output.readline().strip() if ready else b""
    try:
        ports = ports_of(line.decode())
    except ValueError:
        process.kill()
        process.wait()
        last = log.read_text(errors="replace").splitlines()[-1:]
        reason = last[0] if last else "it printed no port"
        raise SetupError(f"the preview-only provider did not start: {reason}. See {log}") from None
    return Running(pid=process.pid, ports=ports)
