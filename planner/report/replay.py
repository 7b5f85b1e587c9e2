"""A replay, told to people and machines."""

from __future__ import annotations

from typing import Any

from planner import faults
from planner.errors import PlanDiffers
from planner.evidence.replay import Replay
from planner.report.words import VERDICTS, verdict_word

_MARKS = {"holds": "holds", "broken": "BROKEN", "not checked": "not checked"}


def replay_document(found: Replay) -> dict[str, Any]:
    """Return a replay as plain data."""
    return {"stands": found.stands, **found.model_dump(mode="json")}


def replay_text(found: Replay) -> str:
    """Return a replay as text: whether the decision stands, and what does not."""
    lines = [
        f"{found.decision_id}: {'STANDS' if found.stands else 'DOES NOT STAND'}",
        f"  stack {found.stack}, decided {found.evaluated_at}: {_word(found.recorded_verdict)}",
        f"  asked again: {_word(found.verdict) if found.verdict else 'no, it may be forged'}",
    ]
    for check in found.checks:
        detail = f": {check.detail}" if check.detail else ""
        lines.append(f"  {check.name} {_MARKS[check.state]}{detail}")
    for row in found.differences:
        lines += [
            f"  differs: {row.what}",
            f"    recorded: {row.recorded}",
            f"    now:      {row.now}",
        ]
    lines += [f"  note: {note}" for note in found.notes]
    return "\n".join(lines) + "\n"


def _word(recorded: str) -> str:
    """Return a verdict in words; a record may hold anything in its place."""
    return next((verdict_word(known) for known in VERDICTS if known == recorded), repr(recorded))


def replay_error(found: Replay) -> PlanDiffers | None:
    """Return the error that a replay stands for, None when the decision stands."""
    if found.stands:
        return None
    broken = [check.name for check in found.checks if check.state == "broken"]
    if broken:
        what = f"the evidence does not hold: {', '.join(broken)}"
        return PlanDiffers(faults.REPLAY_DIFFERS.at("replay", what))
    what = f"{len(found.differences)} differences to the recorded decision"
    return PlanDiffers(faults.REPLAY_DIFFERS.at("replay", what))
