"""How the points of curves come about: the formulas of a decision, at other inputs.

A curve repeats nothing that the plan says: each point is worked out again by the functions
that decided. Its formulas are told once, for all points of a kind.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PointRule:
    """One kind of point: what it is, its formula over kinds of numbers, and how it varies."""

    key: str
    title: str
    formula: str
    rule: str


POINT_RULES = (
    PointRule(
        "cost-volume",
        "Volumes of a cost curve",
        "tokens_per_month * factor",
        "the traffic grows or shrinks by a factor, the mix stays; today's volume is among them",
    ),
    PointRule(
        "cost-usd",
        "Cost of an option at a volume",
        "fixed_usd_per_month + variable_usd_per_month + engineering",
        "the same evaluation at this volume: sized, priced and held against the objectives again; "
        "at today's volume it is what options are compared by. Empty where it cannot serve",
    ),
    PointRule(
        "cost-crossover",
        "Where two options cost the same",
        "usd_of_one == usd_of_the_other",
        "found by bisection between two volumes of the curve at which the cheaper one differs",
    ),
    PointRule(
        "even-share",
        "Shares of a break-even curve",
        "output_fraction, or cached_fraction",
        "one share of the mix varies, the other stays; today's is among them",
    ),
    PointRule(
        "even-tokens",
        "Break-even at a mix",
        "commitment / blended * tokens_per_mtok",
        "tokens a month at which the commitment costs what pay-as-you-go would; empty where that "
        "is more than the commitment can serve",
    ),
    PointRule(
        "even-needed",
        "Share of the capacity that a break-even needs",
        "commitment / blended * tokens_per_mtok / capacity",
        "the capacity shrinks as the mix weighs more; above 1 there is no break-even",
    ),
    PointRule(
        "even-blended",
        "Blended pay-as-you-go price at a mix",
        "(1 - output_fraction) * ((1 - cached_fraction) * input + cached_fraction * cached_input)"
        " + output_fraction * output",
        "the price rows are today's; batch work pays batch prices without a cache discount",
    ),
    PointRule(
        "demand-share",
        "Shares of the active minutes",
        "share of the active minutes at or below the level",
        "declared percentiles, or the ordered minutes of a trace",
    ),
    PointRule(
        "demand-level",
        "Demand at a share of the minutes",
        "percentile * growth_factor",
        "straight lines between the knots; a trace's minutes times its scale and the growth",
    ),
    PointRule(
        "memory-gib",
        "Memory in GiB",
        "bytes / 2 ** 30",
        "the bytes beside it in another unit",
    ),
    PointRule(
        "memory-share",
        "Share of a GPU's memory",
        "bytes / total_bytes",
        "of what CUDA reports of the card",
    ),
    PointRule(
        "latency-rate",
        "Rates of a latency curve",
        "60 * running / (time of a request at that many running)",
        "Little's law at other numbers of running requests; the planned rate is among them",
    ),
    PointRule(
        "latency-ttft",
        "Time to the first token at a rate",
        "(chunks * step_s + stall_long_s + step_s + wait_p95_s) * 1000",
        "the same sum as the planned one, at the running requests of this rate",
    ),
    PointRule(
        "latency-itl",
        "Inter-token latency at a rate",
        "(step_s + batch * stall_mean_s / output_mean) * 1000",
        "the same sum as the planned one, at the batch of this rate",
    ),
    PointRule(
        "roofline-tokens",
        "Tokens of a pass",
        "planned batch, or a mean prompt without what is cached",
        "decode takes one token of each running request, prefill a prompt",
    ),
    PointRule(
        "roofline-intensity",
        "Arithmetic intensity",
        "flops_of_a_pass / bytes_read",
        "what one GPU computes for each byte that it reads",
    ),
    PointRule(
        "roofline-reached",
        "FLOP/s that a phase reaches",
        "flops_of_a_pass / seconds_of_a_pass",
        "seconds by the step model, efficiency factors and overheads included",
    ),
    PointRule(
        "roofline-roof",
        "Roof at an intensity",
        "min(peak, bandwidth * intensity)",
        "the card's published peaks: no kernel is above it",
    ),
)
"""Every kind of point, in the order of the pages."""
