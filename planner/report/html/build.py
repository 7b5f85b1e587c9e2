"""From a plan and what it rests on to the report's HTML, with the libraries that it needs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from planner import faults
from planner.catalog.loader import Catalog
from planner.curves.types import Curves
from planner.errors import InputError
from planner.report.findings import Checked
from planner.report.html.document import document_of
from planner.report.html.model import Reported
from planner.report.html.shown import Shown
from planner.report.numbers.explanations import Explanations

LIBRARIES = ("altair", "jinja2", "vl_convert")
"""The modules of the extra ``report``."""


def report_html(
    checked: Checked,
    curves: Mapping[str, Curves],
    catalog: Catalog,
    numbers: Explanations | None = None,
    *,
    evidence_digest: str | None = None,
) -> str:
    """Return the report as one HTML file; equal inputs give equal bytes.

    ``numbers`` explain those of the plan; without them no number leads to its formula.
    ``evidence_digest`` is the plan's where it is known: it takes seconds for a large plan.
    Raises InputError where the extra ``report`` is not installed.
    """
    require_libraries()
    from planner.report.html.render import render

    shown = None if numbers is None else Shown(numbers, checked.plan.decisions)
    digest = evidence_digest or checked.plan.evidence_digest
    return render(document_of(Reported(checked, curves, shown), catalog, digest))


def require_libraries() -> None:
    """Raise InputError where a library of the extra ``report`` cannot be imported."""
    for name in LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            what = f"{name} cannot be imported: {error}"
            raise InputError([faults.NO_REPORT_EXTRA.at("report", what)]) from None
