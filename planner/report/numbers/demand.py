"""Where a workload's demand comes from: declared percentiles or a trace, and its growth."""

from __future__ import annotations

from planner.demand import DemandCurve, TraceSeries
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Case, Sheet, constant
from planner.units import HOURS_PER_MONTH, HOURS_PER_WEEK
from planner.workload import BatchWindow

_PERCENTILES = ("minimum", "p10", "p50", "p90", "p99", "peak")

_MEAN = (
    "(0.1 * (minimum + p10) + 0.4 * (p10 + p50) + 0.4 * (p50 + p90) + 0.09 * (p90 + p99)"
    " + 0.01 * (p99 + peak)) / 2 * growth_factor"
)
"""The area under the straight lines between the declared percentiles."""


def demand_numbers(sheet: Sheet, case: Case) -> None:
    """Add the demand that was decided on, and what it follows from."""
    mix = case.decision.mix
    _growth(sheet, case)
    _mix(sheet, case)
    sheet.add(
        "request_tokens",
        "Tokens of a mean request",
        case.workload.traffic.prompt_tokens.mean + case.workload.traffic.output_tokens.mean,
        "tokens",
        "prompt_mean + output_mean",
        [
            case.term("prompt_mean", "traffic.prompt_tokens.mean", "tokens"),
            case.term("output_mean", "traffic.output_tokens.mean", "tokens"),
        ],
    )
    _hours(sheet, case)
    _mean(sheet, case)
    shown = {
        "p50": ("Tokens a minute, median of the active minutes", mix.tokens_per_minute_p50),
        "p90": ("Tokens a minute, nine of ten active minutes", mix.tokens_per_minute_p90),
        "peak": ("Tokens a minute at the peak", mix.tokens_per_minute_peak),
    }
    for name, (title, value) in shown.items():
        _level(sheet, case, name, title, value)
    _requests(sheet, case)
    sheet.add(
        "tokens_per_month",
        "Tokens a month",
        mix.tokens_per_month,
        "tokens/month",
        "tokens_per_minute_mean * active_hours_per_month * 60",
        [sheet["tokens_per_minute_mean"], sheet["active_hours_per_month"]],
        exactness=sheet["tokens_per_minute_mean"].exactness,
    )


def _growth(sheet: Sheet, case: Case) -> None:
    per_year = case.term("growth_per_year", "growth_per_year", "share a year")
    months = case.term("horizon_months", "horizon_months", "months")
    exponent = "horizon_months / 12 * log1p(growth_per_year)"
    grows = case.workload.growth_per_year > 0
    sheet.add(
        "growth_factor",
        "Mean growth over the horizon",
        case.decision.mix.growth_factor,
        "times",
        f"expm1({exponent}) / ({exponent})" if grows else "(1 + growth_per_year) ** horizon_months",
        [per_year, months],
        rule="the mean of (1 + g)^t over T years: ((1 + g)^T - 1) / (T ln(1 + g))"
        if grows
        else "no growth is declared: the demand stays what it is",
    )


def _mix(sheet: Sheet, case: Case) -> None:
    series = _trace(case)
    if series is None:
        term = case.term("output_fraction", "traffic.output_fraction", "share")
        sheet.stated("output_fraction", "Share of the tokens that are output", term)
    else:
        sheet.add(
            "output_fraction",
            "Share of the tokens that are output",
            case.decision.mix.output_fraction,
            "share",
            "trace_output / (trace_input + trace_output)",
            [
                _traced(case, "trace_output", sum(series.output_tokens), "output tokens in all"),
                _traced(case, "trace_input", sum(series.input_tokens), "input tokens in all"),
            ],
            exactness="measured",
        )
    term = case.term("cached_fraction", "traffic.cached_fraction", "share")
    sheet.stated("cached_fraction", "Share of the input that a prompt cache serves", term)


def _hours(sheet: Sheet, case: Case) -> None:
    window = case.workload.traffic.window
    weekly = case.term("active_hours_per_week", "traffic.active_hours_per_week", "h/week")
    if window is not None:
        weekly = window_term(case, window)
    sheet.add(
        "active_hours_per_month",
        "Hours a month in which the demand arrives",
        case.decision.mix.active_hours_per_month,
        "h/month",
        f"{weekly.symbol} / hours_per_week * hours_per_month",
        [weekly, *HOURS],
        rule="" if window is None else "batch work arrives when its window is open",
    )


def window_term(case: Case, window: BatchWindow) -> Term:
    """Return the hours a week of a batch window."""
    where = f"{case.file} traffic.window"
    said = f"{window.hours_per_day:g} h ({window.hours}) on {len(set(window.days))} days"
    return Term("window_hours_per_week", window.hours_per_week, "h/week", "declared", where, said)


HOURS = (
    constant("hours_per_week", HOURS_PER_WEEK, "h/week", "7 days of 24 hours"),
    constant(
        "hours_per_month", HOURS_PER_MONTH, "h/month", "8,760 h / 12, as cloud price lists count"
    ),
)
"""A week and a month as every duty cycle here counts them."""


