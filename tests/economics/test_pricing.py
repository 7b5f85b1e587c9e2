"""Whole costs: pay-as-you-go, provisioned and self-hosted, and what must stay unknown."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.declared.accounts import Commitment
from planner.demand import Demand, DemandCurve
from planner.economics.cost_types import Cost, FloorStep
from planner.economics.floor import FloorRules
from planner.economics.pricing import price_payg, price_provisioned, price_self_hosted
from planner.workload import Lengths

Make = Callable[..., Any]
FREE = FloorRules()
DEDICATED = FloorRules(dedicated=True)


def replicas(count: int, usd: float, capacity: float = 200_000.0) -> list[FloorStep]:
    return [
        FloorStep(units=n, capacity=n * capacity, fixed_usd_per_month=n * usd, nodes=n)
        for n in range(1, count + 1)
    ]


def test_pay_as_you_go_is_the_bill(demand: Make, option: Make, book: Make) -> None:
    work = demand()
    cost = price_payg(
        work, option(kind="payg", deployment_type="GlobalStandard"), book(), tier="interactive"
    )
    assert cost.status == "known"
    assert cost.total_usd_per_month == pytest.approx(work.tokens.mean * 43_800 * 3.2 / 1e6)
    assert cost.usd_per_mtok == pytest.approx(3.2)
    assert (cost.fixed_usd_per_month, cost.floor) == (0.0, None)
    assert cost.exit is not None
    assert cost.exit.usd == 0.0
    assert cost.price_sources == (
        "price row: azure/gpt-4.1/GlobalStandard/* 2026-11-29 price list",
    )


def test_a_published_monthly_bill(demand: Make, option: Make, book: Make, payg: Make) -> None:
    # 60M input and 40M output tokens of gpt-4o at $2.50 / $10 are $550 (deploybase.ai).
    tokens = DemandCurve.constant(100e6 / 43_800)
    rows = [payg(model="gpt-4o", input_usd_per_mtok=2.5, output_usd_per_mtok=10.0)]
    cost = price_payg(
        demand(tokens=tokens, output_fraction=0.4),
        option(kind="payg", model="gpt-4o", deployment_type="GlobalStandard"),
        book(payg=rows),
        tier="interactive",
    )
    assert cost.total_usd_per_month == pytest.approx(550.0)


def test_batch_work_takes_batch_prices_and_a_multiplier_scales_tokens(
    demand: Make, option: Make, book: Make
) -> None:
    where = option(kind="payg", deployment_type="GlobalStandard")
    live = price_payg(demand(), where, book(), tier="interactive")
    batch = price_payg(demand(), where, book(), tier="batch", token_multiplier=1.5)
    assert live.total_usd_per_month is not None
    assert batch.total_usd_per_month == pytest.approx(live.total_usd_per_month * 1.5 / 2)
    assert batch.usd_per_mtok == pytest.approx(1.6)


def test_a_provisioned_floor_adds_up(demand: Make, option: Make, book: Make) -> None:
    work = demand()
    cost = price_provisioned(work, option(), book(), rules=DEDICATED)
    assert cost.status == "known"
    floor, reference = cost.floor, cost.p50_reference
    assert floor is not None
    assert reference is not None
    curve = work.weighted_curve(4.0, 0.0)
    assert floor.step.capacity >= curve.quantile(0.5)
    assert floor.step.units % 5 == 0
    assert cost.fixed_usd_per_month == pytest.approx(floor.step.units * 221.0)
    assert cost.total_usd_per_month == pytest.approx(
        floor.step.units * 221.0 + floor.spill_usd_per_month
    )
    # Spill pays the blend of $3.20 over 1.6 weighted tokens a token.
    assert floor.spill_usd_per_month == pytest.approx(
        floor.spill_share * curve.mean * 43_800 * 3.2 / 1.6 / 1e6
    )
    payg_total = work.tokens.mean * 43_800 * 3.2 / 1e6
    assert cost.total_usd_per_month is not None
    assert cost.dedication_usd_per_month == pytest.approx(cost.total_usd_per_month - payg_total)
    assert floor.total_usd_per_month <= reference.total_usd_per_month
    even = cost.break_even
    assert even is not None
    assert even.utilization == pytest.approx(0.841, abs=5e-4)  # a year of gpt-4.1
    assert (even.output_fraction, even.cached_fraction) == (0.2, 0.0)
    assert len(cost.price_sources) == 3


def test_spill_counts_bursts_inside_a_minute(demand: Make, option: Make, book: Make) -> None:
    work = demand()
    cost = price_provisioned(work, option(), book(), rules=DEDICATED)
    assert cost.floor is not None
    plain = work.weighted_curve(4.0, 0.0).spill_share(cost.floor.step.capacity)
    assert cost.floor.spill_share > plain


def test_a_floor_that_does_not_pay_is_no_floor_unless_it_is_owed(
    demand: Make, option: Make, book: Make, price: Make
) -> None:
    hourly = book(provisioned=[price(term_months=0, usd_per_unit_month=730.0)])
    free = price_provisioned(demand(), option(term_months=0), hourly, rules=FREE)
    assert free.floor is not None
    assert free.floor.step.units == 0
    assert free.dedication_usd_per_month == pytest.approx(0.0, abs=1e-6)
    assert free.p50_reference is not None
    assert free.p50_reference.step.units > 0
    assert free.break_even is not None
    # 280% of an hourly unit's capacity: never.
    assert free.break_even.tokens_per_month is None
    assert "none within capacity" in free.break_even.note
    owed = price_provisioned(demand(), option(term_months=0), hourly, rules=DEDICATED)
    assert owed.dedication_usd_per_month is not None
    assert owed.dedication_usd_per_month > 0


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        ({"units": []}, "no unit row"),
        ({"provisioned": []}, "no price row: azure/gpt-4.1/GlobalProvisionedManaged"),
        ({"payg": []}, "spill target: no price row: azure/gpt-4.1/GlobalStandard"),
    ],
)
def test_a_missing_price_is_unknown_never_zero(
    demand: Make, option: Make, book: Make, gap: dict[str, Any], said: str
) -> None:
    cost = price_provisioned(demand(), option(), book(**gap), rules=FREE)
    assert cost.status == "unknown"
    assert said in cost.missing[0]
    figures = (cost.total_usd_per_month, cost.fixed_usd_per_month, cost.variable_usd_per_month)
    assert figures == (None, None, None)


def test_pay_as_you_go_without_a_price_is_unknown(demand: Make, option: Make, book: Make) -> None:
    cost = price_payg(
        demand(), option(kind="payg", deployment_type="Standard"), book(), tier="interactive"
    )
    assert (cost.status, cost.total_usd_per_month) == ("unknown", None)
    assert cost.missing == ("no price row: azure/gpt-4.1/Standard/swedencentral",)


def test_prompts_longer_than_a_price_or_a_unit_allows(
    demand: Make, option: Make, book: Make, payg: Make, unit: Make
) -> None:
    long = demand(prompt_tokens=Lengths(mean=100_000.0, p50=90_000.0, p95=250_000.0))
    capped = book(payg=[payg(max_prompt_tokens=200_000)])
    where = option(kind="payg", deployment_type="GlobalStandard")
    assert price_payg(long, where, capped, tier="interactive").status == "unknown"
    assert price_payg(demand(), where, capped, tier="interactive").status == "known"
    tight = book(units=[unit(max_prompt_tokens=128_000)])
    cost = price_provisioned(long, option(), tight, rules=FREE)
    assert cost.status == "infeasible"
    assert "128,000" in cost.missing[0]


def test_a_quota_below_the_floor_that_is_owed_is_infeasible(
    demand: Make, option: Make, book: Make
) -> None:
    cost = price_provisioned(demand(), option(), book(), rules=DEDICATED, quota_units=50)
    assert (cost.status, cost.total_usd_per_month) == ("infeasible", None)
    assert "the largest step carries 150,000 tokens/min" in cost.missing[0]


def test_owned_units_are_sunk_even_where_their_price_is_unknown(
    demand: Make, option: Make, book: Make
) -> None:
    owned = Commitment(
        id="r1",
        provider="azure",
        deployment_type="GlobalProvisionedManaged",
        region="swedencentral",
        units=100,
        term_end=dt.date(2027, 11, 29),
        usd_per_month=22_100.0,
    )
    with_price = price_provisioned(demand(), option(), book(), rules=FREE, commitments=[owned])
    assert with_price.floor is not None
    assert with_price.floor.step.units >= 100
    assert with_price.fixed_usd_per_month == pytest.approx(
        (with_price.floor.step.units - 100) * 221.0
    )
    without = price_provisioned(
        demand(), option(), book(provisioned=[]), rules=FREE, commitments=[owned]
    )
    assert without.status == "known"
    assert without.fixed_usd_per_month == 0.0
    assert without.missing
    # A floor beyond what is owned has no price: unknown, not infeasible and not free.
    beyond = price_provisioned(
        demand(), option(), book(provisioned=[]), rules=DEDICATED, commitments=[owned]
    )
    assert beyond.status == "unknown"


def test_the_exit_is_priced_inside_the_term(demand: Make, option: Make, book: Make) -> None:
    leaving = price_provisioned(
        demand(), option(), book(), rules=DEDICATED, retires_on=dt.date(2027, 4, 14)
    ).exit
    assert leaving is not None
    assert leaving.rule.startswith("Azure reservation")
    assert "2027-04-14" in leaving.note


def test_without_a_target_units_cover_the_peak(demand: Make, option: Make, book: Make) -> None:
    work = demand()
    cost = price_provisioned(work, option(spill=None), book(), rules=FREE)
    assert cost.floor is not None
    assert cost.floor.step.capacity >= work.weighted_curve(4.0, 0.0).peak
    assert cost.variable_usd_per_month == 0.0
    assert cost.dedication_usd_per_month is None  # nothing to compare with was given


def test_self_hosting_has_a_floor_and_spills_too(
    demand: Make, option: Make, book: Make, payg: Make
) -> None:
    work = demand()
    hosted = option(kind="self_hosted", deployment_type="p5.48xlarge", term_months=0)
    cost = price_self_hosted(
        work, hosted, book(), steps=replicas(8, 10_000.0), rules=FREE, tier="interactive",
        engineering_usd_per_month=25_000.0, price_sources=("price row: aws/p5.48xlarge",),
    )  # fmt: skip
    assert cost.floor is not None
    assert 0 < cost.floor.step.capacity < work.tokens.peak  # below the peak: the rest spills
    assert cost.floor.step.nodes == cost.floor.step.units
    assert cost.price_sources[0] == "price row: aws/p5.48xlarge"
    assert cost.exit is not None
    assert cost.exit.usd == 0.0
    even = cost.break_even
    assert even is not None
    # Engineering is paid once: it enters the break-even, not this option's total.
    assert even.commitment_usd_per_month >= cost.floor.step.fixed_usd_per_month + 25_000
    alone = price_self_hosted(
        work, hosted.model_copy(update={"spill": None}), book(),
        steps=replicas(8, 10_000.0), rules=FREE, tier="interactive", comparator=payg(),
    )  # fmt: skip
    assert alone.floor is not None
    assert alone.floor.step.units == 8  # 1.5M tokens a minute at 200,000 a replica
    assert alone.floor.use_share < cost.floor.use_share
    assert alone.dedication_usd_per_month is not None


def test_self_hosting_beyond_its_nodes_is_infeasible_and_without_a_price_unknown(
    demand: Make, option: Make, book: Make
) -> None:
    hosted = option(kind="self_hosted", spill=None, term_months=0)
    short = price_self_hosted(
        demand(), hosted, book(), steps=replicas(4, 1.0), rules=FREE, tier="interactive"
    )
    assert short.status == "infeasible"
    assert "800,000 tokens/min of 1,500,000" in short.missing[0]
    unknown = price_self_hosted(
        demand(), hosted, book(), steps=replicas(8, 0.0), rules=FREE, tier="interactive",
        missing=("no price row: p5.48xlarge in swedencentral",),
    )  # fmt: skip
    assert (unknown.status, unknown.total_usd_per_month) == ("unknown", None)


def test_office_hours_pay_for_nights_they_do_not_use(
    demand: Make, option: Make, book: Make
) -> None:
    office = demand(active_hours_per_month=45 / 168 * 730)
    always = price_provisioned(demand(), option(), book(), rules=DEDICATED)
    part = price_provisioned(office, option(), book(), rules=DEDICATED)
    assert always.usd_per_mtok is not None
    assert part.usd_per_mtok is not None
    assert part.usd_per_mtok > 2 * always.usd_per_mtok
    assert part.break_even is not None
    assert part.break_even.tokens_per_month is None  # 84% of all hours is not 45 of 168


@settings(max_examples=25, deadline=None)
@given(
    st.floats(min_value=0.05, max_value=5),
    st.floats(min_value=1.0, max_value=4),
    st.booleans(),
    st.floats(min_value=0, max_value=0.8),
)
def test_more_demand_never_costs_less_or_buys_fewer_units(
    demand: Make,
    option: Make,
    book: Make,
    curve: Make,
    scale: float,
    factor: float,
    dedicated: bool,
    cached: float,
) -> None:
    def cost_at(size: float) -> Cost:
        work: Demand = demand(tokens=curve(size), cached_fraction=cached)
        return price_provisioned(work, option(), book(), rules=FloorRules(dedicated=dedicated))

    small, large = cost_at(scale), cost_at(scale * factor)
    assert small.total_usd_per_month is not None
    assert large.total_usd_per_month is not None
    assert small.floor is not None
    assert large.floor is not None
    assert large.total_usd_per_month >= small.total_usd_per_month * (1 - 1e-9)
    assert large.floor.step.units >= small.floor.step.units
