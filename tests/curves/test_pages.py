"""Pages of curves: tables that hold the curves, charts that their kinds can draw, sentences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import get_args

import pytest

from planner.curves.types import CostCurve, CostLine, Crossover
from planner.report.findings import Checked
from planner.report.html.amounts import rate_words, tokens_words
from planner.report.html.kinds import check_chart
from planner.report.html.model import Page, Reported, Section
from planner.report.html.pages import break_even, cost, latency, roofline
from planner.serving.sizing_types import Replica
from tests.curves.conftest import Drawn

AT = dt.datetime(2026, 12, 1, tzinfo=dt.UTC)

PAGES: tuple[Callable[[Reported], Page | None], ...] = (
    cost.page,
    break_even.page,
    latency.page,
    roofline.page,
)


def reported(drawn: Drawn) -> Reported:
    return Reported(Checked(drawn.plan, AT), drawn.curves)


def section(page: Page | None, title: str) -> Section:
    assert page is not None
    return next(section for section in page.sections if section.title == title)


def column(found: Section, key: str) -> list[object]:
    assert found.table is not None
    at = [column.key for column in found.table.columns].index(key)
    return [row[at] for row in found.table.rows]


def test_every_chart_can_be_drawn_from_its_table(stacks: dict[str, Drawn]) -> None:
    charts = 0
    for drawn in stacks.values():
        pages = [page(reported(drawn)) for page in PAGES]
        sections = [section for page in pages if page for section in page.sections]
        tables = {section.table.id: section.table for section in sections if section.table}
        assert len({section.id for section in sections}) == len(sections)
        assert len(tables) == len(sections)
        for found in sections:
            assert found.table is not None
            assert all(len(row) == len(found.table.columns) for row in found.table.rows)
            if found.chart is not None:
                charts += 1
                check_chart(found.chart, found.table, tables)
    # Ten of cost, two of break-even for each of two commitments, two of each of the rest.
    assert charts == 10 + 4 + 2 + 2


def test_a_stack_without_dedicated_capacity_has_the_cost_page_alone(
    stacks: dict[str, Drawn],
) -> None:
    told = reported(stacks["dev"])
    assert [page(told) is not None for page in PAGES] == [True, False, False, False]


def test_without_curves_no_page_is_made(stacks: dict[str, Drawn]) -> None:
    told = Reported(Checked(stacks["bank-au"].plan, AT))
    assert [page(told) for page in PAGES] == [None] * 4


def test_the_cost_table_is_the_curve(stacks: dict[str, Drawn]) -> None:
    drawn = stacks["bank-au"]
    found = section(cost.page(reported(drawn)), "adviser-assist")
    curve = drawn.curves["adviser-assist"].cost
    assert curve is not None
    assert column(found, "volume") == list(curve.tokens_per_month)
    assert found.table is not None
    assert found.chart is not None
    titles = [column.title for column in found.table.columns[1:]]
    assert len(set(titles)) == len(titles) == len(curve.lines)
    assert found.chart.params == {"now": curve.tokens_per_month_now, "chosen": titles[0]}
    for number, line in enumerate(curve.lines, start=1):
        assert column(found, f"line{number}") == list(line.usd_per_month)
    crossed = section(cost.page(reported(drawn)), "Crossovers of adviser-assist")
    assert crossed.table is not None
    assert found.chart.also == {"crossovers": crossed.table.id}
    assert column(crossed, "volume") == [c.tokens_per_month for c in curve.crossovers]


def test_a_reader_is_told_where_the_choice_turns(stacks: dict[str, Drawn]) -> None:
    text = " ".join(section(cost.page(reported(stacks["bank-au"])), "adviser-assist").text)
    # 0.63548 of 10.44 B tokens a month; 25 units at 1,460 USD and what spills.
    assert "$37,316 a month at today's 10.4 B tokens" in text
    assert "Below 6.64 B tokens a month ProvisionedManaged gpt-4.1-mini" in text
    # The quota of 200 units: 10 to the 1/2 and more times the demand, and a spill of a quarter.
    assert "It cannot serve 104 B tokens a month as it is bounded now." in text
    assert "$6,727 today, for comparison alone" in text
    copilot = " ".join(section(cost.page(reported(stacks["saas-global"])), "us-copilot").text)
    assert "The cheapest drawn up to 907 B tokens a month, then self-hosted Qwen" in copilot
    assert "Below 6.54 B tokens a month GlobalStandard gpt-5-mini in eastus2 costs less" in copilot
    assert "engineering line, $25,000 a month" in copilot


def test_break_even_beyond_the_capacity_is_said_and_not_drawn(stacks: dict[str, Drawn]) -> None:
    page = break_even.page(reported(stacks["bank-au"]))
    found = section(page, "adviser-assist")
    assert "never breaks even" in found.text[0]
    assert "508.4% of its capacity" in found.text[0]
    assert found.chart is None
    assert set(column(found, "tokens")) == {None}


def test_break_even_is_told_with_todays_volume(stacks: dict[str, Drawn]) -> None:
    drawn = stacks["saas-global"]
    found = section(break_even.page(reported(drawn)), "us-copilot")
    curve = drawn.curves["us-copilot"].break_even
    assert curve is not None
    assert (
        "at 103 B tokens a month, 40.4% of its capacity; today's volume is 227 B" in (found.text[0])
    )
    # By hand: 25,896 USD over 0.156 and 1.98 USD a million tokens of 1% and 99% output.
    assert found.text[1] == (
        "The break-even is 166 B tokens a month at an output fraction of 1.0%, and 13.1 B at 99.0%."
    )
    assert column(found, "tokens") == [p.tokens_per_month for p in curve.by_output_fraction]
    assert found.chart is not None
    assert found.chart.params["now"] == 0.0618
    assert found.chart.params["volume"] == drawn.plan.decisions[3].mix.tokens_per_month


def test_latency_is_told_at_the_peak_with_its_objectives(stacks: dict[str, Drawn]) -> None:
    found = section(latency.page(reported(stacks["bank-au"])), "case-notes")
    assert "takes 146.6 requests a minute: TTFT p95 1,515 ms of 4,000 allowed" in found.text[0]
    assert "ITL p95 48 ms of 120 allowed" in found.text[0]
    assert (
        "at most 219.5 requests a minute (limited by the memory of its KV cache)" in found.text[1]
    )
    assert found.chart is not None
    assert found.chart.params["ttft_objective"] == 4000.0
    assert found.chart.params["planned"] == column(found, "rate")[-1]


def test_every_limit_of_a_replica_has_words() -> None:
    limits = Replica.model_fields["limited_by"].annotation
    assert set(latency.LIMITS) == set(get_args(limits))


def test_the_roofline_names_what_binds_each_phase(stacks: dict[str, Drawn]) -> None:
    found = section(roofline.page(reported(stacks["bank-au"])), "case-notes")
    assert found.text[0] == (
        "H100-NVL-94GB: 836 TFLOP/s in bf16, 3.94 TB/s; the ridge is at 212 FLOPs per byte."
    )
    assert "bound by arithmetic" in found.text[1]
    assert "bound by bandwidth" in found.text[2]
    assert column(found, "roof") == [835.5e12, pytest.approx(3_938e9 * 50.92, rel=1e-3)]


def curve(lines: dict[str, tuple[float | None, ...]], *crossovers: Crossover) -> CostCurve:
    return CostCurve(
        tokens_per_month=(1e6, 1e7, 1e8),
        tokens_per_month_now=1e7,
        lines=tuple(
            CostLine(option=name, label=name, chosen=name == "a", usd_per_month=usd)
            for name, usd in lines.items()
        ),
        crossovers=crossovers,
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({"a": (1.0, 2.0, 3.0)}, "No other option could serve"),
        ({"a": (1.0, 2.0, 3.0), "b": (9.0, 9.0, 9.0)}, "No option drawn beside it costs less"),
        ({"a": (1.0, 2.0, 3.0), "b": (9.0, 1.0, 9.0)}, "b would cost less today"),
        # It serves only there, so nothing crosses: the volume drawn is what is known.
        ({"a": (1.0, 2.0, 3.0), "b": (None, None, 1.0)}, "up to 100 M tokens a month, then b"),
        ({"a": (5.0, 6.0, 7.0), "b": (1.0, 9.0, 9.0)}, "Below 1.00 M tokens a month b costs less"),
    ],
)
def test_what_is_said_of_lines(lines: dict[str, tuple[float | None, ...]], said: str) -> None:
    drawn = curve(lines)
    assert said in " ".join(cost._turns(drawn, drawn.lines[0]))


def test_a_crossover_nearer_than_the_next_volume_is_the_one_told() -> None:
    crossing = Crossover(from_option="a", to_option="b", tokens_per_month=3.12e7, usd_per_month=2.5)
    drawn = curve({"a": (1.0, 2.0, 3.0), "b": (2.0, 2.4, 2.6)}, crossing)
    assert list(cost._turns(drawn, drawn.lines[0])) == [
        "The cheapest drawn up to 31.2 M tokens a month, then b."
    ]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.00 k"),
        (15_014_535_714.3, "15.0 B"),
        (226_731_593_735.3, "227 B"),
        (9.9996e11, "1.00 T"),
        (999.6, "1.00 k"),
        (5.6e13, "56.0 T"),
    ],
)
def test_tokens_in_words_of_three_digits(tokens: float, words: str) -> None:
    assert tokens_words(tokens) == words


def test_rates_carry_their_prefix_on_the_unit() -> None:
    assert rate_words(1.978e15, "FLOP/s") == "1.98 PFLOP/s"
    assert rate_words(3.938e12, "B/s") == "3.94 TB/s"
    assert rate_words(12, "B/s") == "12 B/s"
