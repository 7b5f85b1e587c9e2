"""Demand: quantile curves of tokens and requests per minute, declared or from a trace."""

from planner.demand.curve import DemandCurve
from planner.demand.declared import (
    MIX_TOLERANCE,
    TraceReader,
    demand_of,
    mean_growth_factor,
    mix_problems,
)
from planner.demand.profile import Demand, TokenSplit
from planner.demand.trace import TraceSeries, read_trace

__all__ = [
    "MIX_TOLERANCE",
    "Demand",
    "DemandCurve",
    "TokenSplit",
    "TraceReader",
    "TraceSeries",
    "demand_of",
    "mean_growth_factor",
    "mix_problems",
    "read_trace",
]
