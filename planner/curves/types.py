"""Curves of a decision: plain values that pages draw and tables list.

They repeat nothing that the plan says: each is computed again by the functions that
decided, at other volumes, mixes or loads. None stands for "cannot serve", never for 0.
"""

from __future__ import annotations

from planner.base import Frozen


class Crossover(Frozen):
    """Where one option becomes cheaper than another: tokens a month, and USD a month there."""

    from_option: str
    to_option: str
    tokens_per_month: float
    usd_per_month: float


class CostLine(Frozen):
    """One option's USD a month at each volume of its curve; None where it cannot serve.

    ``admissible`` is False for a price that is arithmetic only: what the same model costs
    pay-as-you-go somewhere that is no option of the workload, or that the gate denies.
    """

    option: str
    label: str
    chosen: bool
    usd_per_month: tuple[float | None, ...]
    admissible: bool = True


class CostCurve(Frozen):
    """Cost against volume: the mix stays, the traffic grows or shrinks.

    ``tokens_per_month`` are the volumes, today's (``tokens_per_month_now``) among them.
    """

    tokens_per_month: tuple[float, ...]
    tokens_per_month_now: float
    lines: tuple[CostLine, ...]
    crossovers: tuple[Crossover, ...]


class BreakEvenPoint(Frozen):
    """Break-even at one mix; ``share`` is the output or the cached fraction that varies.

    ``tokens_per_month`` and ``utilization`` are None where the break-even lies beyond the
    capacity at that mix; ``needed_share`` is then above 1, the share of the capacity that it
    would take, and None where nothing is served or pay-as-you-go is free.
    """

    share: float
    blended_usd_per_mtok: float
    tokens_per_month: float | None
    utilization: float | None
    needed_share: float | None = None


class BreakEvenCurve(Frozen):
    """Break-even of the chosen commitment against the mix, one share varied at a time.

    ``against`` names the pay-as-you-go price that it is compared with today. Tokens are
    the model's, those that are billed; ``tokens_per_month_now`` are today's.
    """

    commitment_usd_per_month: float
    tokens_per_month_now: float
    output_fraction_now: float
    cached_fraction_now: float
    against: str
    by_output_fraction: tuple[BreakEvenPoint, ...]
    by_cached_fraction: tuple[BreakEvenPoint, ...]


class DemandKnot(Frozen):
    """A level that ``share`` of the active minutes do not exceed, tokens a minute."""

    share: float
    tokens_per_minute: float


class DemandView(Frozen):
    """Demand by share of the active minutes, with the floor and what lies above it.

    ``floor_tokens_per_minute`` is 0 without a floor; ``above_share`` is the share of all
    tokens above it; ``above`` says what happens to them: spills, or waits or is refused.
    """

    knots: tuple[DemandKnot, ...]
    floor_tokens_per_minute: float
    above_share: float
    above: str


class LatencyPoint(Frozen):
    """p95 latencies of one replica at a rate of requests, milliseconds."""

    requests_per_minute: float
    ttft_p95_ms: float
    itl_p95_ms: float


class LatencyCurve(Frozen):
    """Latency of one self-hosted replica against its load, modelled.

    ``requests_per_minute_at_peak`` is a replica's share of the demand's peak;
    ``requests_per_minute_planned`` the rate it sustains within its objectives. Both are
    among ``points``, which rise in their rate.
    """

    points: tuple[LatencyPoint, ...]
    requests_per_minute_at_peak: float
    requests_per_minute_planned: float
    ttft_p95_objective_ms: float | None
    itl_p95_objective_ms: float | None


class RooflinePoint(Frozen):
    """What one phase does on one GPU: FLOPs per byte read, and FLOP/s that reaches.

    ``bound_by`` names the roof above it: bandwidth or arithmetic. ``tokens`` are those of
    one pass: the running batch for decode, a mean prompt without what is cached for prefill.
    """

    phase: str
    tokens: float
    flops_per_byte: float
    flops_per_s: float
    bound_by: str


class Roofline(Frozen):
    """The roof of a GPU at the weights' precision, with the operating points below it."""

    accelerator: str
    precision: str
    peak_flops_per_s: float
    bandwidth_bytes_per_s: float
    ridge_flops_per_byte: float
    points: tuple[RooflinePoint, ...]


class Curves(Frozen):
    """All curves of one workload; None where a curve does not apply to what was chosen.

    ``coarse`` curves have fewer points, because the stack has very many workloads.
    """

    workload: str
    cost: CostCurve | None
    break_even: BreakEvenCurve | None
    demand: DemandView
    latency: LatencyCurve | None
    roofline: Roofline | None
    coarse: bool = False
