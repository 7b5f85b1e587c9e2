"""Self-hosting: hours, unit cost, and published examples right and wrong."""

from __future__ import annotations

import pytest

from planner.economics.breakeven import break_even_tokens
from planner.economics.selfhost import (
    machines_usd_per_month,
    running_hours_per_month,
    unit_cost_usd_per_mtok,
)
from planner.workload import BatchWindow

NIGHTS = BatchWindow(hours="22:00-06:00", days=("mon", "tue", "wed", "thu", "fri"))


def test_interactive_nodes_run_all_month_and_batch_nodes_their_window() -> None:
    assert running_hours_per_month("interactive", None) == 730.0
    assert running_hours_per_month("batch", None) == 730.0
    assert running_hours_per_month("batch", NIGHTS) == pytest.approx(40 / 168 * 730)
    # Half an hour to start on each of five days.
    assert running_hours_per_month("batch", NIGHTS, 0.5) == pytest.approx(42.5 / 168 * 730)
    always = BatchWindow(
        hours="00:00-00:00", days=("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    )
    assert running_hours_per_month("batch", always, 1.0) == pytest.approx(730.0)


def test_machines_for_a_month() -> None:
    assert machines_usd_per_month(3.0, 8) == pytest.approx(17_520.0)
    assert machines_usd_per_month(3.0, 8, 100.0) == pytest.approx(2_400.0)


def per_mtok(usd_per_hour: float, tokens_per_s: float) -> float:
    cost = unit_cost_usd_per_mtok(usd_per_hour, tokens_per_s * 3600)
    assert cost is not None
    return cost


def test_utilisation_decides_unit_cost() -> None:
    # $2.50 an hour at 70 tokens a second is $9.92 a million (dreaming.press).
    assert per_mtok(2.5, 70) == pytest.approx(9.92, abs=0.005)
    assert per_mtok(2.5, 70) == pytest.approx(10 * per_mtok(2.5, 700))


def test_a_published_error_of_200_times_is_not_reproduced() -> None:
    # leanlm.ai prints "well under $0.01 per million" for $2.50 an hour at 300 output
    # tokens a second: it is $2.31, the printed figure looks like one per thousand.
    assert per_mtok(2.5, 300) == pytest.approx(2.31, abs=0.006)
    assert per_mtok(2.5, 300) > 200 * 0.01


@pytest.mark.parametrize(("usd_per_query", "queries"), [(0.00505, 16_111), (0.00705, 11_540)])
def test_queries_a_day_that_pay_for_a_gpu(usd_per_query: float, queries: float) -> None:
    # An H100 at $3.39 an hour against a price for each query (public gist, ipapapa).
    found = break_even_tokens(3.39 * 24, usd_per_query * 1e6)
    assert found == pytest.approx(queries, abs=1)


def test_a_small_model_with_escalation() -> None:
    # 2,950 requests an hour on a $2.50 GPU, 4.2% of them sent on at $0.004: $0.001015 a
    # request, 74.6% below sending all (Manning, LLM operations).
    own = unit_cost_usd_per_mtok(2.5, 2_950)
    assert own is not None
    cost = own / 1e6 + 0.042 * 0.004
    assert cost == pytest.approx(0.001015, abs=1e-6)
    assert 1 - cost / 0.004 == pytest.approx(0.746, abs=5e-4)


def test_a_break_even_needs_the_capacity_of_the_unit() -> None:
    # $5 a model-unit hour against 0.00025 / 0.00125 per 1,000 tokens at 80/20: a unit must
    # carry 185,185 tokens a minute to break even at all; "60-70% utilisation" does not
    # follow without that capacity (mindmeshacademy.com, section 6.1.3).
    tokens = break_even_tokens(5.0 * 730, 0.8 * 0.25 + 0.2 * 1.25)
    assert tokens is not None
    assert tokens / 43_800 == pytest.approx(185_185, abs=1)
