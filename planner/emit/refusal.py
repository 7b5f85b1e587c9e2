"""What stops a real run before it changes anything, and is only told at a preview."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from planner.errors import Problem


def refuse(problem: Problem, details: Sequence[str] = ()) -> None:
    """Warn at a preview; raise RunError in a real run, before anything is registered."""
    told = "\n".join([str(problem), *details])
    if pulumi.runtime.is_dry_run():
        pulumi.log.warn(f"{told}\nA real run refuses before it changes anything.")
        return
    raise pulumi.RunError(f"{told}\nNothing was changed.")
