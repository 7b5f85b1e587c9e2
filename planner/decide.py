"""From gated options to a decision for each workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from planner.choose import Choice, choose, is_admissible, is_feasible
from planner.decision import Decision, Mix, Outcome, Status
from planner.demand import Demand
from planner.evaluate import Setting, evaluate
from planner.flip import flip_of
from planner.ladder import degradation_ladder
from planner.objectives import tightest_objective
from planner.option import Option
from planner.policy.verdicts import OptionVerdict
from planner.units import counted
from planner.workload import Workload


def engineering_is_sunk(
    workloads: Iterable[Workload],
    options: Mapping[str, Sequence[Option]],
    verdicts: Mapping[str, OptionVerdict],
) -> bool:
    """Return whether a gate or a pin leaves some workload nothing but self-hosting.

    The stack then runs a serving platform whatever the others choose.
    """
    for workload in workloads:
        admissible = [
            option
            for option in options[workload.name]
            if verdicts[option.id].verdict in ("allow", "warn")
        ]
        pinned = [option for option in admissible if option.pinned]
        field = pinned if workload.pin is not None else admissible
        if field and all(option.kind == "self_hosted" for option in field):
            return True
    return False


def decide(
    workload: Workload,
    options: Sequence[Option],
    verdicts: Mapping[str, OptionVerdict],
    demand: Demand,
    setting: Setting,
    *,
    engineering_usd_per_month: float,
) -> Decision:
    """Return the decision for one workload; never raises for a denial."""
    outcomes = [
        evaluate(option, verdicts[option.id], workload, demand, setting) for option in options
    ]
    choice = choose(
        outcomes,
        model_order=[setting.catalog.model(choice.name).name for choice in workload.models],
        live=next((x for x in setting.platform.live if x.workload == workload.name), None),
        deciding=setting.platform.deciding,
        horizon_months=workload.horizon_months,
    )
    if workload.pin is not None and not any(option.pinned for option in options):
        choice = Choice(None, None, choice.others)
    status, explanation = _status(workload, outcomes, choice)
    chosen, runner_up = choice.chosen, choice.runner_up
    flip = None
    if chosen is not None and runner_up is not None:
        flip = flip_of(chosen, runner_up, workload, demand, setting)
    hosted = chosen is not None and chosen.option.kind == "self_hosted"
    return Decision(
        workload=workload.name,
        owner=workload.owner,
        tier=workload.tier,
        critical=workload.critical,
        classification=workload.classification,
        residency=workload.residency.jurisdictions,
        status=status,
        mix=_mix(workload, demand),
        chosen=chosen,
        runner_up=runner_up.option.id if runner_up else None,
        others=tuple(sorted(choice.others, key=lambda outcome: outcome.option.id)),
        flip=flip,
        tightest_objective=tightest_objective(workload, chosen) if chosen else "",
        engineering_usd_per_month=engineering_usd_per_month if hosted else 0.0,
        ladder=degradation_ladder(workload, chosen, setting.catalog) if chosen else (),
        explanation=explanation,
        countries=tuple(sorted(setting.catalog.expand(workload.residency.jurisdictions))),
    )


def _status(workload: Workload, outcomes: Sequence[Outcome], choice: Choice) -> tuple[Status, str]:
    if choice.chosen is not None:
        return "decided", _why_chosen(outcomes, choice.chosen)
    if not outcomes:
        return "infeasible", (
            "no account sells these models and no cluster can hold them: add an account or a "
            "cluster to platform.yaml, or a model that is sold there"
        )
    if workload.pin is not None and not any(o.option.pinned for o in outcomes):
        names = ", ".join(sorted({o.option.deployment_type for o in outcomes}))
        return "infeasible", f"no option matches the pin; the types offered are {names}"
    field = [o for o in outcomes if o.option.pinned] or list(outcomes)
    if not any(is_admissible(outcome) for outcome in field):
        pinned = "the pinned option is" if field[0].option.pinned else "every option is"
        # What a rule denies stays denied whatever else about it is unknown.
        unknown = [o for o in field if not any(f.verdict == "deny" for f in o.findings)]
        if unknown:
            return "blocked", f"{pinned} blocked: {unknown[0].why}"
        rules = sorted({f.rule_id for o in field for f in o.findings if f.verdict == "deny"})
        return "denied", f"{pinned} denied by {', '.join(rules)}"
    return "infeasible", _nearest(field)


def _why_chosen(outcomes: Sequence[Outcome], chosen: Outcome) -> str:
    admissible = [outcome for outcome in outcomes if is_admissible(outcome)]
    feasible = [outcome for outcome in outcomes if is_feasible(outcome)]
    if chosen.option.pinned:
        return f"pinned; {counted(len(outcomes), 'option')} named, {len(admissible)} admissible"
    if {outcome.option.kind for outcome in admissible} == {"self_hosted"}:
        return (
            "self-hosting is the only admissible kind of capacity: its cost is an obligation, "
            f"not a choice; cheapest of {counted(len(feasible), 'feasible size')}"
        )
    return (
        f"cheapest of {counted(len(feasible), 'feasible option')}; {len(outcomes)} named, "
        f"{len(admissible)} admissible"
    )


def _nearest(field: Sequence[Outcome]) -> str:
    """Name the reasons of the admissible options that come nearest, each once."""
    reasons = []
    for outcome in field:
        if is_admissible(outcome):
            why = outcome.why or "; ".join(outcome.misses)
            reasons.append(f"{outcome.option.deployment_type} {outcome.option.model}: {why}")
    return "nothing feasible; nearest: " + " | ".join(list(dict.fromkeys(reasons))[:4])


def _mix(workload: Workload, demand: Demand) -> Mix:
    return Mix(
        output_fraction=demand.output_fraction,
        cached_fraction=demand.cached_fraction,
        tokens_per_minute_p50=demand.tokens.quantile(0.5),
        tokens_per_minute_p90=demand.tokens.quantile(0.9),
        tokens_per_minute_peak=demand.tokens.peak,
        requests_per_minute_p50=demand.requests_per_minute.quantile(0.5),
        tokens_per_month=demand.tokens_per_month(),
        active_hours_per_month=demand.active_hours_per_month,
        growth_factor=demand.growth_factor,
        source=workload.traffic.source or "declared",
    )
