"""The control plane of these tests: nothing of it outlives them, and nobody else gets in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.toolchain.processes import alive
from tests.cluster import keeper
from tests.cluster.api import Api, Refused, until
from tests.cluster.control_plane import ControlPlane

# Holds a keeper as the control plane does, says which process it keeps, and waits.
STARTER = """
import subprocess, sys, time
kept = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"]
command = [sys.executable, "-I", sys.argv[1], *kept]
keeper = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
time.sleep(60)
"""


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for has, too."""
    if not alive(pid):
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_tool_ends_with_the_process_that_started_it(end: signal.Signals) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(keeper.__file__)], stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    with starter.stdout as output:
        kept = int(output.readline())
        assert not gone(kept)
        os.kill(starter.pid, end)
        starter.wait()
        until("the kept process ends", lambda: gone(kept), 10)


def test_a_keeper_ends_with_what_it_keeps() -> None:
    start = time.monotonic()
    command = [sys.executable, "-I", str(keeper.__file__), sys.executable, "-c", "exit(7)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.wait(30) == 7
    assert time.monotonic() - start < 30


def test_without_the_token_nobody_gets_in(bare_plane: ControlPlane) -> None:
    with pytest.raises(Refused) as refused:
        Api(bare_plane.address, "wrong", str(bare_plane.ca_file)).call("GET", "/api/v1/namespaces")
    assert refused.value.status == 401


def test_a_tool_that_ends_by_itself_is_reported_with_its_log(bare_plane: ControlPlane) -> None:
    bare_plane.run("karpenter", "--no-such-flag")
    try:
        with pytest.raises(RuntimeError, match=r"karpenter ended with \d+:(.|\n)*no-such-flag"):
            until("it ends", lambda: bare_plane.check_alive(), 30)
    finally:
        bare_plane.end("karpenter")
