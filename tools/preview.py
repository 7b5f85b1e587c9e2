"""`python -m tools.preview STACK`: the real engine previews one of the example stacks.

Everything it needs is local: state backend, OPA, and the preview-only provider, which lives as
long as the run. No cloud and no cluster is contacted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.progress import SetupError
from tools.shell_env import PROJECT, local_backend, shell_environment, stop


def stack_file(project: Path, stack: str) -> Path:
    """The tracked settings of a stack.

    Raises:
        SetupError: there is no such stack; the text lists those that exist.
    """
    file = project / "stacks" / f"Pulumi.{stack}.yaml"
    if not file.is_file():
        names = sorted(
            path.name.removeprefix("Pulumi.").removesuffix(".yaml")
            for path in file.parent.glob("Pulumi.*.yaml")
        )
        raise SetupError(f"no stack {stack}; there are {', '.join(names)}: make preview STACK=...")
    return file


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
    for file in sorted((project / "stacks").glob("Pulumi.*.yaml")):
        stack = file.name.removeprefix("Pulumi.").removesuffix(".yaml")
        if not (state / f"{stack}.json").is_file():
            ensure_stack(project, stack, env)


def _name(project: Path) -> str:
    settings = (project / "Pulumi.yaml").read_text(encoding="utf-8")
    return next(
        line.removeprefix("name:").strip()
        for line in settings.splitlines()
        if line.startswith("name:")
    )


def preview(project: Path, stack: str, options: list[str]) -> int:
    """Run `pulumi preview`; returns its exit code."""
    stack_file(project, stack)
    watched = os.getpid()
    try:
        env = {**os.environ, **shell_environment(project, watch_pid=watched)}
        env.pop("KUBECONFIG", None)
        ensure_stack(project, stack, env)
        command = ["pulumi", "preview", "--stack", stack, "--non-interactive", *options]
        return subprocess.run(command, cwd=project, env=env, check=False).returncode
    finally:
        stop(project, watched)


def main(arguments: list[str]) -> int:
    """Preview the stack that the first argument names; the rest goes to `pulumi preview`."""
    stack, *options = arguments or ["bank-au"]
    try:
        return preview(PROJECT, stack, options)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
