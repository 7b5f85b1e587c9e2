"""The formats of ``llm-capacity diff``: each a pure function from a difference to text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from planner.canonical import plain
from planner.comparing.types import PlanDiff
from planner.report.comparing.markdown import diff_markdown
from planner.report.comparing.text import diff_text


def diff_json(diff: PlanDiff) -> str:
    """Return the whole difference as JSON, newline-terminated; numbers as in a plan."""
    return json.dumps(plain(diff), sort_keys=True, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[PlanDiff], str]] = {
    "text": diff_text,
    "json": diff_json,
    "markdown": diff_markdown,
}
"""By the name that ``--format`` takes; equal differences give equal bytes."""
