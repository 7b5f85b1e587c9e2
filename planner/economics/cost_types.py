"""What economics says of a sized option: floor, spill, cost, break-even, exit."""

from __future__ import annotations

from typing import Literal

from planner.base import Frozen


class FloorStep(Frozen):
    """One step of an option's grid of dedicated capacity.

    ``capacity`` is in the option's own weighted tokens per minute;
    ``fixed_usd_per_month`` is paid used or not; ``units`` counts PTUs, GSUs,
    model units or replicas; ``nodes`` whole nodes for self-hosting, else 0.
    """

    units: int
    capacity: float
    fixed_usd_per_month: float
    nodes: int = 0


class FloorResult(Frozen):
    """One step held against the demand curve.

    ``use_share`` is the mean share of the floor in use over active minutes;
    ``spill_share`` the share of weighted demand above it (bursts inside a
    minute included).
    """

    step: FloorStep
    use_share: float
    spill_share: float
    spill_usd_per_month: float
    total_usd_per_month: float


class BreakEven(Frozen):
    """Where a commitment pays: never shown without its mix.

    ``tokens_per_month`` is None when it lies beyond what the capacity can
    serve; ``note`` then says "none within capacity" and what the next step is.
    """

    commitment_usd_per_month: float
    output_fraction: float
    cached_fraction: float
    blended_usd_per_mtok: float
    capacity_tokens_per_month: float
    tokens_per_month: float | None
    utilization: float | None
    note: str


class ExitCost(Frozen):
    """What leaving costs if the model goes before the term or horizon ends.

    ``usd_if_model_changes`` is what is lost where the workload stays with the
    provider on another model: nothing where the commitment may serve it.
    """

    usd: float
    rule: str
    note: str
    usd_if_model_changes: float = 0.0


class Cost(Frozen):
    """Expected cost of an option, USD a month, at the expected demand.

    ``status`` "unknown" means a price is missing: the total is None and the
    option can never be chosen, never 0. "infeasible" means that no step of the
    grid satisfies the rules (quota, peak, spill, dedication); ``missing`` then
    says by how much. ``p50_reference`` is the floor at the
    median of the active minutes; ``dedication_usd_per_month`` what the chosen
    floor costs above the same demand pay-as-you-go.
    """

    status: Literal["known", "unknown", "infeasible"]
    missing: tuple[str, ...]
    fixed_usd_per_month: float | None
    variable_usd_per_month: float | None
    total_usd_per_month: float | None
    usd_per_mtok: float | None
    floor: FloorResult | None
    p50_reference: FloorResult | None
    dedication_usd_per_month: float | None
    break_even: BreakEven | None
    exit: ExitCost | None
    price_sources: tuple[str, ...]
