"""Stacks of a project in its own local backend: a preview does not create them by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

from planner.project import stack_names
from planner.toolchain.progress import SetupError
from planner.toolchain.shell_env import local_backend


def ensure_stack(project: Path, stack: str, env: dict[str, str]) -> None:
    """Create the stack in the backend where it is absent.

    Its tracked file has a salt already, so Pulumi leaves it as it is.

    Raises:
        SetupError: the backend refuses.
    """
    command = ["pulumi", "stack", "init", stack, "--no-select", "--non-interactive"]
    answer = subprocess.run(
        command, cwd=project, env=env, capture_output=True, text=True, check=False
    )
    if answer.returncode != 0 and "already exists" not in answer.stderr:
        raise SetupError(f"stack {stack} could not be created: {answer.stderr.strip()}")


def ensure_local_stacks(project: Path, env: dict[str, str]) -> None:
    """Create every stack of the project in the per-user local backend, where absent.

    A preview does not create stacks by itself. A backend of the user's own is left alone.

    Raises:
        SetupError: the backend refuses.
    """
    backend = env["PULUMI_BACKEND_URL"]
    if backend != local_backend(project, env):
        return
    state = Path(backend.removeprefix("file://")) / ".pulumi" / "stacks" / _name(project)
    for stack in stack_names(project):
        if not (state / f"{stack}.json").is_file():
            ensure_stack(project, stack, env)


def _name(project: Path) -> str:
    settings = (project / "Pulumi.yaml").read_text(encoding="utf-8")
    return next(
        line.removeprefix("name:").strip()
        for line in settings.splitlines()
        if line.startswith("name:")
    )
