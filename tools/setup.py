"""Makes a fresh clone runnable: the Python environment, then the tools. Standard library only.

Run as `python3 tools/setup.py` from anywhere. What is there already is left alone, so a second
run takes about a second. Nothing is written to the clone but .venv.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path[0] = str(PROJECT)

from planner.toolchain import cache as store  # noqa: E402
from planner.toolchain import toolchain  # noqa: E402
from planner.toolchain.pins import PYTHON_MINIMUM, format_version  # noqa: E402
from planner.toolchain.progress import SetupError, run_step  # noqa: E402
from planner.toolchain.shell_env import TOOLS_FILE, write_record  # noqa: E402

STAMP = "set-up.stamp"
INPUTS = ("requirements.lock", "pyproject.toml")
# Compiling all of a cloud SDK takes minutes, and a program imports a few modules of it.
NOT_COMPILED = r"pulumi_(aws|azure_native|gcp)/\w+/"


def stamp_of(project: Path) -> str:
    """A key that changes with the lock, the project file and the Python that runs this."""
    inputs = [(project / name).read_bytes() for name in INPUTS]
    return store.short_digest([*inputs, sys.version.encode()])


def ensure_environment(project: Path, environ: Mapping[str, str]) -> None:
    """Create or renew .venv when the lock has changed since the last time.

    Raises:
        SetupError: Python is too old, or a package could not be installed.
    """
    if sys.version_info < PYTHON_MINIMUM:
        raise SetupError(
            f"Python >= {format_version(PYTHON_MINIMUM)} is needed, this one is "
            f"{sys.version.split()[0]}: install a newer one, or name it: make PYTHON=python3.12 ..."
        )
    venv = project / ".venv"
    stamp = venv / STAMP
    wanted = stamp_of(project)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    logs = store.cache_root(environ) / "logs"
    uv = shutil.which("uv", path=environ.get("PATH", ""))
    _create_venv(venv, with_pip=uv is None, logs=logs)
    python = str(venv / "bin" / "python")
    if uv:
        install = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    remedy = "A package index must be reachable: set PIP_INDEX_URL or a proxy, then run this again."
    run_step(
        f"installing the locked Python packages with {'uv' if uv else 'pip'}",
        [*install, "--require-hashes", "-r", str(project / "requirements.lock")],
        log=logs / "python-packages.log",
        minutes=0.3 if uv else 2,
        remedy=remedy,
        cwd=project,
    )
    run_step(
        "installing llm-capacity from this clone",
        [*install, "--no-deps", "--no-build-isolation", "-e", str(project)],
        log=logs / "llm-capacity.log",
        minutes=0.1,
        remedy=f"Remove {venv} and run this again.",
        cwd=project,
    )
    run_step(
        "compiling the Python packages",
        [python, "-m", "compileall", "-q", "-j", "0", "-x", NOT_COMPILED, str(venv / "lib")],
        log=logs / "compile.log",
        minutes=0.5,
        remedy=f"Remove {venv} and run this again.",
    )
    stamp.write_text(wanted)


def _create_venv(venv: Path, *, with_pip: bool, logs: Path) -> None:
    library = venv / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    executable = venv / "bin" / ("pip" if with_pip else "python")
    if library.is_dir() and executable.exists():
        return
    options = ["--clear"] if with_pip else ["--clear", "--without-pip"]
    run_step(
        "creating the Python environment",
        [sys.executable, "-m", "venv", *options, str(venv)],
        log=logs / "venv.log",
        minutes=0.1,
        remedy="Python's venv module is needed (on Debian and Ubuntu: apt install python3-venv).",
    )


def main() -> int:
    """Set up; 0 when everything is there, 1 with the way out on stderr otherwise."""
    environ = dict(os.environ)

    def work() -> None:
        ensure_environment(PROJECT, environ)
        write_record(PROJECT / ".venv" / TOOLS_FILE, toolchain.resolve(environ))

    return store.under_lock(environ, work)


if __name__ == "__main__":
    sys.exit(main())
