"""Pictures of a report for whoever reviews how it looks: a phone and a desk, light and dark.

`python -m benchmarks.report_shots STACK...` writes out/shots/STACK-WIDTH-SCHEME-PART.png, each
part a screen or two of the page, with every chart drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.browser import chromium
from planner.cli.reporting import html_of
from planner.running import run_stack
from tools.shell_env import PROJECT

FOLDER = PROJECT / "out" / "shots"
STACKS = ("bank-au", "saas-global")
VIEWS = ((375, 1600, "light"), (375, 1600, "dark"), (1440, 1200, "light"), (1440, 1200, "dark"))
"""Width and height of a picture in CSS pixels, and the colour scheme."""


def draw_all(page: Page) -> int:
    """Scroll to each chart until it is drawn; return how many there are."""
    plots = page.locator(".plot")
    for number in range(plots.count()):
        plot = plots.nth(number)
        plot.scroll_into_view_if_needed()
        plot.and_(page.locator("[data-drawn]")).wait_for(state="attached", timeout=30_000)
    return plots.count()


def shots(
    browser: Browser, report: Path, folder: Path, width: int, height: int, scheme: str
) -> Iterator[Path]:
    """Yield the pictures of a report in one view, from its top to its end."""
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.goto(report.as_uri())
    draw_all(page)
    # What is out of sight has no height of its own until it is laid out.
    page.evaluate(
        "document.querySelectorAll('.part').forEach((p) => {"
        " p.style.contentVisibility = 'visible'; })"
    )
    for number, top in enumerate(range(0, page.evaluate("document.body.scrollHeight"), height)):
        page.evaluate("(top) => scrollTo(0, top)", top)
        path = folder / f"{report.stem}-{width}-{scheme}-{number:02d}.png"
        page.screenshot(path=path)
        yield path
    page.close()


def main(stacks: list[str]) -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if browser is None:
            print("no chromium on PATH: no pictures were taken", file=sys.stderr)
            return 1
        for stack in stacks or STACKS:
            report = FOLDER / f"{stack}.html"
            report.write_text(html_of(run_stack(PROJECT, stack, write=False)), encoding="utf-8")
            for view in VIEWS:
                for path in shots(browser, report, FOLDER, *view):
                    print(path.relative_to(PROJECT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
