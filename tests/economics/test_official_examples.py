"""Published sizing examples, right and wrong, against the catalog's own rows.

The right ones are exact. The wrong ones must disagree with us: each test's name
says why the published figure is wrong.
"""

from __future__ import annotations

import math

import pytest

from planner.catalog.loader import load_catalog
from planner.catalog.rows import ProvisionedUnit
from planner.economics.breakeven import break_even_tokens, unit_value_usd_per_hour
from planner.economics.latency import provider_latency
from planner.economics.provisioned import (
    normalised_tokens_per_minute,
    quota_left,
    whole_units,
)
from planner.economics.unit_load import CallMix, TokenKind, burndown, kinds_of
from planner.economics.unit_sizing import size_reserved, size_units


def row(provider: str, model: str, deployment_type: str) -> ProvisionedUnit:
    return next(
        unit
        for unit in load_catalog().provisioned_units
        if (unit.provider, unit.model, unit.deployment_type) == (provider, model, deployment_type)
    )


def mix(calls: float, prompt: float, output: float, cached: float = 0.0) -> CallMix:
    return CallMix(
        calls_per_minute=calls, prompt_tokens=prompt, output_tokens=output, cached_fraction=cached
    )


DATA_ZONE = row("azure", "gpt-5.2", "DataZoneProvisionedManaged")


@pytest.mark.parametrize(
    ("cached", "normalised", "raw", "bought"),
    [(0.0, 360_000, 105.88, 110), (0.5, 260_000, 76.47, 80)],
)
def test_microsofts_own_example_with_and_without_a_cache(
    cached: float, normalised: float, raw: float, bought: int
) -> None:
    # MicrosoftDocs/azure-ai-docs provisioned-throughput-sizing.md (2026-05-21).
    found = size_units(DATA_ZONE, mix(1_000, 200, 20, cached))
    assert found.normalised_tokens_per_minute == pytest.approx(normalised)
    assert found.raw_units == pytest.approx(raw, abs=0.005)
    assert found.units == bought


def test_quota_is_left_over_after_all_models_of_the_type() -> None:
    # 500 PTU, two deployments of 100 of them: 300 left (Microsoft's quota text, 2024).
    assert quota_left(500, (100, 100)) == 300


def test_googles_own_example_with_audio() -> None:
    # cloud.google.com, gemini-3.6-flash: 10 queries a second of 1,000 text and 500 audio
    # tokens (x1 each), 300 out (x5), 675 tokens a second a unit: 44.44 -> 45.
    unit = row("gcp", "gemini-3.6-flash", "pt_global")
    audio = TokenKind(name="audio", tokens=500.0, weight=1.0)
    asked = mix(600, 1_000, 300).model_copy(update={"other": (audio,)})
    assert burndown(kinds_of(asked, unit)) == 3_000
    found = size_units(unit, asked)
    assert found.raw_units == pytest.approx(30_000 / 675)
    assert found.units == 45


def test_the_older_google_model_needs_2_6_times_fewer_units() -> None:
    # The same traffic where audio counts 7, output 4 and a unit carries 3,360 a second:
    # (1,000 + 3,500 + 1,200) x 10 / 3,360 = 16.96 -> 17.
    old = row("gcp", "gemini-3.6-flash", "pt_global").model_copy(
        update={"input_tokens_per_minute": 3_360 * 60.0, "output_weight": 4.0}
    )
    audio = TokenKind(name="audio", tokens=500.0, weight=7.0)
    found = size_units(old, mix(600, 1_000, 300).model_copy(update={"other": (audio,)}))
    assert found.units == 17
    assert 45 / found.units == pytest.approx(2.6, abs=0.05)


def test_bedrock_output_burns_on_demand_quota_five_times() -> None:
    # 10,000 output tokens of a Claude 4 class model use 50,000 of a 100,000 quota.
    used = normalised_tokens_per_minute(1, 0, 10_000, cached_fraction=0.0, output_weight=5.0)
    assert used == 50_000


def test_pay_as_you_go_promises_no_speed_whatever_the_quota() -> None:
    # 429 at 18,000 of 3,000,000 tokens a minute of quota (Microsoft Q&A 12567967): quota is
    # no capacity, so nothing is known of its latency until someone measures it.
    found = provider_latency(None, None)
    assert (found.basis, found.itl_p95_ms, found.ttft_p95_ms) == ("unverified", None, None)


