"""The comment of a run that ended without a plan, and the mark of every comment."""

from __future__ import annotations

from planner.errors import InputError, PlannerError, PolicyUnavailable
from planner.report.comparing.markdown import bullets
from planner.report.escape import escaped

SHOWN_LINES = 8


def marker(stack: str) -> str:
    """Return the hidden first line by which the comment of a stack is found again."""
    return f"<!-- llm-capacity: {stack} -->"


def failure_comment(stack: str, error: PlannerError, command: str) -> str:
    """Return the comment of a run that ended without a plan: nothing may be read into it."""
    if isinstance(error, PolicyUnavailable):
        what = "BLOCKED: the policy engine gave no answer, so this plan may not proceed"
    elif isinstance(error, InputError):
        what = "NOT PLANNED: the input cannot be used"
    else:
        what = "NOT PLANNED"
    lines = [marker(stack), f"**{escaped(what)}. Stack {escaped(stack)}**", ""]
    body = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines += bullets(body[:SHOWN_LINES])
    if len(body) > SHOWN_LINES:
        lines.append(f"- and {len(body) - SHOWN_LINES} more")
    return "\n".join([*lines, "", f"To see it again: `{command}`", ""])
