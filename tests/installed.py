"""The wheel, installed where the repository is not seen: what a user has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from planner.toolchain import cache as store
from tools.shell_env import PROJECT

# What the environment of whoever runs the tests must not decide.
OWN = (
    "KUBECONFIG",
    "LLM_CAPACITY_PACK",
    "LLM_CAPACITY_PYTHON",
    "LLM_CAPACITY_ROOT",
    "PULUMI_ACCESS_TOKEN",
    "PULUMI_BACKEND_URL",
    "PULUMI_CONFIG_PASSPHRASE",
    "PULUMI_CONFIG_PASSPHRASE_FILE",
    "PULUMI_DEBUG_PROVIDERS",
    "PYTHONPATH",
    "VIRTUAL_ENV",
)


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel and, by path, the packages that it needs."""

    wheel: Path
    venv: Path

    @property
    def package(self) -> Path:
        """The folder of the installed package."""
        return next(self.venv.glob("lib/python*/site-packages")) / "planner"

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a user's shell: this llm-capacity first on PATH."""
        kept = {name: value for name, value in os.environ.items() if name not in OWN}
        # Without what a set-up of this clone has put on PATH: a user's shell has none of it.
        ours = (store.cache_root(os.environ), PROJECT / ".venv")
        folders = kept.get("PATH", os.defpath).split(os.pathsep)
        folders = [name for name in folders if not any(Path(name).is_relative_to(p) for p in ours)]
        path = os.pathsep.join([str(self.venv / "bin"), *folders])
        return {**kept, "PATH": path, **more}

    def run(self, *arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
        """Run the installed llm-capacity in a folder, with these variables besides."""
        command = [str(self.venv / "bin" / "llm-capacity"), *arguments]
        return subprocess.run(
            command,
            cwd=cwd,
            env=self.environment(**env),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )


def install(folder: Path) -> Installed:
    """Build the wheel and install it, without a network and without the repository."""
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], PROJECT)
    wheel = next(folder.glob("*.whl"))
    venv = folder / "venv"
    python = str(venv / "bin" / "python")
    if uv := shutil.which("uv"):
        _run([sys.executable, "-m", "venv", "--without-pip", str(venv)], folder)
        pip = [uv, "pip", "install", "--python", python, "--offline"]
    else:
        # The environment of the tests may have no pip of its own: Python brings one.
        _run([sys.executable, "-m", "venv", str(venv)], folder)
        pip = [python, "-m", "pip", "install", "--no-index"]
    _run([*pip, "--quiet", "--no-deps", str(wheel)], folder)
    # A path line is not read for further ones: the repository's own stays out.
    packages = next(venv.glob("lib/python*/site-packages"))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(wheel, venv)


def _run(command: list[str], cwd: Path) -> None:
    answer = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        pytest.fail(f"{' '.join(command)}: {answer.stderr}{answer.stdout}")
