"""The report as a value: title, verdict, pages, and the evidence it rests on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.catalog.loader import Catalog
from planner.policy.document import instant
from planner.report import catalog as catalog_report
from planner.report.check import headline
from planner.report.html.kinds import check_chart
from planner.report.html.model import Fact, Page, Reported, Table, Tone
from planner.report.html.registry import pages_of
from planner.report.html.verdict import tone_of

MAX_AGE_DAYS = 180
"""A row of the catalog older than this is named as old, as `llm-capacity catalog` does."""


@dataclass(frozen=True)
class Document:
    """All that the template is given: plain values, and pages."""

    title: str
    stack: str
    as_of: str
    verdict: str
    tone: Tone
    pages: tuple[Page, ...]
    evidence: tuple[Fact, ...]


def document_of(told: Reported, catalog: Catalog, evidence_digest: str) -> Document:
    """Return the report's document; ``evidence_digest`` is that of the plan told of.

    Raises ValueError where two pages use one id, or a chart reads what its table lacks.
    """
    plan = told.checked.plan
    pages = pages_of(told)
    _check(pages)
    return Document(
        title=f"Capacity report: {plan.stack}",
        stack=plan.stack,
        as_of=plan.as_of,
        verdict=headline(told.checked).removesuffix(f". Stack {plan.stack}, as of {plan.as_of}"),
        tone=tone_of(plan),
        pages=pages,
        evidence=tuple(_evidence(told, catalog, evidence_digest)),
    )


def _evidence(told: Reported, catalog: Catalog, digest: str) -> Iterator[Fact]:
    plan = told.checked.plan
    at = instant(told.checked.at)
    yield Fact("Stack", plan.stack)
    yield Fact("Prices and facts as of", plan.as_of)
    yield Fact("Waivers judged at", at)
    yield Fact("Capacity digest", plan.capacity_digest)
    yield Fact("Evidence digest", digest)
    yield Fact("Input digest", plan.inputs.input_digest)
    yield Fact("Policy digest", plan.inputs.policy_digest)
    yield Fact("Catalog digest", plan.inputs.catalog_digest)
    yield Fact("Catalog age", catalog_words(catalog, dt.date.fromisoformat(plan.as_of)))
    yield Fact(
        "To see it again", f"llm-capacity report --stack {plan.stack} --at {at} --out report.html"
    )


def catalog_words(catalog: Catalog, as_of: dt.date) -> str:
    """Return how old the catalog's rows are on a day, in a sentence."""
    found = catalog_report.document(catalog, as_of=as_of, max_age_days=MAX_AGE_DAYS)
    rows: list[dict[str, Any]] = found["rows"]
    ages = sorted(row["age_days"] for row in rows if row["age_days"] is not None)
    if not ages:
        return f"{len(rows)} rows, none of them dated"
    undated = len(rows) - len(ages)
    return (
        f"{len(rows)} rows, {ages[0]} to {ages[-1]} days old, {undated} undated; "
        f"{found['stale']} older than {MAX_AGE_DAYS} days or undated"
    )


def _check(pages: tuple[Page, ...]) -> None:
    tables: dict[str, Table] = {}
    ids: set[str] = set()
    for page in pages:
        for id in (page.id, *(section.id for section in page.sections)):
            if id in ids:
                raise ValueError(f"two parts of the report have the id {id!r}")
            ids.add(id)
        for section in page.sections:
            if section.table is not None:
                if section.table.id in tables or section.table.id in ids:
                    raise ValueError(f"two parts of the report have the id {section.table.id!r}")
                tables[section.table.id] = section.table
    if both := sorted(ids & set(tables)):
        raise ValueError(f"two parts of the report have the id {both[0]!r}")
    for page in pages:
        for section in page.sections:
            if section.chart is not None:
                check_chart(section.chart, section.table, tables)
