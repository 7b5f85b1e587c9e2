"""Cost against volume: the options that matter, sized and priced again at each volume.

The mix stays as it is while the traffic grows or shrinks. Volumes are those at which a
plan looks for its flip, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from planner.choose import TIE_USD
from planner.comparator import comparator_of
from planner.curves.case import Case, is_servable
from planner.curves.types import CostCurve, CostLine, Crossover
from planner.decision import Outcome
from planner.economics.blend import bill_usd_per_month
from planner.flip import bisected, scaled, served_usd_per_month
from planner.option import Option

MAX_LINES = 4
TODAY = 1.0
"""The factor on today's demand that is today's."""


@dataclass(frozen=True)
class Drawn:
    """A line to draw: ``usd_at`` is its USD a month at a factor on today's demand."""

    option: str
    label: str
    admissible: bool
    usd_at: Callable[[float], float | None]


def cost_curve(case: Case) -> CostCurve | None:
    """Return cost against volume; None where nothing is decided.

    Lines, four at most: the chosen option, the runner-up, the same model pay-as-you-go
    and the cheapest servable option of each other kind. An amount is what a choice
    compares: with the engineering line where self-hosting would add it.
    """
    drawn = lines_of(case)
    if not drawn:
        return None
    now, factors = case.decision.mix.tokens_per_month, case.detail.factors
    return CostCurve(
        tokens_per_month=tuple(now * factor for factor in factors),
        tokens_per_month_now=now,
        lines=tuple(
            CostLine(
                option=line.option,
                label=line.label,
                chosen=line is drawn[0],
                usd_per_month=tuple(line.usd_at(factor) for factor in factors),
                admissible=line.admissible,
            )
            for line in drawn
        ),
        crossovers=tuple(
            sorted(
                _crossovers(case, drawn),
                key=lambda found: (found.tokens_per_month, found.to_option),
            )
        ),
    )


def lines_of(case: Case) -> tuple[Drawn, ...]:
    """Return what is drawn, the chosen option first; nothing where nothing is decided."""
    decision = case.decision
    chosen = decision.chosen
    if chosen is None:
        return ()
    rivals = sorted(
        (outcome for outcome in decision.others if is_servable(outcome)),
        key=lambda outcome: (outcome.compared_usd_per_month or 0.0, outcome.option.id),
    )
    picked = [outcome for outcome in rivals if outcome.option.id == decision.runner_up]
    same = _same_model_payg(case, chosen, [chosen, *rivals])
    if isinstance(same, Outcome):
        picked.append(same)
    kinds = {outcome.option.kind for outcome in (chosen, *picked)}
    others: list[Outcome] = []
    for outcome in rivals:
        if outcome.option.kind not in kinds:
            kinds.add(outcome.option.kind)
            others.append(outcome)
    lines = [_line(case, outcome) for outcome in _unique([chosen, *picked])]
    if isinstance(same, Drawn):
        lines.append(same)
    lines += [_line(case, outcome) for outcome in others]
    return tuple(lines[:MAX_LINES])


def _crossovers(case: Case, drawn: Sequence[Drawn]) -> Iterator[Crossover]:
    """Yield the crossovers of the chosen line with each other one that is an option."""
    chosen, now = drawn[0], case.decision.mix.tokens_per_month
    if case.detail.halves:
        for other in drawn[1:]:
            if other.admissible:
                yield from crossovers_of(chosen, other, now, case.detail.factors)
        return
    flip = case.decision.flip
    if flip is None or flip.demand_factor in (None, TODAY):
        return
    rival = next((line for line in drawn if line.option == flip.runner_up), None)
    factors = case.detail.factors
    if rival is not None and factors[0] <= flip.demand_factor <= factors[-1]:
        yield _crossover(chosen, rival, flip.demand_factor, now, up=flip.demand_factor > TODAY)


