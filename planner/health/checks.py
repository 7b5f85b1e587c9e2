"""One thing that is needed: whether it is there, which version, how to get it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from planner.base import Frozen

Status = Literal["ok", "missing", "wrong", "optional"]
"""``optional``: not there, and needed for one thing only, which ``needed_for`` tells."""

BARS: tuple[Status, ...] = ("missing", "wrong")
"""What keeps the planner from working."""


class Check(Frozen):
    """What was looked for, what was found, and the command that gets it."""

    name: str
    status: Status
    needed_for: str
    version: str | None = None
    wanted: str = ""
    place: str | None = None
    fix: str = ""
    """The command that gets it; empty where nothing is to be done."""


def document(checks: Sequence[Check]) -> dict[str, object]:
    """Return the checks as plain data, and whether all that is needed is there."""
    return {"ok": healthy(checks), "checks": [check.model_dump(mode="json") for check in checks]}


def healthy(checks: Sequence[Check]) -> bool:
    """Tell whether all that is needed is there."""
    return not any(check.status in BARS for check in checks)


def told(checks: Sequence[Check]) -> str:
    """Return the checks as text: a line each, and below it how to get what is missing."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        found = check.version or ("found" if check.place else "not found")
        wanted = f" (wanted: {check.wanted})" if check.wanted and check.status != "ok" else ""
        at = f"  {check.place}" if check.place and check.status == "ok" else ""
        lines.append(f"{check.status:9}{check.name:{width}}  {found}{wanted}{at}")
        if check.status != "ok":
            lines.append(f"{'':9}  needed for {check.needed_for}; get it with: {check.fix}")
    return "\n".join([*lines, ""])
