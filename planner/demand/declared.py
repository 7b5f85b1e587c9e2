"""From a declared workload to its demand: duty cycle, batch window and growth."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from planner import faults
from planner.demand.curve import DemandCurve
from planner.demand.profile import Demand
from planner.demand.trace import TraceSeries
from planner.errors import InputError, Problem
from planner.units import HOURS_PER_MONTH, HOURS_PER_WEEK
from planner.workload import Workload

MIX_TOLERANCE = 0.03
"""Largest accepted gap between a stated output share and the one measured or implied."""

TraceReader = Callable[[str], TraceSeries]
"""Reads the trace at a path inside the project."""


def mean_growth_factor(growth_per_year: float, horizon_months: int) -> float:
    """Return the mean of (1 + g)^t over a horizon of T years.

    (1/T) x integral of (1 + g)^t dt from 0 to T = ((1 + g)^T - 1) / (T ln(1 + g)).
    """
    exponent = horizon_months / 12 * math.log1p(growth_per_year)
    if exponent < sys.float_info.min:
        return 1.0
    return math.expm1(exponent) / exponent


def implied_output_fraction(workload: Workload) -> float:
    """Return the output share that the mean lengths of a request imply."""
    prompt, output = workload.traffic.prompt_tokens.mean, workload.traffic.output_tokens.mean
    return output / (prompt + output)


def mix_problems(workload: Workload) -> list[Problem]:
    """Return a problem where the stated mix contradicts the mean lengths.

    Money follows output_fraction and latency follows the lengths: a gap above
    ``MIX_TOLERANCE`` would price one workload and size another.
    """
    implied = implied_output_fraction(workload)
    return _mix_problem(workload, implied, "prompt_tokens.mean and output_tokens.mean imply")


def demand_of(workload: Workload, *, read_trace: TraceReader) -> Demand:
    """Return the demand of ``workload`` at the mean level of its horizon.

    A batch workload with a window becomes a constant load: its weekly tokens
    spread over the window's minutes, which are then its active minutes.
    """
    traffic = workload.traffic
    growth = mean_growth_factor(workload.growth_per_year, workload.horizon_months)
    factor = growth * traffic.trace_scale
    series: TraceSeries | None = None
    if traffic.tokens_per_minute is not None:
        tokens = DemandCurve.from_percentiles(traffic.tokens_per_minute).scaled(growth)
        request_tokens = traffic.prompt_tokens.mean + traffic.output_tokens.mean
        requests = tokens.scaled(1 / request_tokens)
        output_fraction, dispersion = traffic.output_fraction, 1.0
    else:
        series = read_trace(traffic.trace or "").scaled(factor)
        output_fraction, dispersion = series.output_fraction, series.arrival_dispersion
        problems = _mix_problem(workload, output_fraction, "the trace has")
        if problems:
            raise InputError(problems)
        tokens = series.tokens_curve()
        requests = DemandCurve.from_samples(series.requests)
    hours_per_week = traffic.active_hours_per_week
    if traffic.window is not None:
        spread = hours_per_week / traffic.window.hours_per_week
        hours_per_week = traffic.window.hours_per_week
        tokens = DemandCurve.constant(tokens.mean * spread)
        requests = DemandCurve.constant(requests.mean * spread)
        series = None
    return Demand(
        tokens=tokens,
        requests_per_minute=requests,
        output_fraction=output_fraction,
        cached_fraction=traffic.cached_fraction,
        prompt_tokens=traffic.prompt_tokens,
        output_tokens=traffic.output_tokens,
        active_hours_per_month=hours_per_week / HOURS_PER_WEEK * HOURS_PER_MONTH,
        growth_factor=growth,
        end_growth_factor=(1 + workload.growth_per_year) ** (workload.horizon_months / 12),
        arrival_dispersion=dispersion,
        series=series,
    )


def _mix_problem(workload: Workload, actual: float, basis: str) -> list[Problem]:
    stated = workload.traffic.output_fraction
    if abs(stated - actual) <= MIX_TOLERANCE:
        return []
    return [
        faults.MIX_DISAGREES.at(
            where="traffic.output_fraction",
            what=f"says {stated:.3f} of the tokens are output, but {basis} {actual:.3f}",
            fix=f"Write {actual:.3f}, or correct what it is compared with.",
        )
    ]
