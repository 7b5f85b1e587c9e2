"""The report as one HTML file: the template over the document, nothing from a network.

Jinja2 escapes whatever a file of the project says; cells are in planner.report.html.cells.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from planner.report.html import charts
from planner.report.html.cells import Cells, attribute, exact, href, is_short, value_html
from planner.report.html.document import Document
from planner.report.html.kinds import KINDS
from planner.report.html.model import Page, Section

READERS = (
    ("The capacity bill", ("overview", "cost", "break-even", "fleet", "numbers")),
    ("A denial", ("denials", "waivers")),
    ("A pull request", ("overview", "demand", "memory", "latency", "roofline")),
)
"""Whoever comes with this question reads these pages, by id, in this order."""


class Reader(NamedTuple):
    """A question that somebody comes with, and the pages that answer it."""

    name: str
    pages: tuple[Page, ...]


def render(document: Document) -> str:
    """Return the report's HTML; equal documents give equal bytes."""
    style, script = _asset("style.css"), _asset("report.js")
    kinds = sorted({part.chart.kind for part in _parts(document) if part.chart})
    runtime = charts.runtime() if kinds else ""
    templates = Markup(_templates(kinds)) if kinds else ""  # noqa: S704 - own JSON, checked
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    read = {id for part in _parts(document) if part.chart for id in part.chart.also.values()}
    environment.globals |= {
        "attribute": attribute,
        "cells": Cells(document),
        "chart": _chart,
        "href": href,
        # A folded table that nothing refers to goes without an id: there are thousands.
        "named": lambda part: not part.folded or part.table.id in read,
        "short": is_short,
        "value": value_html,
    }
    return environment.from_string(_asset("template.html")).render(
        document=document,
        readers=_readers(document),
        csp=_policy(style, (script, runtime) if kinds else ()),
        style=_inline(style),
        templates=templates,
        runtime=_packed(runtime),
        script=_inline(script),
        drawn_by=charts.versions(),
    )


def _parts(document: Document) -> Iterator[Section]:
    return (part for page in document.pages for part in page.sections)


def _asset(name: str) -> str:
    return resources.files("planner.report.html").joinpath("assets", name).read_text("utf-8")


def _inline(code: str) -> Markup:
    """Return code of ours or of the bundle as it stands; it must not end its own element."""
    lower = code.lower()
    if "</script" in lower or "</style" in lower or "<!--" in lower:
        raise ValueError("code that would end its own element cannot be put into the page")
    return Markup(code)  # noqa: S704 - no input of the user is in it


def _packed(code: str) -> str:
    """Return code as base64 of gzip, which report.js unpacks: less than half of its size."""
    return base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode()


def _policy(style: str, scripts: Iterable[str]) -> str:
    """Return the Content-Security-Policy: these very scripts and styles, and nothing else."""
    allowed = " ".join(_hash(code) for code in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def _templates(kinds: Iterable[str]) -> str:
    """Return the chart templates in use as JSON that is safe inside a script element."""
    parts = (
        f'"{kind}":{{"lines":{json.dumps(KINDS[kind].columns[0] if KINDS[kind].lines else "")},'
        f'"also":{json.dumps([*KINDS[kind].also])},"spec":{charts.compiled(kind)}}}'
        for kind in kinds
    )
    return f"{{{','.join(parts)}}}".replace("<", "\\u003c")


def _readers(document: Document) -> list[Reader]:
    """Return the paths through the report whose pages are there."""
    pages = {page.id: page for page in document.pages}
    found = (Reader(name, tuple(pages[id] for id in ids if id in pages)) for name, ids in READERS)
    return [reader for reader in found if reader.pages]


def _chart(part: Section) -> Markup:
    """Return the attributes by which report.js knows a chart's template, table and scalars."""
    chart, table = part.chart, part.table
    if chart is None or table is None:
        raise ValueError(f"section {part.id} has no chart with a table")
    names = {"data-kind": chart.kind}
    names |= {f"data-t-{name}": id for name, id in chart.also.items()}
    names |= {
        f"data-p-{name}": exact(value) for name, value in chart.params.items() if value is not None
    }
    return Markup("").join(
        Markup(" {}={}").format(key, attribute(text)) for key, text in names.items()
    )
