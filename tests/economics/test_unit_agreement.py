"""Unit counts of random mixes against a second implementation, in exact fractions.

Written from the providers' texts, not from our code: Azure's normalised tokens a
minute, Google's burndown in tokens a second, Bedrock's two limits held one by one.
No floating point: a catalog figure is the decimal it prints as.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import NamedTuple

import pytest

from planner.catalog.loader import load_catalog
from planner.catalog.rows import ProvisionedUnit
from planner.economics.unit_load import CallMix
from planner.economics.unit_sizing import size_reserved, size_units

MIXES = 200


class Mix(NamedTuple):
    calls: int
    prompt: int
    output: int
    cached_percent: int

    def asked(self) -> CallMix:
        return CallMix(
            calls_per_minute=float(self.calls),
            prompt_tokens=float(self.prompt),
            output_tokens=float(self.output),
            cached_fraction=self.cached_percent / 100,
        )

    @property
    def uncached(self) -> Fraction:
        return Fraction(self.prompt * (100 - self.cached_percent), 100)

    @property
    def cached(self) -> Fraction:
        return Fraction(self.prompt * self.cached_percent, 100)


def exact(value: float) -> Fraction:
    return Fraction(repr(value))


def mixes(seed: int) -> list[Mix]:
    draw = random.Random(seed)
    return [
        Mix(
            draw.choice((draw.randint(0, 50), draw.randint(1, 5_000))),
            draw.randint(1, 20_000),
            draw.choice((0, draw.randint(1, 4_000))),
            draw.choice((0, draw.randint(1, 100))),
        )
        for _ in range(MIXES)
    ]


def smallest(minimum: int, step: int, needed: Fraction) -> int:
    """The smallest size of the grid that is not below ``needed`` units."""
    if needed <= minimum:
        return minimum
    beyond = needed - minimum
    return minimum + step * -(-beyond.numerator // (beyond.denominator * step))


def azure(mix: Mix, row: ProvisionedUnit) -> int:
    prompt = mix.uncached + mix.cached * exact(row.cached_input_weight)
    tpm = mix.calls * (prompt + exact(row.output_weight) * mix.output)
    needed = tpm / exact(row.input_tokens_per_minute)
    return smallest(row.minimum_units, row.step_units, needed)


def google(mix: Mix, row: ProvisionedUnit) -> int:
    per_second = Fraction(mix.calls, 60) * (
        mix.uncached
        + exact(row.cached_input_weight) * mix.cached
        + exact(row.output_weight) * mix.output
    )
    unit_per_second = exact(row.input_tokens_per_minute) / 60
    return smallest(row.minimum_units, row.step_units, per_second / unit_per_second)


def bedrock(mix: Mix, input_tpm: int, output_tpm: int) -> int:
    for_input = smallest(1, 1, Fraction(mix.calls * mix.prompt, input_tpm))
    for_output = smallest(1, 1, Fraction(mix.calls * mix.output, output_tpm))
    return max(for_input, for_output)


@pytest.mark.parametrize(("provider", "second"), [("azure", azure), ("gcp", google)])
def test_units_of_200_random_mixes_agree(provider: str, second: object) -> None:
    rows = [row for row in load_catalog().provisioned_units if row.provider == provider]
    draw = random.Random(3)
    differing = [
        (mix, row.model)
        for mix in mixes(20_261_129)
        for row in [draw.choice(rows)]
        if size_units(row, mix.asked()).units != second(mix, row)  # type: ignore[operator]
    ]
    assert differing == []


def test_model_units_of_200_random_mixes_agree() -> None:
    draw = random.Random(5)
    base = load_catalog().provisioned_units[0]
    for mix in mixes(7):
        input_tpm, output_tpm = draw.randint(1_000, 400_000), draw.randint(1_000, 100_000)
        row = base.model_copy(
            update={
                "provider": "aws", "unit": "MU", "minimum_units": 1, "step_units": 1,
                "input_tokens_per_minute": float(input_tpm),
                "output_tokens_per_minute": float(output_tpm),
                "output_weight": 0.0, "cached_input_weight": 1.0,
            }
        )  # fmt: skip
        assert size_units(row, mix.asked()).units == bedrock(mix, input_tpm, output_tpm), mix


def test_reserved_parts_of_200_random_mixes_agree() -> None:
    for mix in mixes(11):
        found = size_reserved(mix.asked())
        assert found.input_units == smallest(100, 1, mix.calls * mix.uncached / 1_000), mix
        assert found.output_units == smallest(10, 1, Fraction(mix.calls * mix.output, 1_000)), mix
