"""The report as a file: equal bytes, nothing of the user's in the markup, honest pages."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from planner.catalog.loader import load_catalog
from planner.curves.types import Curves, DemandKnot, DemandView
from planner.errors import InputError
from planner.policy.waivers import Rejected, WaiverBook
from planner.report.findings import Checked
from planner.report.html import build
from planner.report.html.build import report_html
from planner.report.html.document import document_of
from planner.report.html.kinds import KINDS, check_chart
from planner.report.html.model import Chart, Column, Reported, Section, Table
from planner.report.html.words import anchor
from tests.report.builders import (
    budget_finding,
    checked,
    decision,
    make_finding,
    outcome,
    waived_finding,
)
from tests.report.cases import BOOK, verified
from tools.shell_env import PROJECT

DIGEST = "d" * 64

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


class Reader(HTMLParser):
    """What a browser would make of the file: elements with their attributes, and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def denied() -> Checked:
    """A denied workload and a waived one, with texts that would like to be markup."""
    hostile = make_finding(message=f"chat/payg: {HOSTILE}", remedy=HOSTILE, observed={"x": HOSTILE})
    used = waived_finding()
    assert used.waiver is not None
    waiver = used.waiver.model_copy(update={"reason": HOSTILE, "ticket": HOSTILE})
    waived = used.model_copy(update={"waiver": waiver})
    pinned = outcome([hostile], lost="denied", pinned=True)
    return checked(
        [
            decision(others=[pinned], explanation=HOSTILE),
            decision(HOSTILE, chosen=outcome([waived], id="x/payg", workload=HOSTILE)),
        ],
        [budget_finding()],
        waivers=WaiverBook(
            waivers=(*BOOK.waivers, verified(id="WVR-9", expires="2026-12-20")),
            rejected=(Rejected("a.yaml", HOSTILE),),
        ),
    )


def curves(workload: str) -> Curves:
    knots = tuple(DemandKnot(share=s, tokens_per_minute=t) for s, t in ((0.0, 1.0), (1.0, 3.0)))
    view = DemandView(
        knots=knots, floor_tokens_per_minute=2.0, above_share=0.125, above="spills to Standard"
    )
    return Curves(
        workload=workload, cost=None, break_even=None, demand=view, latency=None, roofline=None
    )


def html_of(found: Checked) -> str:
    drawn = {item.workload: curves(item.workload) for item in found.plan.decisions}
    return report_html(found, drawn, load_catalog())


@pytest.fixture(scope="module")
def hostile() -> Reader:
    return Reader(html_of(denied()))


def test_what_a_file_says_never_becomes_markup(hostile: Reader) -> None:
    tags = [tag for tag, _ in hostile.elements]
    assert "img" not in tags
    assert [attrs.get("type") for tag, attrs in hostile.elements if tag == "script"] == [
        "application/json", "application/gzip", None,
    ]  # fmt: skip
    attributes = {name for _, attrs in hostile.elements for name in attrs}
    assert not {name for name in attributes if name.startswith("on")}
    assert not {"style", "src"} & attributes
    assert sum(HOSTILE in text for text in hostile.text) >= 6


