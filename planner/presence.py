"""How the program knows that the policy pack watches the same run.

The engine starts packs before the program and gives both its own address. A pack holds a
lock on a file named after that address for as long as it lives; the program looks whether
the lock is held. A file that a dead pack left behind is not locked and proves nothing.
This keeps a run from going without the pack by oversight. It cannot stop whoever runs the
engine from pretending: they could change the program as well.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner import faults
from planner.errors import PlannerError

_ATTEMPTS = 100
_PAUSE_SECONDS = 0.05


def folder() -> Path:
    """Return this user's folder of presence files; only this user can have made it.

    Raises PlannerError where somebody else owns it or may write to it.
    """
    path = Path(tempfile.gettempdir()) / f"llm-capacity-packs-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        what = "it is not a folder of this user alone"
        raise PlannerError(faults.ANOTHER_PACK.at(str(path), what, "Remove it."))
    return path


@contextmanager
def present(engine: str, root: Path) -> Iterator[None]:
    """Say, for as long as the context lasts, that a pack for ``root`` watches ``engine``."""
    path = _file(engine)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _lock(handle, path)
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"engine": engine, "root": str(root)}).encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def is_present(engine: str, root: Path) -> bool:
    """Tell whether a living pack for ``root`` watches the engine at that address."""
    try:
        handle = os.open(_file(engine), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.pread(handle, 65536, 0)
        return said == json.dumps({"engine": engine, "root": str(root)}).encode()
    else:
        return False
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    """Take the lock. Whoever held this address before is gone, or about to be."""
    for _ in range(_ATTEMPTS):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    what, fix = "another policy pack holds it", "End that run, and run again."
    raise PlannerError(faults.ANOTHER_PACK.at(str(path), what, fix))


def _file(engine: str) -> Path:
    return folder() / f"{hashlib.sha256(engine.encode()).hexdigest()[:32]}.json"
