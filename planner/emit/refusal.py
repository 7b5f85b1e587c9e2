"""What stops a real run before it changes anything, and is only told at a preview."""

from __future__ import annotations

import pulumi


def refuse(what: str, way_out: str) -> None:
    """Warn at a preview; raise RunError in a real run, before anything is registered."""
    if pulumi.runtime.is_dry_run():
        pulumi.log.warn(f"{what}\nA real run refuses before it changes anything.")
        return
    raise pulumi.RunError(f"{what}\nNothing was changed. {way_out}")
