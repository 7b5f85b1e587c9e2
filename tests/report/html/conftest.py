"""Reports of the example stacks, made once, and one headless Chromium to open them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, sync_playwright

from benchmarks.browser import OPTIONS, found_chromium
from benchmarks.report_shots import draw_all
from planner.cli.reporting import html_of
from planner.running import StackRun, run_stack
from tools.shell_env import PROJECT

AT = "2026-12-01T12:00:00Z"


@dataclass(frozen=True)
class Built:
    """A report as written, with what it tells of: the plan as its own JSON has it."""

    run: StackRun
    plan: dict[str, Any]
    html: str
    path: Path

    @property
    def url(self) -> str:
        return self.path.as_uri()


@pytest.fixture(scope="session")
def built(opa: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    """`built(stack)`: the report of an example stack, made when first asked for."""

    @functools.cache
    def make(stack: str) -> Built:
        run = run_stack(PROJECT, stack, at=AT, write=False)
        html = html_of(run)
        path = tmp_path_factory.mktemp("report") / f"{stack}.html"
        path.write_text(html, encoding="utf-8")
        return Built(run, json.loads(run.plan.to_json()), html, path)

    return make


# Its event loop runs as long as it is open: what comes after has to find none.
@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    found = found_chromium()
    if found is None:
        pytest.skip("no chromium on PATH: the report is not opened in a browser")
    started = playwright.chromium.launch(executable_path=found, args=[*OPTIONS])
    yield started
    started.close()


class Opened:
    """A report in a tab: what the console said, and what was asked of a network."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))

    def _console(self, message: ConsoleMessage) -> None:
        self.said.append(f"{message.type}: {message.text}")

    def goto(self, url: str) -> None:
        def count(route: Any) -> None:
            self.requests.append(route.request.url)
            route.continue_()

        self.page.route("**/*", count)
        self.page.goto(url)

    def draw_all(self) -> int:
        """Scroll to each chart until it is drawn; return how many there are."""
        return draw_all(self.page)

    def column(self, table: str, key: str) -> list[float | str | None]:
        """Return a column as the cells have it: full numbers, texts, None where unknown.

        ``table`` is the id of the table, or of the heading of its section.
        """
        found: list[float | str | None] = self.page.evaluate(
            """([id, key]) => {
                const named = document.getElementById(id);
                const table = named.tHead ? named : named.parentElement.querySelector("table");
                const at = [...table.tHead.rows[0].cells].findIndex((c) => c.dataset.k === key);
                return [...table.tBodies[0].rows].map((row) => {
                    const cell = row.cells[at], text = cell.textContent;
                    if (cell.hasAttribute("data-v"))
                        return Number(cell.getAttribute("data-v") || text.replaceAll(",", ""));
                    return text === "\\u2013" ? null : text;
                });
            }""",
            [table, key],
        )
        return found


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """`opened(url, width=..., ...)`: a tab of its own on a file."""
    contexts = []

    def make(url: str, *, width: int = 1440, height: int = 900, **options: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        tab = Opened(context.new_page())
        tab.goto(url)
        return tab

    yield make
    for context in contexts:
        context.close()
