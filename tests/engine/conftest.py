"""The real engine for tests: local backend, preview-only provider, everything on 127.0.0.1."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from planner.toolchain.cache import short_digest
from planner.toolchain.progress import SetupError
from planner.toolchain.shell_env import shell_environment, stop
from tools.shell_env import PROJECT

RUN_SECONDS = 300
# What the environment of whoever runs the tests must not decide.
OWN = ("KUBECONFIG", "PULUMI_ACCESS_TOKEN", "PULUMI_STACK", "PULUMI_CONFIG_PASSPHRASE_FILE")

RunPulumi = Callable[[Sequence[str], Path, Mapping[str, str]], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def engine_env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The whole environment of an engine run: own backend and home, provider attached."""
    base = {name: value for name, value in os.environ.items() if name not in OWN}
    base["PULUMI_BACKEND_URL"] = f"file://{tmp_path_factory.mktemp('backend')}"
    base["PULUMI_HOME"] = str(tmp_path_factory.mktemp("pulumi-home"))
    base["PULUMI_CONFIG_PASSPHRASE"] = "only-for-tests"
    base["PULUMI_ERROR_OUTPUT_STRING"] = "true"
    watched = os.getpid()
    if not (PROJECT / ".venv" / "tools.json").exists():
        pytest.skip("the engine is not set up: run `make setup`")
    try:
        yield {**base, **shell_environment(PROJECT, watch_pid=watched, environ=base)}
    except SetupError as error:
        pytest.fail(str(error))
    finally:
        stop(PROJECT, watched, environ=base)


@pytest.fixture(scope="session")
def run_pulumi() -> RunPulumi:
    """`run_pulumi(args, cwd, env)`: run the engine, both streams captured as text."""

    def run(
        args: Sequence[str], cwd: Path, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pulumi", *args],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=RUN_SECONDS,
            check=False,
        )

    return run


@pytest.fixture
def throw_away(
    tmp_path: Path, engine_env: dict[str, str], run_pulumi: RunPulumi
) -> Callable[[str], Path]:
    """`throw_away(source)`: a project of that one program, with a stack `dev`."""

    def make(source: str) -> Path:
        project = tmp_path / "program"
        project.mkdir()
        # One backend serves all tests of the session: the project's name keeps them apart.
        name = f"t{short_digest([str(tmp_path).encode()])}"
        (project / "Pulumi.yaml").write_text(f"name: {name}\nruntime: python\n")
        (project / "__main__.py").write_text(source)
        created = run_pulumi(["stack", "init", "dev", "--non-interactive"], project, engine_env)
        assert created.returncode == 0, created.stderr
        return project

    return make
