"""How long a report of 500 workloads takes to build, how large it is, how soon it is read.

`python -m benchmarks.report_speed` prints the figures. Planning is not timed: the plan
repeats what two example stacks decide, under other names and with the traffic of each
workload its own, so that no two share their curves. Chromium, where there is one on PATH,
opens the file as a person would; its charts are drawn when they are scrolled to.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.browser import chromium
from planner.capacity import Resources
from planner.cli.reporting import html_of
from planner.decision import Decision
from planner.plan import Totals
from planner.running import StackRun, run_stack
from planner.workload import Workload
from tools.shell_env import PROJECT

STACK = "bank-au"
WORKLOADS = 500
AT = "2026-12-01T12:00:00Z"

LIMIT_SECONDS = 10.0
LIMIT_BYTES = 5_000_000
LIMIT_READABLE_SECONDS = 2.0


class Opened(NamedTuple):
    """Seconds from the start of the navigation, as the browser's own clock has them."""

    first_paint: float
    ready: float
    first_chart: float


def repeated(run: StackRun, workloads: int) -> StackRun:
    """Return the run with its workloads in turn until there are as many as asked."""
    names = [f"workload-{number:04d}" for number in range(workloads)]
    declared = {item.name: item for item in run.stack.workloads}
    pairs = list(_pairs(run, names, declared))
    plan = run.plan.model_copy(
        update={
            "decisions": tuple(decision for decision, _ in pairs),
            "resources": _resources(run.plan.resources, names, _sources(run, workloads)),
            "totals": _totals(run.plan.totals, workloads // len(run.plan.decisions)),
        }
    )
    stack = dataclasses.replace(
        run.stack,
        workloads=tuple(workload for _, workload in pairs),
        traces={
            name: run.stack.traces[of]
            for name, of in zip(names, _sources(run, workloads), strict=True)
            if of in run.stack.traces
        },
        files={name: f"stacks/{STACK}/{name}.yaml" for name in names},
    )
    return dataclasses.replace(run, plan=plan, stack=stack)


def _resources(held: Resources, names: list[str], sources: list[str]) -> Resources:
    """Return what exists for each workload as often as there are such; nodes stay shared."""
    repeated = {
        kind: tuple(
            item.model_copy(update={"workload": name})
            for name, of in zip(names, sources, strict=True)
            for item in getattr(held, kind)
            if item.workload == of
        )
        for kind in ("servers", "deployments", "purchases")
    }
    return held.model_copy(update=repeated)


def _totals(held: Totals, times: int) -> Totals:
    """Return the totals of as many stacks; engineering is paid once."""
    fixed, variable = held.fixed_usd_per_month * times, held.variable_usd_per_month * times
    return held.model_copy(
        update={
            "fixed_usd_per_month": fixed,
            "variable_usd_per_month": variable,
            "total_usd_per_month": fixed + variable + held.engineering_usd_per_month,
        }
    )


def _sources(run: StackRun, workloads: int) -> list[str]:
    own = [decision.workload for decision in run.plan.decisions]
    return [own[number % len(own)] for number in range(workloads)]


def _pairs(
    run: StackRun, names: list[str], declared: dict[str, Workload]
) -> Iterator[tuple[Decision, Workload]]:
    decisions = {decision.workload: decision for decision in run.plan.decisions}
    sources = _sources(run, len(names))
    for number, (name, of) in enumerate(zip(names, sources, strict=True)):
        # Options and findings carry the workload's name.
        decision = Decision.model_validate_json(decisions[of].model_dump_json().replace(of, name))
        # A horizon of its own: the curves of no two workloads are the same object.
        growth = 1.0 + number * 1e-9
        mix = decision.mix.model_copy(update={"growth_factor": growth})
        workload = declared[of].model_copy(update={"name": name})
        yield decision.model_copy(update={"mix": mix}), workload


class Built(NamedTuple):
    """A report, and what it took: seconds by the clock, and of the processor."""

    html: str
    seconds: float
    cpu_seconds: float


def built(run: StackRun) -> Built:
    """Build the report as `llm-capacity report` does after planning: curves, numbers, HTML."""
    start, cpu = time.perf_counter(), time.process_time()
    html = html_of(run)
    return Built(html, time.perf_counter() - start, time.process_time() - cpu)


def opened(path: Path) -> Opened | None:
    """Open the file in Chromium; None where there is none on PATH."""
    with chromium() as browser:
        if browser is None:
            return None
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(path.as_uri(), wait_until="load")
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        paint, ready = page.evaluate(
            "[performance.getEntriesByName('first-contentful-paint')[0].startTime,"
            " performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd]"
        )
        start = time.perf_counter()
        page.locator(".plot").first.scroll_into_view_if_needed()
        page.locator(".plot[data-drawn]").first.wait_for()
        chart = time.perf_counter() - start
    return Opened(paint / 1000, ready / 1000, chart)


def main() -> int:
    run = repeated(run_stack(PROJECT, STACK, at=AT, write=False), WORKLOADS)
    # A run keeps the digest of its plan in its record.
    run = dataclasses.replace(run, record={"plan_digest": run.plan.evidence_digest})
    html, seconds, cpu = built(run)
    size = len(html.encode())
    print(
        f"{WORKLOADS} workloads: built in {seconds:.1f} s, {cpu:.1f} s of the processor (limit "
        f"{LIMIT_SECONDS:.0f} s), {size / 1e6:.2f} MB (limit {LIMIT_BYTES / 1e6:.0f} MB)"
    )
    slow = seconds > LIMIT_SECONDS or size > LIMIT_BYTES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        path.write_text(html, encoding="utf-8")
        times = opened(path)
    if times is None:
        print("no chromium on PATH: the time to read it was not measured")
    else:
        print(
            f"Chromium: first paint {times.first_paint:.2f} s, ready {times.ready:.2f} s "
            f"(limit {LIMIT_READABLE_SECONDS:.0f} s), first chart {times.first_chart:.2f} s after "
            "it is scrolled to"
        )
        slow = slow or max(times.first_paint, times.ready) > LIMIT_READABLE_SECONDS
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