def _mean(sheet: Sheet, case: Case) -> Explained:
    """Add the mean of the active minutes; a window spreads a week's tokens over its hours."""
    traffic, series = case.workload.traffic, _trace(case)
    terms: list[Term | Explained]
    if series is None:
        formula, terms = _MEAN, [_declared_level(case, name) for name in _PERCENTILES]
        rule = "straight lines between the declared percentiles"
    else:
        formula = "(trace_input + trace_output) / minutes * trace_scale * growth_factor"
        terms = [
            _traced(case, "trace_input", sum(series.input_tokens), "input tokens in all"),
            _traced(case, "trace_output", sum(series.output_tokens), "output tokens in all"),
            _traced(case, "minutes", len(series.requests), "full minutes", "minutes"),
            case.term("trace_scale", "traffic.trace_scale", "times"),
        ]
        rule = "the trace's tokens over its full minutes"
    terms.append(sheet["growth_factor"])
    if traffic.window is not None:
        formula += " * active_hours_per_week / window_hours_per_week"
        terms += [
            case.term("active_hours_per_week", "traffic.active_hours_per_week", "h/week"),
            window_term(case, traffic.window),
        ]
        rule += "; the week's tokens are spread over the window"
    return sheet.add(
        "tokens_per_minute_mean",
        "Tokens a minute, mean of the active minutes",
        case.demand.tokens.mean,
        "tokens/min",
        formula,
        terms,
        exactness="exact" if series is None else "measured",
        rule=rule,
    )


def _level(sheet: Sheet, case: Case, name: str, title: str, value: float) -> None:
    series = _trace(case)
    kind, unit = f"tokens_per_minute_{name}", "tokens/min"
    if case.workload.traffic.window is not None:
        mean = sheet["tokens_per_minute_mean"]
        rule = "batch work runs evenly through its window"
        sheet.add(kind, title, value, unit, mean.kind, [mean], exactness=mean.exactness, rule=rule)
    elif series is None:
        terms: list[Term | Explained] = [_declared_level(case, name), sheet["growth_factor"]]
        sheet.add(kind, title, value, unit, f"{name} * growth_factor", terms)
    else:
        level = _level_of(series.tokens_curve(), name)
        terms = [
            _traced(case, f"trace_{name}", level, f"{name} of its minutes", unit),
            case.term("trace_scale", "traffic.trace_scale", "times"),
            sheet["growth_factor"],
        ]
        formula = f"trace_{name} * trace_scale * growth_factor"
        sheet.add(kind, title, value, unit, formula, terms, exactness="measured")


def _requests(sheet: Sheet, case: Case) -> None:
    series, window = _trace(case), case.workload.traffic.window
    title, unit = "Requests a minute, median of the active minutes", "requests/min"
    value = case.decision.mix.requests_per_minute_p50
    if series is None:
        formula = "tokens_per_minute_p50 / request_tokens"
        terms: list[Term | Explained] = [sheet["tokens_per_minute_p50"], sheet["request_tokens"]]
    else:
        curve = DemandCurve.from_samples(series.requests)
        level = curve.quantile(0.5) if window is None else curve.mean
        formula = "trace_requests * trace_scale * growth_factor"
        said = "median of its minutes" if window is None else "mean of its minutes"
        terms = [
            _traced(case, "trace_requests", level, said, unit),
            case.term("trace_scale", "traffic.trace_scale", "times"),
            sheet["growth_factor"],
        ]
        if window is not None:
            formula += " * active_hours_per_week / window_hours_per_week"
            terms += [
                case.term("active_hours_per_week", "traffic.active_hours_per_week", "h/week"),
                window_term(case, window),
            ]
    sheet.add(
        "requests_per_minute_p50",
        title,
        value,
        unit,
        formula,
        terms,
        exactness="exact" if series is None else "measured",
    )


def _trace(case: Case) -> TraceSeries | None:
    return (
        None if case.workload.traffic.trace is None else case.facts.stack.traces[case.workload.name]
    )


def _traced(case: Case, symbol: str, value: float, what: str, unit: str = "tokens") -> Term:
    where = f"{case.file} traffic.trace"
    return Term(symbol, value, unit, "declared", where, f"{what}, of {case.workload.traffic.trace}")


def _declared_level(case: Case, name: str) -> Term:
    return case.term(name, f"traffic.tokens_per_minute.{name}", "tokens/min")


def _level_of(curve: DemandCurve, name: str) -> float:
    return curve.peak if name == "peak" else curve.quantile({"p50": 0.5, "p90": 0.9}[name])


def objective_numbers(sheet: Sheet, case: Case) -> None:
    """Add what the workload asks for, where it asks."""
    wanted = case.workload.objectives
    for name, title, unit in (
        ("ttft_p95_ms", "Time to the first token that is asked for, 95th percentile", "ms"),
        ("itl_p95_ms", "Inter-token latency that is asked for, 95th percentile", "ms"),
        ("availability", "Availability that is asked for", "share"),
        ("max_spill_share", "Most of the demand that may spill", "share"),
    ):
        if getattr(wanted, name) is not None:
            sheet.stated(f"objectives/{name}", title, case.term(name, f"objectives.{name}", unit))
