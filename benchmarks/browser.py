"""The Chromium of PATH without a window, for what is measured or drawn of a report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def found_chromium() -> str | None:
    """Return the path of Chromium, None where there is none on PATH."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def chromium() -> Iterator[Browser | None]:
    """Run Chromium for as long as the context lasts; None where there is none on PATH."""
    path = found_chromium()
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*OPTIONS])
        try:
            yield browser
        finally:
            browser.close()
