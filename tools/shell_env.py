"""`python -m tools.shell_env -- COMMAND ...`: run one command with the tools of set-up on PATH.

Without the preview-only provider and without KUBECONFIG. Without a command the export lines of
`llm-capacity env` are printed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from planner.toolchain.progress import SetupError
from planner.toolchain.shell_env import render_exports, shell_environment

PROJECT = Path(__file__).resolve().parent.parent
"""This clone."""


def main(arguments: list[str]) -> int:
    """Print the export lines, or become COMMAND."""
    try:
        if arguments[:1] != ["--"]:
            print(render_exports(shell_environment(PROJECT)), end="")
            return 0
        variables = shell_environment(PROJECT, preview_provider=False)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    env = {**os.environ, **variables}
    env.pop("KUBECONFIG", None)
    os.execvpe(arguments[1], arguments[1:], env)  # noqa: S606


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
