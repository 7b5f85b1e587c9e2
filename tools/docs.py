"""`python -m tools.docs`: renew what repeats the code, or with --check say what differs.

The last two plan the example stacks, so they need OPA on PATH.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from planner.toolchain.progress import SetupError
from tools import (
    cli_reference,
    config_reference,
    editor_schemas,
    errors,
    exit_codes,
    numbers,
    plan_reference,
    readme,
    rules,
)
from tools.generated import Generator, keep
from tools.shell_env import PROJECT

GENERATORS: tuple[Generator, ...] = (
    # First, because plans of the stacks read the manifest of rules.
    rules.texts,
    errors.texts,
    exit_codes.texts,
    cli_reference.texts,
    config_reference.texts,
    editor_schemas.texts,
    plan_reference.texts,
    numbers.texts,
    readme.texts,
)


def main(arguments: Sequence[str], root: Path = PROJECT) -> int:
    """Renew or check; end with 1 where something differs, 2 where something is wrong."""
    if list(arguments) not in ([], ["--check"]):
        print("usage: python -m tools.docs [--check]", file=sys.stderr)
        return 2
    try:
        return keep(GENERATORS, check=bool(arguments), root=root)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
