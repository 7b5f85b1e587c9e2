"""The choice among outcomes that are already gated, sized and priced.

Cheapest admissible outcome that meets the objectives; ties go to pay-as-you-go,
then to the owner's order of models, then to the smaller tensor-parallel degree;
what is live is left only for a gain above the stated band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.decision import LostBecause, Outcome
from planner.declared.terms import Deciding, LiveChoice
from planner.units import format_usd

TIE_USD = 0.005
"""Amounts closer than half a cent a month are a tie."""

_KIND_ORDER = {"payg": 0, "provisioned": 1, "self_hosted": 2}


@dataclass(frozen=True)
class Choice:
    """What won, what came second, and every other outcome with why it lost."""

    chosen: Outcome | None
    runner_up: Outcome | None
    others: tuple[Outcome, ...]


def is_admissible(outcome: Outcome) -> bool:
    """Return whether the gate lets the outcome compete."""
    return outcome.verdict in ("allow", "warn")


def is_feasible(outcome: Outcome) -> bool:
    """Return whether the outcome is admissible, sized, priced and meets the objectives."""
    return is_admissible(outcome) and outcome.lost is None and not outcome.misses


def choose(
    outcomes: Sequence[Outcome],
    *,
    model_order: Sequence[str],
    live: LiveChoice | None,
    deciding: Deciding,
    horizon_months: int,
) -> Choice:
    """Choose among ``outcomes``; those that cannot win must carry ``lost`` already."""
    pinned = [outcome for outcome in outcomes if outcome.option.pinned]
    field = [outcome for outcome in (pinned or outcomes) if is_feasible(outcome)]
    ranked = sorted(field, key=lambda outcome: _rank(outcome, model_order))
    winner = _settle_ties(ranked, model_order)
    kept_live = None
    if winner is not None and live is not None:
        kept_live = _worth_keeping(ranked, winner, live, deciding, horizon_months)
    chosen = kept_live or winner
    runner_up = next((outcome for outcome in ranked if outcome is not chosen), None)
    others = tuple(
        _explain(outcome, chosen, pinned=bool(pinned), kept_live=kept_live is not None)
        for outcome in outcomes
        if outcome is not chosen
    )
    if runner_up is not None:
        runner_up = next(item for item in others if item.option.id == runner_up.option.id)
    return Choice(chosen, runner_up, others)


def _rank(outcome: Outcome, model_order: Sequence[str]) -> tuple[float, int, int, int, str]:
    return (_cost(outcome), *_tie_rank(outcome, model_order))


def _tie_rank(outcome: Outcome, model_order: Sequence[str]) -> tuple[int, int, int, str]:
    degree = outcome.self_hosted.replica.layout.gpus if outcome.self_hosted else 0
    model = outcome.option.model
    order = model_order.index(model) if model in model_order else len(model_order)
    return (_KIND_ORDER[outcome.option.kind], order, degree, outcome.option.id)


def _settle_ties(ranked: Sequence[Outcome], model_order: Sequence[str]) -> Outcome | None:
    if not ranked:
        return None
    tied = [o for o in ranked if _cost(o) - _cost(ranked[0]) < TIE_USD]
    return min(tied, key=lambda outcome: _tie_rank(outcome, model_order))


def _worth_keeping(
    ranked: Sequence[Outcome],
    winner: Outcome,
    live: LiveChoice,
    deciding: Deciding,
    horizon_months: int,
) -> Outcome | None:
    """Return the live outcome if leaving it gains too little, else None."""
    current = next((outcome for outcome in ranked if _is_live(outcome, live)), None)
    if current is None or current is winner:
        return None
    gain = _cost(current) - _cost(winner) - deciding.switching_cost_usd / horizon_months
    return current if gain <= deciding.gain_band * _cost(current) else None


def _is_live(outcome: Outcome, live: LiveChoice) -> bool:
    option = outcome.option
    return (
        option.kind == live.kind
        and option.model == live.model
        and option.provider == live.provider
        and option.region == live.region
        and live.deployment_type in (None, option.deployment_type)
    )


def _explain(outcome: Outcome, chosen: Outcome | None, *, pinned: bool, kept_live: bool) -> Outcome:
    if chosen is None or outcome.compared_usd_per_month is None:
        extra = None
    else:
        extra = outcome.compared_usd_per_month - _cost(chosen)
    if outcome.lost is not None:
        return outcome.model_copy(update={"extra_usd_per_month": extra})
    lost: LostBecause
    if pinned and not outcome.option.pinned:
        lost, why = "not_pinned", "another option is pinned"
    elif outcome.misses:
        lost, why = "objective", "; ".join(outcome.misses)
    elif extra is not None and extra < 0 and kept_live:
        lost = "gain_below_band"
        why = f"saves {format_usd(-extra)} a month, below the gain that justifies a move"
    elif extra is not None and extra < TIE_USD:
        lost, why = "tie", "costs the same; ties go to pay-as-you-go, then the preferred model"
    else:
        lost, why = "cost", f"costs {format_usd(extra or 0.0)} a month more"
    return outcome.model_copy(update={"lost": lost, "why": why, "extra_usd_per_month": extra})


def _cost(outcome: Outcome) -> float:
    assert outcome.compared_usd_per_month is not None  # noqa: S101 - feasible means priced
    return outcome.compared_usd_per_month
