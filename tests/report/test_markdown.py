"""``check`` as Markdown: one screen, with tables that nothing breaks."""

from __future__ import annotations

import re

from planner.report.formats import FORMATS
from tests.report.builders import (
    budget_finding,
    checked,
)
from tests.report.cases import denied, warned


def test_markdown_begins_with_a_mark_and_the_verdict() -> None:
    lines = FORMATS["markdown"](denied()).splitlines()
    assert lines[0] == "<!-- llm-capacity check: prod -->"
    assert lines[1].startswith("**DENY: this plan may not proceed")
    head = "\n".join(lines).split("<details>")[0]
    assert head.index("### Denials") < head.index("[BUD-001](docs/policies/BUD-001.md)")
    assert "| nobody: this rule cannot be waived |" in head
    assert "Article 44" not in head
    assert "Article 44" in "\n".join(lines)


def test_markdown_tables_keep_their_columns() -> None:
    text = FORMATS["markdown"](checked([], [budget_finding(message="a | b \\| c")]))
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(re.split(r"(?<!\\)(?:\\\\)*\|", row)) for row in block.splitlines()}
        assert len(widths) == 1


def test_markdown_folds_what_does_not_fit_on_a_screen() -> None:
    many = [budget_finding(subject=f"s{number:02}") for number in range(12)]
    head, details = FORMATS["markdown"](checked([], many)).split("<details>")
    assert head.count("[BUD-001]") == 8
    assert "and 4 more, in the details" in head
    assert details.count("[BUD-001]") == 12


def test_markdown_shows_waivers_with_their_time() -> None:
    text = FORMATS["markdown"](warned())
    assert "| WVR-2026-014 | MOD-001 for chat | 29 days left, until" in text
    assert "- WVR-2: expired at 2026-12-01T00:00:00Z" in text
    assert text.index("### Waivers used") < text.index("### Warnings") < text.index("<details>")
