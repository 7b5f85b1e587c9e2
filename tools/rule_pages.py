"""What the manifest, a rule's page and the index repeat of METADATA, as text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from planner.report.words import roles_words

_TOP = re.compile(r"\A# .*\n\n\| \| \|\n\|---\|---\|\n(?:\|.*\n)+")
_INDEX = re.compile(r"^\| rule \| title \| severity \|.*\n\|[-|]+\|\n(?:\|.*\n)+", re.MULTILINE)


class Rule(NamedTuple):
    """A rule as its METADATA describes it; ``file`` is a path from the project's folder."""

    id: str
    title: str
    severity: str
    stages: tuple[str, ...]
    waivable_by: tuple[str, ...]
    citation: str
    file: str


def manifest_text(manifest: str, rules: Sequence[Rule]) -> str:
    """Return the manifest with these rules; what else it says, of a rule or at all, stays."""
    old = json.loads(manifest)
    known = {row["id"]: row for row in old["rules"]}
    rows = []
    for rule in rules:
        row = {
            "id": rule.id,
            "title": rule.title,
            "severity": rule.severity,
            "stages": list(rule.stages),
            "waivable_by": list(rule.waivable_by),
        }
        rows.append({**row, **known.get(rule.id, {}), **row})
    return json.dumps({**old, "rules": rows}, indent=2, ensure_ascii=False) + "\n"


def page_text(page: str, rule: Rule) -> str | None:
    """Return the page with this rule's title and facts; None where it has no facts table."""
    top = f"# {rule.id}: {rule.title}\n\n{facts_table(rule)}"
    return top + page[found.end() :] if (found := _TOP.match(page)) else None


def facts_table(rule: Rule) -> str:
    """Return the facts of a rule as the table at the top of its page."""
    name = rule.file.rpartition("/")[2]
    facts = {
        "id": rule.id,
        "severity": rule.severity,
        "asked at": ", ".join(rule.stages),
        "citation": _cell(rule.citation),
        "who can waive": roles_words(rule.waivable_by),
        "rule": f"[{name}](../../{rule.file})",
    }
    rows = "".join(f"| {key} | {value} |\n" for key, value in facts.items())
    return f"| | |\n|---|---|\n{rows}"


def index_text(index: str, rules: Sequence[Rule]) -> str | None:
    """Return the index page with these rules in its table; None where it has none."""
    rows = "".join(
        f"| [{rule.id}]({rule.id}.md) | {_cell(rule.title)} | {rule.severity} | "
        f"{', '.join(rule.stages)} | {roles_words(rule.waivable_by)} |\n"
        for rule in rules
    )
    head = "| rule | title | severity | asked at | who can waive |\n|---|---|---|---|---|\n"
    found = _INDEX.search(index)
    return f"{index[: found.start()]}{head}{rows}{index[found.end() :]}" if found else None


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
