"""The report in a real browser: no network, no complaint, charts of the tables, for everyone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from benchmarks.report_shots import shots
from planner.cli.reporting import html_of
from tests.report.html.conftest import Built, Opened

STACKS = ("bank-au", "saas-global")
MARKS = ".mark-line path, .mark-rect path, .mark-symbol path, .mark-area path"

Built_ = Callable[[str], Built]
Opened_ = Callable[..., Opened]


@pytest.mark.parametrize("stack", STACKS)
def test_every_chart_draws_and_nothing_is_asked_of_a_network(
    stack: str, built: Built_, opened: Opened_
) -> None:
    tab = opened(built(stack).url)
    assert tab.page.locator("[data-drawn]").count() < tab.page.locator(".plot").count()
    count = tab.draw_all()
    assert count >= 10
    marks = tab.page.evaluate(
        "marks => [...document.querySelectorAll('.plot')]"
        ".map(plot => [plot.dataset.kind, plot.querySelectorAll(marks).length])",
        MARKS,
    )
    assert [kind for kind, number in marks if number == 0] == []
    kinds = {"cost", "demand", "fleet", "latency", "memory", "roofline"}
    # No commitment of bank-au breaks even within its capacity at any mix.
    assert {kind for kind, _ in marks} == (kinds if stack == "bank-au" else kinds | {"break_even"})
    assert tab.said == []
    assert tab.requests == [built(stack).url]


def test_a_chart_draws_the_cells_of_its_table(built: Built_, opened: Opened_) -> None:
    tab = opened(built("bank-au").url)
    tab.draw_all()
    drawn = tab.page.evaluate(
        """() => {
            const plot = document.querySelector('.plot[data-kind=memory]');
            return [...plot.querySelectorAll('.mark-rect path')]
                .map((bar) => bar.getBBox().width);
        }"""
    )
    told = tab.column("memory.case-notes", "gib")
    # Bars lie side by side on one scale: their widths are in the proportion of the cells.
    scale = sum(drawn) / sum(float(gib or 0) for gib in told)
    assert drawn == pytest.approx([float(gib or 0) * scale for gib in told], abs=2)


@pytest.mark.parametrize("stack", STACKS)
def test_tables_have_the_numbers_of_the_plan(stack: str, built: Built_, opened: Opened_) -> None:
    plan, tab = built(stack).plan, opened(built(stack).url)
    decisions = plan["decisions"]
    costs = [d["chosen"]["cost"] for d in decisions]
    expected = {
        ("workloads-table", "workload"): [d["workload"] for d in decisions],
        ("workloads-table", "usd"): [c["total_usd_per_month"] for c in costs],
        ("workloads-table", "fixed"): [c["fixed_usd_per_month"] for c in costs],
        ("workloads-table", "usage"): [c["variable_usd_per_month"] for c in costs],
        ("workloads-table", "tightest"): [d["tightest_objective"] for d in decisions],
    }
    resources = plan["resources"]
    pools = resources["node_pools"]
    expected |= {
        ("gpus-table", "nodes"): [p["max_nodes"] for p in pools],
        ("gpus-table", "count"): [p["max_nodes"] * p["gpus_per_node"] for p in pools],
        ("quotas-table", "need"): [q["need"] for q in resources["quotas"]],
        ("quotas-table", "have"): [q["have"] for q in resources["quotas"]],
        ("steps-table", "text"): [s["text"] for s in resources["steps"]],
        ("units-table", "count"): [
            d["capacity"] for d in resources["deployments"] if d["kind"] == "provisioned"
        ],
    }
    for decision in decisions:
        if size := decision["chosen"]["self_hosted"]:
            ledger = size["replica"]["ledger"]
            parts = [
                ledger[f"{part}_bytes"]
                for part in ("weights", "activation", "non_torch", "graph", "kv_pool")
            ]
            expected[f"memory.{decision['workload']}", "bytes"] = [
                *parts, ledger["total_bytes"] - sum(parts),
            ]  # fmt: skip
    for (table, key), values in expected.items():
        found = tab.column(table, key)
        assert found == [
            pytest.approx(value, rel=1e-11) if isinstance(value, float) else value
            for value in values
        ], (table, key)
    totals = plan["totals"]
    assert sum(expected["gpus-table", "count"]) == totals["gpus"]
    figures = tab.page.evaluate(
        "() => [...document.querySelectorAll('#bill ~ dl dd')].map((item) => {"
        " const exact = item.querySelector('data');"
        " return Number(exact ? exact.value : item.firstChild.textContent.replaceAll(',', ''));"
        "})"
    )
    assert figures[:4] == pytest.approx(
        [totals[f"{part}_usd_per_month"] for part in ("total", "fixed", "variable", "engineering")],
        rel=1e-11,
    )


@pytest.mark.parametrize("stack", STACKS)
def test_the_cost_curve_passes_through_the_plan(stack: str, built: Built_, opened: Opened_) -> None:
    plan, tab = built(stack).plan, opened(built(stack).url)
    for decision in plan["decisions"]:
        table = f"cost.{decision['workload']}"
        volumes = tab.column(table, "volume")
        now = decision["mix"]["tokens_per_month"]
        at = next(i for i, v in enumerate(volumes) if float(v or 0) == pytest.approx(now, rel=1e-6))
        found = [
            tab.column(table, f"line{n}")[at] for n in (1, 2, 3, 4, 5, 6) if _has(tab, table, n)
        ]
        total = decision["chosen"]["compared_usd_per_month"]
        engineering = decision["engineering_usd_per_month"]
        assert any(
            usd == pytest.approx(total, rel=1e-4)
            or usd == pytest.approx(total + engineering, rel=1e-4)
            for usd in found
        ), (table, found, total)


def _has(tab: Opened, table: str, line: int) -> bool:
    return tab.page.locator(f"[id='{table}'] ~ details th[data-k=line{line}]").count() == 1


# Contrast is measured text by text: the smaller stack has every colour of the dark theme.
@pytest.mark.parametrize(("scheme", "stack"), [("light", "bank-au"), ("dark", "dev")])
def test_axe_finds_no_serious_violation(
    scheme: str, stack: str, built: Built_, opened: Opened_
) -> None:
    tab = opened(built(stack).url, color_scheme=scheme, bypass_csp=True)
    tab.draw_all()
    tab.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    # What lies out of sight is skipped in layout; the check has to see it.
    tab.page.add_style_tag(content=".part { content-visibility: visible !important; }")
    # The dark theme differs in its colours alone.
    only = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    found = Axe().run(tab.page, options={"resultTypes": ["violations"], **only}).response
    bad = [
        (item["id"], item["impact"], [node["target"] for node in item["nodes"]][:3])
        for item in found["violations"]
        if item["impact"] in ("serious", "critical")
    ]
    assert bad == []
    assert found["passes"]


@pytest.mark.parametrize("width", [375, 1440])
def test_the_page_is_never_wider_than_the_screen(
    width: int, built: Built_, opened: Opened_
) -> None:
    tab = opened(built("saas-global").url, width=width)
    tab.draw_all()
    tab.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    plots = tab.page.evaluate(
        "() => [...document.querySelectorAll('.plot')]"
        ".map((p) => [p.clientWidth, p.querySelector('svg').getBoundingClientRect().width])"
    )
    assert all(0.6 * wide < drawn <= wide + 1 for wide, drawn in plots), plots


def test_charts_follow_the_width_and_the_theme(built: Built_, opened: Opened_) -> None:
    tab = opened(built("bank-au").url, color_scheme="light")
    tab.draw_all()
    line = ".plot[data-kind=demand] .mark-line path"
    light = tab.page.locator(line).first.get_attribute("stroke")
    tab.page.emulate_media(color_scheme="dark")
    tab.page.wait_for_function(
        "([line, old]) => document.querySelector(line)?.getAttribute('stroke') !== old",
        arg=[line, light],
    )
    assert {light, tab.page.locator(line).first.get_attribute("stroke")} == {"#0072b2", "#56b4e9"}
    tab.page.set_viewport_size({"width": 500, "height": 900})
    tab.page.wait_for_function(
        "() => [...document.querySelectorAll('.plot svg')]"
        ".every((svg) => svg.getBoundingClientRect().width <= 500)"
    )
    assert tab.said == []


def test_the_keyboard_reaches_everything(built: Built_, opened: Opened_) -> None:
    tab = opened(built("bank-au").url)
    focused = "document.activeElement.outerHTML.slice(0, 90)"
    tab.page.keyboard.press("Tab")
    assert 'class="skip"' in tab.page.evaluate(focused)
    reached = []
    for _ in range(1_000):
        tab.page.keyboard.press("Tab")
        reached.append(
            tab.page.evaluate(
                "[document.activeElement.tagName, document.activeElement.id || "
                "document.activeElement.getAttribute('href') || "
                "document.activeElement.getAttribute('aria-labelledby') || "
                "document.activeElement.textContent]"
            )
        )
        if reached[-1][0] == "BODY":
            break
    summaries = tab.page.eval_on_selector_all("summary", "all => all.map((s) => s.textContent)")
    regions = tab.page.eval_on_selector_all(
        ".scroll",
        "all => all.filter((s) => !s.closest('details')).map((s) => "
        "s.getAttribute('aria-labelledby'))",
    )
    pages = tab.page.eval_on_selector_all("nav li a", "all => all.map((a) => a.hash)")
    assert len(summaries) >= 10
    headings = tab.page.eval_on_selector_all("section h2", "all => all.map((h) => `#${h.id}`)")
    assert pages == headings
    for kind, wanted in (("SUMMARY", summaries), ("DIV", regions), ("A", pages)):
        assert set(wanted) <= {name for tag, name in reached if tag == kind}
    tab.page.locator("summary").first.focus()
    tab.page.keyboard.press("Enter")
    assert tab.page.locator("details[open]").count() == 1


def test_without_javascript_everything_is_text_and_tables(built: Built_, opened: Opened_) -> None:
    tab = opened(built("bank-au").url, java_script_enabled=False)
    text = tab.page.locator("main").inner_text()
    assert "ALLOW, with warnings" in text
    assert tab.page.locator(".plot").first.is_visible() is False
    assert tab.page.locator("#workloads-table tbody tr").count() == 4
    details = tab.page.locator("details").first
    details.locator("summary").click()
    assert details.locator("table").is_visible()


def test_on_paper_all_is_open_drawn_and_light(built: Built_, opened: Opened_) -> None:
    tab = opened(built("bank-au").url, color_scheme="dark")
    count = tab.page.locator(".plot").count()
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.page.wait_for_function(
        "count => document.querySelectorAll('.plot[data-drawn]').length === count", arg=count
    )
    assert tab.page.locator("details:not([open])").count() == 0
    line = tab.page.locator(".plot[data-kind=demand] .mark-line path").first
    assert line.get_attribute("stroke") == "#0072b2"
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.page.locator("details[open]").count() == 0


def test_pictures_for_review_reach_the_end(built: Built_, browser: Browser, tmp_path: Path) -> None:
    report = built("bank-au").path
    taken = list(shots(browser, report, tmp_path, 1440, 3000, "light"))
    assert len(taken) >= 3
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in taken)


def test_a_report_is_built_twice_alike(built: Built_) -> None:
    one = built("bank-au")
    assert html_of(one.run) == one.html
    assert one.plan["capacity_digest"] in one.html
    assert one.plan["evidence_digest"] in one.html
