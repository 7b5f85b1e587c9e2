"""The formats of ``llm-capacity check``: each a pure function from ``Checked`` to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from planner.report.check import check_json, check_text
from planner.report.findings import Checked, RuleRow, rule_rows
from planner.report.junit import junit
from planner.report.markdown import markdown
from planner.report.sarif import sarif

__all__ = ["FORMATS", "Checked", "RuleRow", "rule_rows"]

FORMATS: Mapping[str, Callable[[Checked], str]] = {
    "text": check_text,
    "json": check_json,
    "markdown": markdown,
    "sarif": sarif,
    "junit": junit,
}
"""By the name that ``--format`` takes; equal inputs give equal bytes."""