def crossovers_of(
    chosen: Drawn, other: Drawn, now: float, factors: Sequence[float]
) -> Iterator[Crossover]:
    """Yield where one of the two becomes cheaper than the other, going away from today.

    Each is located by halving between two neighbouring volumes at which both serve: the
    first is the plan's own flip where ``other`` is the runner-up. A choice that is kept
    although it is dearer today crosses nothing there; nor do two that cost the same.
    """

    def advantage(factor: float) -> float | None:
        kept, rival = chosen.usd_at(factor), other.usd_at(factor)
        return None if kept is None or rival is None else rival - kept

    def wins_back(factor: float) -> float | None:
        value = advantage(factor)
        return None if value is None else TIE_USD - value

    now_behind = (advantage(TODAY) or 0.0) < 0
    for outwards in (
        [factor for factor in factors if factor >= TODAY],
        [factor for factor in reversed(factors) if factor <= TODAY],
    ):
        behind = now_behind
        for near, far in pairwise(outwards):
            value = advantage(far)
            if value is None or not (value > TIE_USD if behind else value < 0):
                continue
            crosses = wins_back if behind else advantage
            cheaper, dearer = (chosen, other) if behind else (other, chosen)
            behind = not behind
            if advantage(near) is not None:
                factor = bisected(crosses, near, far, geometric=True)
                yield _crossover(dearer, cheaper, factor, now, up=far > near)


def _crossover(dearer: Drawn, cheaper: Drawn, factor: float, now: float, *, up: bool) -> Crossover:
    """Return where ``cheaper`` begins to win, at larger volumes (``up``) or at smaller ones."""
    usd = cheaper.usd_at(factor)
    assert usd is not None  # noqa: S101 - a point that crosses is one that serves
    first, then = (dearer, cheaper) if up else (cheaper, dearer)
    return Crossover(
        from_option=first.option,
        to_option=then.option,
        tokens_per_month=now * factor,
        usd_per_month=usd,
    )


def label_of(option: Option) -> str:
    """Return an option in words that tell it from the other options of its workload."""
    if option.hardware is not None:
        words = f"self-hosted {option.model} on {option.hardware.instance} in {option.region}"
    else:
        words = f"{option.deployment_type} {option.model} in {option.region}"
    if option.kind == "provisioned":
        words += f", {option.term_months}-month term" if option.term_months else ", no term"
    if option.spill is not None:
        words += f", spill to {option.spill.deployment_type} in {option.spill.region}"
    return words


def _line(case: Case, outcome: Outcome) -> Drawn:
    @cache
    def usd_at(factor: float) -> float | None:
        if factor == TODAY and not case.detail.halves:
            return outcome.compared_usd_per_month
        demand = scaled(case.demand, factor)
        return served_usd_per_month(outcome, case.workload, demand, case.setting)

    return Drawn(outcome.option.id, label_of(outcome.option), True, usd_at)


def _same_model_payg(
    case: Case, chosen: Outcome, servable: Sequence[Outcome]
) -> Drawn | Outcome | None:
    """Return the same model pay-as-you-go: an option that could serve, or its price alone."""
    option, tier = chosen.option, case.workload.tier
    if option.kind == "payg":
        return None
    setting = case.setting
    price = comparator_of(option, tier, case.demand, setting.book, setting.catalog)
    if price is None:
        return None
    place = (price.provider, price.model, price.deployment_type)
    for outcome in servable:
        sold = outcome.option
        named = (sold.provider, sold.model, sold.deployment_type)
        if (
            sold.kind == "payg"
            and named == place
            and setting.book.payg(*named, sold.region) == price
        ):
            return outcome
    multiplier = case.choice(option).token_multiplier
    longest = case.demand.prompt_tokens.p95 * multiplier
    if price.max_prompt_tokens is not None and longest > price.max_prompt_tokens:
        return None
    where = "" if price.region == "*" else f" in {price.region}"

    def usd_at(factor: float) -> float | None:
        used = scaled(case.demand, factor).with_token_multiplier(multiplier)
        return bill_usd_per_month(price, used.split_per_month(), tier)

    return Drawn(
        "/".join(("price", *place, price.region)),
        f"{price.deployment_type} {price.model}{where}, pay-as-you-go price (no option here)",
        False,
        usd_at,
    )


def _unique(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return list({outcome.option.id: outcome for outcome in outcomes}.values())
