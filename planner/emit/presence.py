"""A real change only under the policy pack's eyes."""

from __future__ import annotations

import os
from pathlib import Path

import pulumi

from planner import faults
from planner.errors import PlannerError
from planner.presence import is_present
from planner.project import PACK, PACK_ROOT_VARIABLE, has_own_pack, pack_folder


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
        what = f"cannot tell whether it is there: {error}"
        raise pulumi.RunError(str(faults.NO_PACK.at("policy pack", what))) from None
    if not watched:
        what = "a change needs it, and it does not watch this run: nothing was changed"
        fix = f"Run again with --policy-pack {_pack(root)}.{_elsewhere(root)}"
        raise pulumi.RunError(str(faults.NO_PACK.at("policy pack", what, fix)))


def _pack(root: Path) -> str:
    return PACK if has_own_pack(root) else str(pack_folder(root))


def _elsewhere(root: Path) -> str:
    """Say that a pack outside of the project was told of another one."""
    told = os.environ.get(PACK_ROOT_VARIABLE)
    if told is None or Path(told).resolve() == root.resolve():
        return ""
    return f" {PACK_ROOT_VARIABLE} names {told}: evaluate `llm-capacity env` in this project."


def engine_address() -> str | None:
    """Return the address of the engine that runs this program, None where it cannot be told.

    The SDK keeps the connection and not the address, which is therefore read from it.
    """
    log = getattr(pulumi.runtime.settings.get_engine(), "Log", None)
    target = getattr(log, "_target", None)
    return target.decode() if isinstance(target, bytes) else None
