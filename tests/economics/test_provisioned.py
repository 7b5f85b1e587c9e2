"""Provisioned units: the sizing sum, the grid, quota and what is owned."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.rows import ProvisionedUnit
from planner.declared.accounts import Commitment
from planner.economics.provisioned import (
    MAX_STEPS,
    OwnedUnits,
    normalised_tokens_per_minute,
    owned_units,
    quota_left,
    raw_units,
    sunk_units,
    unit_steps,
    whole_units,
)

Units = Callable[..., ProvisionedUnit]


@pytest.mark.parametrize(
    ("cached", "normalised", "raw", "bought"),
    [(0.0, 360_000, 105.88, 110), (0.5, 260_000, 76.47, 80)],
)
def test_the_worked_example_of_the_sizing_page(
    unit: Units, cached: float, normalised: float, raw: float, bought: int
) -> None:
    # gpt-5.2, data zone: 1,000 calls a minute of 200 in and 20 out; output counts 8
    # times, 3,400 input tokens a minute per PTU (Microsoft's sizing page, 2026-05-21).
    gpt52 = unit(model="gpt-5.2", input_tokens_per_minute=3_400.0, output_weight=8.0)
    load = normalised_tokens_per_minute(1_000, 200, 20, cached_fraction=cached, output_weight=8.0)
    assert load == pytest.approx(normalised)
    assert raw_units(gpt52, load) == pytest.approx(raw, abs=0.005)
    assert whole_units(gpt52, load) == bought


def test_the_worked_example_of_google_units(unit: Units) -> None:
    # gemini-3.6-flash: 10 queries a second of 1,000 text and 500 audio tokens in (x1),
    # 300 out (x5), 675 tokens a second per unit: 44.44 -> 45 (Google's page).
    gsu = unit(
        provider="gcp", unit="GSU", minimum_units=1, step_units=1,
        input_tokens_per_minute=675 * 60.0, output_weight=5.0, cached_input_weight=0.1,
    )  # fmt: skip
    load = normalised_tokens_per_minute(600, 1_500, 300, cached_fraction=0.0, output_weight=5.0)
    assert raw_units(gsu, load) == pytest.approx(44.44, abs=0.005)
    assert whole_units(gsu, load) == 45


def test_rules_of_thumb_for_all_models_are_not_reproduced(unit: Units) -> None:
    # Two official routes once gave 900 and 5,500 PTU for one workload
    # (MicrosoftDocs/azure-docs#122655): only the model's own row counts.
    load = normalised_tokens_per_minute(1_000, 500, 100, cached_fraction=0.0, output_weight=4.0)
    small = whole_units(unit(model="gpt-4.1-mini", input_tokens_per_minute=14_900.0), load)
    large = whole_units(unit(model="gpt-4o", input_tokens_per_minute=2_500.0), load)
    assert large > 5 * small
    # "One PTU is about 1,000 TPM" (deploybase.ai): gpt-4o carries 2,500, so a million
    # input tokens a minute are 400 PTU, about $400 an hour at $1, not $40.
    gpt4o = unit(model="gpt-4o", input_tokens_per_minute=2_500.0)
    assert whole_units(gpt4o, 1_000_000) == 400
    # "One PTU is roughly 1,000 requests per second" (theneuralbase.com): 3,400 input
    # TPM carry 0.157 of the sizing page's requests a second.
    request = normalised_tokens_per_minute(1, 200, 20, cached_fraction=0.0, output_weight=8.0)
    assert 3_400 / request / 60 == pytest.approx(0.157, abs=5e-4)


def test_minimum_and_step(unit: Units) -> None:
    row = unit()
    loads = (0.0, 45_000.0, 45_001.0, 60_000.0, 60_000.1)
    assert [whole_units(row, load) for load in loads] == [15, 15, 20, 20, 25]
    # 2,100 / 30 is 70.00000000000001 in floats: no extra step for the last digit.
    assert whole_units(unit(minimum_units=1, step_units=1, input_tokens_per_minute=0.1), 0.7) == 7


def test_quota_is_shared_by_models_and_deployments() -> None:
    # 500 PTU of quota less two deployments of 100 (Microsoft's quota text, 2024).
    assert quota_left(500, [100, 100]) == 300
    assert quota_left(100, [80, 40]) == 0


def test_the_grid_runs_from_the_minimum_to_what_covers_the_load(unit: Units) -> None:
    steps = unit_steps(unit(), 80_000.0, usd_per_unit_month=221.0)
    assert [step.units for step in steps] == [15, 20, 25, 30]
    assert steps[0].capacity == 45_000.0
    assert steps[-1].fixed_usd_per_month == 30 * 221.0
    # 15 global units at $2,652 a year are $39.8k; 50 regional ones at $2 an hour $876k.
    assert steps[0].fixed_usd_per_month * 12 == pytest.approx(39_780)
    regional = unit(minimum_units=50, step_units=50)
    (first, *_) = unit_steps(regional, 1.0, usd_per_unit_month=2.0 * 730)
    assert first.fixed_usd_per_month * 12 == pytest.approx(876_000)


def test_the_quota_ends_the_grid(unit: Units) -> None:
    steps = unit_steps(unit(), 1e9, usd_per_unit_month=221.0, quota_units=27)
    assert [step.units for step in steps] == [15, 20, 25]
    assert unit_steps(unit(), 1e9, usd_per_unit_month=221.0, quota_units=10) == ()


def test_a_huge_grid_is_thinned_but_keeps_its_ends(unit: Units) -> None:
    steps = unit_steps(unit(), 3e9, usd_per_unit_month=221.0)
    assert len(steps) <= MAX_STEPS + 1
    assert steps[0].units == 15
    assert steps[-1].units == 1_000_000


def test_owned_units_cost_nothing_until_their_term_ends(unit: Units) -> None:
    owned = [OwnedUnits(units=20, months_left=6.0)]
    steps = unit_steps(unit(), 90_000.0, usd_per_unit_month=100.0, owned=owned, horizon_months=12)
    # Half the horizon is paid for: 15 -> 7.5 free, 20 and more -> 10 free.
    assert [step.fixed_usd_per_month for step in steps] == [750.0, 1_000.0, 1_500.0, 2_000.0]
    assert sunk_units(30, [OwnedUnits(units=10, months_left=24.0), *owned], 12) == 20.0


def test_without_a_price_only_what_is_owned_outright_has_a_cost(unit: Units) -> None:
    owned = [OwnedUnits(units=20, months_left=12.0)]
    steps = unit_steps(unit(), 1e6, usd_per_unit_month=None, owned=owned, horizon_months=12)
    assert [(step.units, step.fixed_usd_per_month) for step in steps] == [(15, 0.0), (20, 0.0)]
    short = [OwnedUnits(units=20, months_left=6.0)]
    assert unit_steps(unit(), 1e6, usd_per_unit_month=None, owned=short, horizon_months=12) == ()


def test_commitments_fit_by_type_region_model_and_date() -> None:
    def commitment(**changes: object) -> Commitment:
        fields: dict[str, object] = {
            "id": "r1",
            "provider": "azure",
            "deployment_type": "GlobalProvisionedManaged",
            "region": "swedencentral",
            "units": 20,
            "term_end": dt.date(2027, 11, 29),
            "usd_per_month": 4_420.0,
        }
        return Commitment.model_validate(fields | changes)

    (found,) = owned_units(
        [
            commitment(),
            commitment(region="uksouth"),
            commitment(deployment_type="ProvisionedManaged"),
            commitment(model="gpt-5.2"),
            commitment(term_end=dt.date(2026, 11, 29)),
        ],
        provider="azure",
        model="gpt-4.1",
        deployment_type="GlobalProvisionedManaged",
        region="swedencentral",
        as_of=dt.date(2026, 11, 29),
    )
    assert found.units == 20
    assert found.months_left == pytest.approx(12.0)


@given(st.floats(min_value=0, max_value=1e7), st.floats(min_value=0, max_value=1e6))
def test_more_load_never_needs_fewer_units_and_units_always_suffice(
    load: float, more: float
) -> None:
    row = ProvisionedUnit(
        provider="azure", model="m", deployment_type="t", unit="PTU", minimum_units=15,
        step_units=5, input_tokens_per_minute=3_400.0, output_weight=4.0,
        cached_input_weight=0.0, target_output_tokens_per_s=None, source="s",
    )  # fmt: skip
    units = whole_units(row, load)
    assert whole_units(row, load + more) >= units
    assert units * 3_400.0 >= load * (1 - 1e-9)
    assert units == 15 or (units - 5) * 3_400.0 < load
