"""The OPA executable: where it is, how old it may be, and one run of it.

OPA reads its flags from OPA_* variables as well, so it gets next to no environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from planner import faults
from planner.errors import PolicyUnavailable, reason_of

MINIMUM_OPA = (1, 21, 3)
"""Earlier bundle signature checks could be bypassed (GHSA-g2pf-6v5v-qcc8)."""

_RUN_SECONDS = 60.0


def find_opa(opa: str | None) -> str:
    """Return the executable ``opa``, else the one on PATH; PolicyUnavailable for none."""
    found = shutil.which(opa or "opa")
    if found is None:
        what = f"no executable {opa or 'opa'} found"
        raise PolicyUnavailable(faults.OPA_MISSING.at("policy engine", what))
    return str(Path(found).resolve())


def environment(folder: Path) -> dict[str, str]:
    """Return all that OPA gets to see of the environment; ``folder`` is its home."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}


def run_opa(opa: str, arguments: Sequence[str], folder: Path) -> str | None:
    """Run OPA in ``folder``; return None for success, else what it said.

    Raises PolicyUnavailable when it cannot be started or does not end.
    """
    try:
        done = subprocess.run(
            [opa, *arguments],
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_RUN_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        where = f"`opa {arguments[0]}`"
        raise PolicyUnavailable(
            faults.OPA_FAILED.at(where, f"did not run: {reason_of(error)}")
        ) from error
    said = done.stdout.decode(errors="replace").strip()[-2000:]
    return None if done.returncode == 0 else said or f"exit code {done.returncode}"


def check_version(version: str) -> None:
    """Raise PolicyUnavailable for an OPA that is too old, or that hides its version."""
    try:
        numbers = tuple(int(part) for part in version.split("-")[0].lstrip("v").split(".")[:3])
    except ValueError:
        numbers = ()
    if numbers < MINIMUM_OPA:
        wanted = ".".join(map(str, MINIMUM_OPA))
        what, fix = f"OPA on PATH is {version}", f"Install {wanted} or later."
        raise PolicyUnavailable(faults.OPA_TOO_OLD.at("policy engine", what, fix))
