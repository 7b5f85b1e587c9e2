"""A real change only under the policy pack's eyes."""

from __future__ import annotations

from pathlib import Path

import pulumi

from planner.errors import PlannerError
from planner.presence import is_present

PACK = "policies/pulumi"


def require_pack(root: Path) -> None:
    """Refuse a real run that the policy pack does not watch; a preview may go without.

    Raises RunError, also where it cannot be told.
    """
    if pulumi.runtime.is_dry_run():
        return
    engine = engine_address()
    try:
        watched = engine is not None and is_present(engine, root.resolve())
    except (PlannerError, OSError) as error:
        raise pulumi.RunError(f"cannot tell whether the policy pack is there: {error}") from None
    if not watched:
        raise pulumi.RunError(
            "a change needs the policy pack, which holds every resource against the plan: "
            f"run again with --policy-pack {PACK}. Nothing was changed."
        )


def engine_address() -> str | None:
    """Return the address of the engine that runs this program, None where it cannot be told.

    The SDK keeps the connection and not the address, which is therefore read from it.
    """
    log = getattr(pulumi.runtime.settings.get_engine(), "Log", None)
    target = getattr(log, "_target", None)
    return target.decode() if isinstance(target, bytes) else None
