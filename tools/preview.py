"""`python -m tools.preview STACK`: the real engine previews one of the example stacks.

Everything it needs is local: state backend, OPA, and the preview-only provider, which lives as
long as the run. No cloud and no cluster is contacted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from planner.project import stack_names
from planner.toolchain.progress import SetupError
from planner.toolchain.shell_env import shell_environment, stop
from planner.toolchain.stacks import ensure_stack
from tools.shell_env import PROJECT


def stack_file(project: Path, stack: str) -> Path:
    """The tracked settings of a stack.

    Raises:
        SetupError: there is no such stack; the text lists those that exist.
    """
    file = project / "stacks" / f"Pulumi.{stack}.yaml"
    if not file.is_file():
        names = ", ".join(stack_names(project))
        raise SetupError(f"no stack {stack}; there are {names}: make preview STACK=...")
    return file


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
