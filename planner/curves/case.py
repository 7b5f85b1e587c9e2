"""What every curve of a workload starts from: its decision, its demand, and the setting."""

from __future__ import annotations

from dataclasses import dataclass

from planner.decision import Decision, Outcome
from planner.demand import Demand
from planner.evaluate import Setting
from planner.flip import DEMAND_FACTORS, OUTPUT_FRACTIONS
from planner.hosting import Machine, machine_of
from planner.option import Option
from planner.serving.shape import ModelShape
from planner.workload import ModelChoice, Workload


@dataclass(frozen=True)
class Detail:
    """How finely curves are drawn.

    ``factors`` are those on today's demand, ``output_fractions`` and ``cached_fractions``
    the mixes. With ``halves`` crossovers are looked for between the volumes; without, the
    plan's own flip and its cost of today are taken as they are.
    """

    factors: tuple[float, ...]
    output_fractions: tuple[float, ...]
    cached_fractions: tuple[float, ...]
    halves: bool


FULL = Detail(
    factors=DEMAND_FACTORS,
    output_fractions=OUTPUT_FRACTIONS,
    cached_fractions=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    halves=True,
)
"""The volumes and mixes at which a plan looks for its flip, so that the two agree."""

COARSE = Detail(
    factors=DEMAND_FACTORS[4:13:2],
    output_fractions=OUTPUT_FRACTIONS[1::3],
    cached_fractions=(0.0, 0.3, 0.6, 0.9),
    halves=False,
)
"""For stacks of very many workloads: a tenth to ten times the demand, half a decade apart."""


@dataclass(frozen=True)
class Case:
    """One workload as it was decided; ``demand`` is in its own tokens."""

    workload: Workload
    decision: Decision
    demand: Demand
    setting: Setting
    detail: Detail = FULL

    def choice(self, option: Option) -> ModelChoice:
        """Return how the workload names the model of one of its options."""
        return next(
            item
            for item in self.workload.models
            if self.setting.catalog.model(item.name).name == option.model
        )

    def machine(self, option: Option) -> tuple[Machine, ModelShape]:
        """Return what a self-hosted option runs on, and its model's shape."""
        machine = machine_of(option, self.setting.platform, self.setting.catalog)
        return machine, self.setting.shape_of(option.model)


def is_servable(outcome: Outcome) -> bool:
    """Return whether an outcome of a plan could serve today, whatever it lost to."""
    return (
        outcome.verdict in ("allow", "warn")
        and outcome.compared_usd_per_month is not None
        and not outcome.misses
    )