def test_two_official_routes_6x_apart_because_one_table_served_every_model() -> None:
    # gpt-4-0613: 5,500 PTU by the calculator, 900 by a flat table (azure-docs#122655).
    # The table's mistake is one throughput for all: here the rows of two models differ 12x.
    assert 5_500 / 900 > 6
    asked = mix(1_000, 500, 100)
    sizes = {
        name: size_units(row("azure", name, "GlobalProvisionedManaged"), asked).raw_units
        for name in ("gpt-5.5", "gpt-4.1", "gpt-5-mini", "gpt-4.1-nano")
    }
    assert sizes["gpt-5.5"] == pytest.approx(1_000 * (500 + 600) / 1_200)
    assert sizes["gpt-4.1-nano"] == pytest.approx(1_000 * (500 + 400) / 59_400)
    assert max(sizes.values()) > 6 * min(sizes.values())


def test_calculator_city_disagrees_because_it_adds_input_and_output_unweighted() -> None:
    unweighted = math.ceil(1_000 * (200 + 20) / DATA_ZONE.input_tokens_per_minute)
    assert unweighted == 65
    assert size_units(DATA_ZONE, mix(1_000, 200, 20)).units == 110


def test_deploybase_disagrees_because_a_ptu_of_gpt_4o_carries_2500_tokens_not_1000() -> None:
    # deploybase.ai: "1 PTU is about 1,000 TPM", a million TPM for $40 an hour. The row says
    # 2,500: 400 PTU, $400 an hour at the global list price of $1.
    unit = row("azure", "gpt-4o", "GlobalProvisionedManaged")
    found = size_units(unit, mix(1_000, 1_000, 0))
    assert found.units == 400
    assert found.units != 1_000_000 / 1_000
    hourly = next(
        price.usd_per_unit_month / 730
        for price in load_catalog().provisioned_prices
        if (price.deployment_type, price.model, price.term_months)
        == ("GlobalProvisionedManaged", "gpt-4o", 0)
    )
    assert found.units * hourly == pytest.approx(400.0)
    assert found.units * hourly == pytest.approx(10 * 40)


def test_theneuralbase_disagrees_because_a_ptu_is_a_sixth_of_a_request_a_second_not_1000() -> None:
    # theneuralbase.com: "one PTU is roughly 1,000 requests per second".
    per_second = 1_000 / size_units(DATA_ZONE, mix(1_000, 200, 20)).raw_units / 60
    assert per_second == pytest.approx(0.157, abs=5e-4)
    assert 1_000 / per_second > 6_000


def test_mindmesh_disagrees_because_a_utilisation_needs_the_throughput_of_a_unit() -> None:
    # mindmeshacademy.com 6.1.3: $5.00 a model-unit hour against $0.25 / $1.25 a million at
    # 80/20 pays from 185,185 tokens a minute. "60-70% utilisation" holds only for units of
    # 264,550 to 308,642, a figure that AWS does not publish.
    tokens = break_even_tokens(5.0 * 730, 0.8 * 0.25 + 0.2 * 1.25)
    assert tokens is not None
    per_minute = tokens / (730 * 60)
    assert per_minute == pytest.approx(185_185, abs=1)
    shares = [per_minute / throughput for throughput in (100_000, 200_000, 1_000_000)]
    assert [share <= 1 for share in shares] == [False, True, True]
    assert not any(0.6 <= share <= 0.7 for share in shares)


def test_the_azure_openai_book_disagrees_because_its_minimum_and_price_are_dated() -> None:
    # Azure OpenAI Essentials p. 66: minimum 50, $2 an hour; p. 67 $312 against $260.
    unit = row("azure", "gpt-4o", "GlobalProvisionedManaged")
    assert whole_units(unit, 1.0) == unit.minimum_units == 15
    prices = {
        price.term_months: price.usd_per_unit_month
        for price in load_catalog().provisioned_prices
        if (price.deployment_type, price.model) == ("GlobalProvisionedManaged", "gpt-4o")
    }
    assert prices[0] == pytest.approx(730.0)
    assert prices[1] == 260
    assert 50 * 260 == 13_000


def test_a_full_global_ptu_hour_of_gpt_4_1_is_worth_36_cents() -> None:
    unit = row("azure", "gpt-4.1", "GlobalProvisionedManaged")
    assert unit_value_usd_per_hour(unit.input_tokens_per_minute, 2.0, 1.0) == pytest.approx(0.36)


def test_the_reserved_tier_sizes_input_and_output_apart() -> None:
    # 250 calls/min of 1,001 in (a fifth cached) and 30 out: 200,200 in -> 201 thousands;
    # 7,500 out -> 7.5, below the minimum of 10.
    found = size_reserved(mix(250, 1_001, 30, 0.2))
    assert found.raw_input_units == pytest.approx(200.2)
    assert (found.input_units, found.output_units) == (201, 10)
    small = size_reserved(mix(1, 100, 100))
    assert (small.input_units, small.output_units) == (100, 10)
    exact = size_reserved(mix(1_000, 300, 30))
    assert (exact.input_units, exact.output_units) == (300, 30)
