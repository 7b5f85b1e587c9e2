"""docs/numbers.md repeats the explained numbers; what it links and quotes is there."""

from __future__ import annotations

import re

from benchmarks.latency_accuracy import compared
from planner.report.numbers.explanations import explanations
from planner.running import StackRun
from tests.report.numbers.conftest import STACKS
from tools.numbers import PAGE, general, page_text
from tools.shell_env import PROJECT

EXPLANATION = PROJECT / "docs/explanation/how-a-decision-is-made.md"


def test_the_page_is_the_code_s(runs: dict[str, StackRun]) -> None:
    order = [runs[name] for name in sorted(STACKS)]
    assert (PROJECT / PAGE).read_text(encoding="utf-8") == page_text(order)


def test_every_kind_has_a_heading(runs: dict[str, StackRun]) -> None:
    headings = set(re.findall(r"^### `(.+)`$", (PROJECT / PAGE).read_text(), re.MULTILINE))
    for run in (runs[name] for name in STACKS):
        for found in explanations(run.plan, run.stack, run.catalog).values():
            assert general(found.kind) in headings


def test_measured_errors_are_those_that_the_commands_print() -> None:
    text = EXPLANATION.read_text()
    memory = (PROJECT / "benchmarks/memory_accuracy.md").read_text()
    assert "39 of 39 within the bound, worst 4.6%" in memory
    assert "13 of 14 within the bound, worst 9.5%" in memory
    assert 'False "fits": 0' in memory
    assert re.search(r"39 of 39\s+figures lie within their bounds, the worst 4\.6% off", text)
    assert re.search(r"13 of 14, the worst\s+9\.5%", text)
    worst_itl = max(abs(item.itl_error) for item in compared())
    least, most = (f(-item.ttft_error for item in compared()) for f in (min, max))
    told = re.search(r"within (\d+)%, the time to the first token (\d+)\s+to (\d+)% below", text)
    assert told is not None
    assert [int(n) for n in told.groups()] == [round(100 * n) for n in (worst_itl, least, most)]