def test_ids_are_unique_and_every_link_leads_somewhere(hostile: Reader) -> None:
    ids = [attrs["id"] for _, attrs in hostile.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert all(id and not re.search(r"\s", id) for id in ids)
    links = [str(attrs["href"])[1:] for tag, attrs in hostile.elements if tag == "a"]
    labels = [
        id for _, attrs in hostile.elements for id in str(attrs.get("aria-labelledby", "")).split()
    ]
    assert links
    assert set(links) | set(labels) <= set(ids)


def test_headings_step_by_one(hostile: Reader) -> None:
    levels = [int(tag[1]) for tag, _ in hostile.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert levels.count(1) == 1


def test_the_verdict_comes_first_and_says_what_stops(hostile: Reader) -> None:
    text = " ".join(" ".join(hostile.text).split())
    verdict = text.index("DENY: this plan may not proceed. Stack prod, as of 2026-12-01")
    assert verdict < text.index("The bill")
    assert "What stops it: BUD-001 for stack; RES-001 for chat." in text


def test_a_denial_tells_everything_a_compliance_officer_asks() -> None:
    document = document_of(Reported(denied()), load_catalog(), DIGEST)
    page = next(page for page in document.pages if page.id == "denials")
    section = next(part for part in page.sections if "BUD-001" in part.title)
    assert section.title == "Denied: BUD-001 The plan stays within the budget"
    assert section.tone == "bad"
    assert {fact.term: fact.value for fact in section.facts} == {
        "What to do": "Choose a region inside the residency.",
        "Who can waive": "the budget owner",
        "Severity": "high",
        "Rests on": "Regulation (EU) 2016/679 (GDPR), Article 44",
    }
    assert section.table is not None
    row = dict(zip((c.key for c in section.table.columns), section.table.rows[0], strict=True))
    assert row == {
        "workload": "stack",
        "why": "The plan costs USD 1000 a month; the budget is USD 1",
        "observed": "total usd per month 12,000.5",
        "expected": "at most usd per month 1",
        "subject": "stack",
        "file": "stacks/prod/platform.yaml",
    }


def test_waivers_in_use_soon_to_expire_and_not_counted() -> None:
    document = document_of(Reported(denied()), load_catalog(), DIGEST)
    page = next(page for page in document.pages if page.id == "waivers")
    rows = {part.id: part.table.rows for part in page.sections if part.table}
    assert [row[0] for row in rows["waivers-used"]] == ["WVR-2026-014"]
    assert rows["waivers-used"][0][2] == 29  # whole days from 2026-12-01 12:00 to 2026-12-31
    assert [row[0] for row in rows["waivers-expiring"]] == ["WVR-2026-014", "WVR-4", "WVR-9"]
    uncounted = [row[0] for row in rows["waivers-not-counted"]]
    assert uncounted == ["WVR-2", "WVR-3", "WVR-4", "WVR-9", "a.yaml"]


def test_an_undecided_workload_has_no_price_and_is_named() -> None:
    document = document_of(Reported(denied()), load_catalog(), DIGEST)
    assert document.tone == "bad"
    overview = document.pages[0]
    verdict, bill, workloads = overview.sections[:3]
    assert bill.facts[0].term == "Total, at least"
    assert any("chat has no decision (denied)" in line for line in verdict.text)
    assert workloads.table is not None
    assert workloads.table.rows[0][2:5] == (None, None, None)


def test_nothing_found_is_said() -> None:
    fine = checked([decision(chosen=outcome())], waivers=WaiverBook())
    document = document_of(Reported(fine), load_catalog(), DIGEST)
    assert document.tone == "good"
    pages = {page.id: page for page in document.pages}
    assert "nothing to deny" in " ".join(pages["denials"].sections[0].text)
    assert pages["waivers"].sections[0].title == "No waivers"


def test_only_these_very_scripts_may_run(hostile: Reader) -> None:
    policy = next(
        str(attrs["content"])
        for tag, attrs in hostile.elements
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


# One source of numbers.


def test_a_cell_keeps_the_whole_number() -> None:
    html = html_of(denied())
    # 2 and 4 digits of the shown share; the knots are 0 and 1, so nothing is cut off.
    assert "<th data-v>0.0000<td data-v>1<tr>" in html
    document = document_of(Reported(denied()), load_catalog(), DIGEST)
    assert all(
        part.chart is None or part.table is not None
        for page in document.pages
        for part in page.sections
    )


@pytest.mark.parametrize(
    ("chart", "table", "said"),
    [
        (Chart("pie", "x"), None, "no kind of chart 'pie'"),
        (Chart("memory", "x"), None, "needs a table beside it"),
        (Chart("memory", "x"), ("part",), "reads gib"),
        (Chart("memory", " "), ("part", "gib"), "no text for who cannot see it"),
        (Chart("memory", "x", {"now": 1}), ("part", "gib"), "takes no now"),
        (Chart("cost", "x", also={"crossovers": "none"}), ("volume",), "does not exist"),
    ],
)
def test_a_chart_that_its_table_cannot_feed_is_refused(
    chart: Chart, table: tuple[str, ...] | None, said: str
) -> None:
    made = table and Table("t", "caption", tuple(Column(key, key) for key in table), ())
    with pytest.raises(ValueError, match=re.escape(said)):
        check_chart(chart, made or None, {})


def test_every_kind_has_a_template() -> None:
    from planner.report.html.charts import TEMPLATES

    assert set(TEMPLATES) == set(KINDS)


def test_anchors_of_different_things_differ() -> None:
    assert anchor("cost", "chat", "table") == "cost.chat.table"
    names = ["a b", "a-b", "a.b", "a/b", HOSTILE]
    assert len({anchor("x", name) for name in names}) == len(names)


def test_two_parts_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from planner.report.html import document
    from planner.report.html.model import Page

    same = Page("p", "P", (Section("s", "S", ()), Section("s", "S", ())))
    monkeypatch.setattr(document, "pages_of", lambda told: (same,))
    with pytest.raises(ValueError, match="the id 's'"):
        document_of(Reported(denied()), load_catalog(), DIGEST)


# The same bytes again, and what is missing.

AGAIN = """
import hashlib
from tests.report.html.test_report import denied, html_of
print(hashlib.sha256(html_of(denied()).encode()).hexdigest())
"""


def test_equal_inputs_give_equal_bytes_in_any_process() -> None:
    other = subprocess.run(
        [sys.executable, "-c", AGAIN],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert other == hashlib.sha256(html_of(denied()).encode()).hexdigest()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(InputError) as error:
        build.require_libraries()
    assert 'pip install "llm-capacity[report]"' in str(error.value)
    assert "vl_convert cannot be imported" in str(error.value)
