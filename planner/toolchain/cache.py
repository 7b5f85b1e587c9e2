"""The per-user cache outside the clone: built tools, views for PATH, the lock."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from planner.toolchain.pins import Tool
from planner.toolchain.progress import SetupError, say

KEYED_FILES = ("go.mod", "go.sum", "main.go")


def cache_root(environ: Mapping[str, str]) -> Path:
    """The cache of this user: $LLM_CAPACITY_CACHE, else llm-capacity in the XDG cache."""
    own = environ.get("LLM_CAPACITY_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    xdg = environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "llm-capacity"


def short_digest(parts: Iterable[bytes]) -> str:
    """Twelve hex digits that change with any of the parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:12]


def source_key(tool: Tool, source: Path) -> str:
    """A key that changes with anything that goes into a build of `tool`."""
    texts = (tool.name, tool.version, tool.package, *tool.linker)
    machine = (platform.system(), platform.machine())
    files = [source / name for name in KEYED_FILES]
    contents = [file.read_bytes() if file.exists() else b"" for file in files]
    return short_digest([*(text.encode() for text in (*texts, *machine)), *contents])


def tool_directory(cache: Path, tool: Tool, source: Path) -> Path:
    """Where the build of `tool` from `source` lives; the directory exists only when complete."""
    return cache / "tools" / f"{tool.name}-{tool.version}-{source_key(tool, source)}"


def under_lock(environ: Mapping[str, str], work: Callable[[], object]) -> int:
    """Do a part of set-up while no other runs: 0, or 1 with the way out on stderr."""
    try:
        with exclusive(cache_root(environ) / "set-up.lock"):
            work()
    except (SetupError, OSError, subprocess.SubprocessError) as error:
        print(f"set-up failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("set-up: interrupted; run it again to continue", file=sys.stderr)
        return 130
    return 0


def publish(target: Path, fill: Callable[[Path], None]) -> Path:
    """Create directory `target` whole or not at all: fill a temporary one, then rename it."""
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        fill(draft)
        draft.chmod(0o755)
        try:
            draft.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def bin_view(cache: Path, executables: Mapping[str, Path]) -> Path:
    """A directory of links to `executables`, made to go first on PATH."""
    key = short_digest(f"{name} {path}".encode() for name, path in sorted(executables.items()))

    def fill(draft: Path) -> None:
        for name, path in executables.items():
            link(path, draft / name, cache)

    return publish(cache / f"bin-{key}", fill)


def link(file: Path, name: Path, cache: Path) -> None:
    """Make `name` another name of `file`: a hard link inside the cache, else a symbolic one.

    Pulumi looks for its language hosts beside its own resolved executable, and warns about one
    that it finds elsewhere: hard links keep both in the view.
    """
    if cache in file.parents:
        name.hardlink_to(file)
    else:
        name.symlink_to(file)


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a file lock, so that two set-ups never build at once."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another set-up is running; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def pulumi_home(cache: Path, environ: Mapping[str, str]) -> Path:
    """The user's own PULUMI_HOME or ~/.pulumi, else one in the cache."""
    own = environ.get("PULUMI_HOME")
    if own:
        return Path(own).expanduser()
    usual = Path.home() / ".pulumi"
    return usual if usual.is_dir() else own_home(cache)


def own_home(cache: Path) -> Path:
    """The PULUMI_HOME of users who have none."""
    return cache / "pulumi-home"


def is_executable(path: Path) -> bool:
    """Whether `path` is a file that this user may run."""
    return path.is_file() and os.access(path, os.X_OK)
