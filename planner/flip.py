"""Where a choice flips: the demand and the mix at which the runner-up would win."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from planner.decision import Flip, Outcome
from planner.demand import Demand
from planner.evaluate import Setting, evaluate
from planner.policy.verdicts import OptionVerdict
from planner.workload import Lengths, Workload

DEMAND_FACTORS = tuple(10 ** (step / 4) for step in range(-8, 9))
"""0.01 to 100 times the demand, four points a decade."""

OUTPUT_FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)

BISECTIONS = 12
"""Halvings between two grid points: a flip is located to a thousandth of its cell."""

Advantage = Callable[[float], float | None]


def flip_of(
    chosen: Outcome,
    runner_up: Outcome,
    workload: Workload,
    demand: Demand,
    setting: Setting,
) -> Flip:
    """Return where ``runner_up`` becomes cheaper than ``chosen``, nearest to today's input."""

    def by_demand(factor: float) -> float | None:
        return _advantage(chosen, runner_up, workload, scaled(demand, factor), setting)

    def by_mix(output_fraction: float) -> float | None:
        changed = with_output_fraction(workload, output_fraction)
        return _advantage(
            chosen, runner_up, changed, remixed(demand, changed, output_fraction), setting
        )

    return Flip(
        runner_up=runner_up.option.id,
        demand_factor=_nearest_flip(by_demand, DEMAND_FACTORS, 1.0, geometric=True),
        output_fraction=_nearest_flip(
            by_mix, OUTPUT_FRACTIONS, demand.output_fraction, geometric=False
        ),
    )


def scaled(demand: Demand, factor: float) -> Demand:
    """Return the same mix at ``factor`` times the traffic."""
    return demand.model_copy(
        update={
            "tokens": demand.tokens.scaled(factor),
            "requests_per_minute": demand.requests_per_minute.scaled(factor),
            "series": None if demand.series is None else demand.series.scaled(factor),
        }
    )


def with_output_fraction(workload: Workload, output_fraction: float) -> Workload:
    """Return the workload with the same tokens a request, split differently."""
    traffic = workload.traffic
    total = traffic.prompt_tokens.mean + traffic.output_tokens.mean
    prompt = total * (1 - output_fraction) / traffic.prompt_tokens.mean
    output = total * output_fraction / traffic.output_tokens.mean
    longest = math.ceil(traffic.max_tokens * max(1.0, output))
    changed = traffic.model_copy(
        update={
            "output_fraction": output_fraction,
            "prompt_tokens": _times(traffic.prompt_tokens, prompt),
            "output_tokens": _times(traffic.output_tokens, output),
            "max_tokens": longest,
        }
    )
    return workload.model_copy(update={"traffic": changed})


def remixed(demand: Demand, workload: Workload, output_fraction: float) -> Demand:
    """Return the demand with another output fraction; a trace gives way to its curve."""
    return demand.model_copy(
        update={
            "output_fraction": output_fraction,
            "prompt_tokens": workload.traffic.prompt_tokens,
            "output_tokens": workload.traffic.output_tokens,
            "series": None,
        }
    )


def _times(lengths: Lengths, factor: float) -> Lengths:
    """Return scaled lengths; unlike declared ones they may fall outside the accepted bounds."""
    return lengths.model_copy(
        update={
            "mean": lengths.mean * factor,
            "p50": lengths.p50 * factor,
            "p95": lengths.p95 * factor,
        }
    )


def _advantage(
    chosen: Outcome, runner_up: Outcome, workload: Workload, demand: Demand, setting: Setting
) -> float | None:
    """Return USD a month by which the runner-up is dearer; None where one cannot serve."""
    kept = served_usd_per_month(chosen, workload, demand, setting)
    if kept is None:
        return None
    other = served_usd_per_month(runner_up, workload, demand, setting)
    return None if other is None else other - kept


def served_usd_per_month(
    outcome: Outcome, workload: Workload, demand: Demand, setting: Setting
) -> float | None:
    """Return what the outcome's option costs for another demand; None where it cannot serve.

    It is sized again, and held against its objectives; the amount is the one that a
    choice compares, with the engineering line where self-hosting would add it.
    """
    verdict = OptionVerdict(
        option_id=outcome.option.id, verdict=outcome.verdict, findings=outcome.findings
    )
    again = evaluate(outcome.option, verdict, workload, demand, setting)
    if again.lost is not None or again.misses:
        return None
    return again.compared_usd_per_month


def _nearest_flip(
    advantage: Advantage, grid: Sequence[float], today: float, *, geometric: bool
) -> float | None:
    """Return the point nearest to today's where the advantage turns negative.

    That is today's own where a dearer choice is kept, such as a live one.
    """
    now = advantage(today)
    if now is not None and now < 0:
        return today
    found: list[float] = []
    for points in (
        [today, *sorted(p for p in grid if p > today)],
        [today, *sorted((p for p in grid if p < today), reverse=True)],
    ):
        held = points[0]
        for point in points[1:]:
            value = advantage(point)
            if value is None:
                break
            if value < 0:
                found.append(bisected(advantage, held, point, geometric=geometric))
                break
            held = point
    if not found:
        return None
    if geometric:
        return min(found, key=lambda point: abs(math.log(point / today)))
    return min(found, key=lambda point: abs(point - today))


def bisected(advantage: Advantage, keeps: float, flips: float, *, geometric: bool) -> float:
    """Return the first point found to flip between one that keeps and one that flips."""
    for _ in range(BISECTIONS):
        middle = math.sqrt(keeps * flips) if geometric else (keeps + flips) / 2
        value = advantage(middle)
        if value is not None and value >= 0:
            keeps = middle
        else:
            flips = middle
    return flips
