"""Exit by provider's rule, the value of time, comparable terms, and spares."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.economics.availability import pool_availability, promise_verdict, spare_nodes
from planner.economics.cost_types import ExitCost
from planner.economics.discount import (
    add_months,
    comparable,
    discount_factor,
    level_usd_per_month,
    months_between,
    paid_share,
    present_value_usd,
)
from planner.economics.exit import exit_cost

AS_OF = dt.date(2026, 11, 29)
AFTER_8_MONTHS = AS_OF + dt.timedelta(days=243, hours=8)  # 8 x 730 hours


def leave(**changes: Any) -> ExitCost:
    fields: dict[str, Any] = {
        "kind": "provisioned",
        "provider": "azure",
        "term_months": 12,
        "usd_per_month": 20_000.0,
        "as_of": AS_OF,
        "retires_on": AFTER_8_MONTHS,
    }
    return exit_cost(**(fields | changes))


def test_what_is_not_committed_costs_nothing_to_leave() -> None:
    assert leave(kind="payg").usd == 0.0
    assert leave(kind="self_hosted").usd == 0.0
    assert leave(term_months=0).usd == 0.0


def test_a_model_that_outlives_the_term_strands_nothing() -> None:
    cost = leave(retires_on=dt.date(2027, 12, 31))
    assert cost.usd == 0.0
    assert "outlives" in cost.note


def test_azure_refunds_up_to_its_cap_and_exchanges() -> None:
    # Four months of $20,000 are stranded; $50,000 of it is refundable.
    cost = leave()
    assert cost.usd == pytest.approx(30_000, abs=300)
    assert "exchange" in cost.note
    assert leave(usd_per_month=5_000.0).usd == 0.0


@pytest.mark.parametrize("provider", ["gcp", "aws"])
def test_others_refund_nothing(provider: str) -> None:
    assert leave(provider=provider).usd == pytest.approx(80_000, abs=300)


def test_rules_are_named() -> None:
    rules = {leave(provider=name).rule for name in ("azure", "gcp", "aws")}
    assert len(rules) == 3
    assert "version" in leave(provider="gcp").rule
    assert "model only" in leave(provider="aws").note


def test_without_a_retirement_date_the_whole_term_is_at_stake() -> None:
    assert leave(provider="aws", retires_on=None).usd == pytest.approx(240_000)
    assert leave(provider="aws", retires_on=dt.date(2026, 1, 1)).usd == pytest.approx(240_000)


def test_months_and_dates() -> None:
    assert months_between(AS_OF, dt.date(2027, 11, 29)) == pytest.approx(12.0)
    assert months_between(AS_OF, dt.date(2026, 10, 29)) < 0
    assert add_months(dt.date(2026, 11, 30), 3) == dt.date(2027, 2, 28)
    assert add_months(AS_OF, 13) == dt.date(2027, 12, 29)


def test_a_year_counts_in_full_and_later_months_are_discounted() -> None:
    assert discount_factor(12, 0.08) == 1.0
    assert discount_factor(24, 0.08) == pytest.approx(1 / 1.08)
    assert present_value_usd([100.0] * 12, 0.08) == pytest.approx(1_200.0)
    assert present_value_usd([0.0] * 23 + [108.0], 0.08) == pytest.approx(100.0)


def test_a_level_payment_of_the_same_value() -> None:
    assert level_usd_per_month([100.0] * 36, 0.08) == pytest.approx(100.0)
    early, late = [200.0] * 12 + [0.0] * 12, [0.0] * 12 + [200.0] * 12
    assert level_usd_per_month(early, 0.08) > 100.0 > level_usd_per_month(late, 0.08)


def test_terms_of_like_length_compare() -> None:
    assert comparable(12, 12)
    assert comparable(0, 12)
    assert not comparable(1, 12)


def test_spares_by_hand() -> None:
    # Two nodes of 90%, one spare: 0.9^3 + 3 x 0.1 x 0.9^2 = 0.972.
    assert pool_availability(2, 1, 0.9) == pytest.approx(0.972)
    assert pool_availability(2, 0, 0.9) == pytest.approx(0.81)
    assert spare_nodes(2, 0.81, 0.9, "interactive") == 0
    assert spare_nodes(2, 0.97, 0.9, "interactive") == 1
    assert spare_nodes(2, 0.98, 0.9, "interactive") == 2


def test_batch_waits_and_what_is_not_asked_needs_no_spares() -> None:
    assert spare_nodes(8, 0.999, 0.9, "batch") == 0
    assert spare_nodes(8, None, 0.9, "interactive") == 0
    assert spare_nodes(0, 0.999, 0.9, "interactive") == 0


def test_hopeless_nodes_have_no_number_of_spares() -> None:
    assert spare_nodes(2, 0.999, 0.0, "interactive") is None
    assert spare_nodes(2_000, 0.999, 0.995, "interactive") is not None


def test_a_promise_unknown_is_no_pass() -> None:
    assert promise_verdict(0.999, None) == "unverified"
    assert promise_verdict(0.999, 0.999) == "met"
    assert promise_verdict(0.9995, 0.999) == "missed"
    assert promise_verdict(None, None) == "met"


@given(
    st.integers(min_value=1, max_value=30),
    st.integers(min_value=0, max_value=6),
    st.floats(min_value=0.5, max_value=0.9999),
)
def test_spares_help_and_match_the_binomial(needed: int, spares: int, up: float) -> None:
    nodes = needed + spares
    expected = math.fsum(
        math.comb(nodes, k) * up**k * (1 - up) ** (nodes - k) for k in range(needed, nodes + 1)
    )
    found = pool_availability(needed, spares, up)
    assert found == pytest.approx(expected)
    assert pool_availability(needed, spares + 1, up) >= found - 1e-12


def test_a_change_of_model_loses_what_the_provider_does_not_let_serve_it() -> None:
    # Four months of $20,000: an Azure reservation serves any model, a Google order another
    # of the publisher's, Bedrock's units and Reserved tier none.
    assert leave().usd_if_model_changes == 0.0
    assert leave(provider="gcp", successor_of_publisher=True).usd_if_model_changes == 0.0
    assert leave(provider="gcp", successor_of_publisher=True).usd == pytest.approx(80_000, abs=300)
    for changes in (
        {"provider": "gcp"},
        {"provider": "gcp", "successor_of_publisher": False},
        {"provider": "aws"},
        {"provider": "aws", "deployment_type": "reserved"},
    ):
        assert leave(**changes).usd_if_model_changes == pytest.approx(80_000, abs=300)


def test_the_refund_cap_of_a_year_is_shared_by_the_stack() -> None:
    assert leave(refund_left_usd=10_000.0).usd == pytest.approx(70_000, abs=300)
    assert leave(refund_left_usd=0.0).usd == pytest.approx(80_000, abs=300)
    # Nobody has more than the cap left, nor less than nothing.
    assert leave(refund_left_usd=1e9).usd == leave().usd
    assert leave(refund_left_usd=-5.0).usd == leave(refund_left_usd=0.0).usd


def test_the_reserved_tier_ends_only_on_request() -> None:
    cost = leave(provider="aws", deployment_type="reserved", term_months=3, retires_on=None)
    assert cost.usd == pytest.approx(60_000)
    assert "account manager" in cost.note


def test_months_beyond_the_first_year_weigh_less() -> None:
    # Two years at 10%: months 1-12 weigh 1, months 13-24 weigh 1.1^-(m - 12)/12.
    later = sum(1.1 ** (-(m - 12) / 12) for m in range(13, 25))
    assert paid_share(12, 24, 0.10) == pytest.approx(12 / (12 + later))
    assert paid_share(6.5, 12, 0.10) == pytest.approx(6.5 / 12)
    assert paid_share(12, 24, 0.0) == pytest.approx(0.5)
    assert paid_share(99, 24, 0.10) == pytest.approx(1.0)
    assert paid_share(-3, 24, 0.10) == 0.0
