"""The pages in their order: a new page is a module of its own and a line here."""

from __future__ import annotations

from collections.abc import Callable

from planner.report.html.model import Page, Reported
from planner.report.html.pages import (
    break_even,
    cost,
    demand,
    denials,
    fleet,
    latency,
    memory,
    numbers,
    overview,
    roofline,
    waivers,
)

PAGES: tuple[Callable[[Reported], Page | None], ...] = (
    overview.page,
    denials.page,
    waivers.page,
    cost.page,
    break_even.page,
    fleet.page,
    demand.page,
    memory.page,
    latency.page,
    roofline.page,
    numbers.page,
)
"""Each returns None where it has nothing to tell."""


def pages_of(told: Reported) -> tuple[Page, ...]:
    """Return the pages that have something to tell, in order."""
    made = (page(told) for page in PAGES)
    return tuple(page for page in made if page is not None)
