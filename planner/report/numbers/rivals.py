"""The options that were not chosen: what they cost more, and where the choice would flip."""

from __future__ import annotations

from planner.choose import is_admissible
from planner.decision import Outcome
from planner.flip import remixed, scaled, served_usd_per_month, with_output_fraction
from planner.report.numbers.cost import engineering
from planner.report.numbers.explained import Condition, Term
from planner.report.numbers.facts import Case, Sheet, outcomes_of, worked_out

_BEATEN = ("cost", "tie", "gain_below_band", "not_pinned")
"""Why an option lost that could have served."""

FACTOR_TITLE = "Demand at which the runner-up would win, times today's"
FRACTION_TITLE = "Output share at which the runner-up would win"


def option_numbers(sheet: Sheet, case: Case) -> None:
    """Add how many options there were, how many the gate let pass, and how many would do."""
    found = outcomes_of(case.decision)
    admitted = [outcome for outcome in found if is_admissible(outcome)]
    able = [outcome for outcome in admitted if outcome.lost in (None, *_BEATEN)]
    rules = (
        ("named", "Options that were named", len(found), "one for each place, model and term"),
        ("admissible", "Options that the policy admits", len(admitted), "allowed, or warned of"),
        (
            "feasible",
            "Options that are sized, priced and meet the objectives",
            len(able),
            "admissible, and beaten by cost, a tie or what is live alone",
        ),
    )
    for name, title, count, said in rules:
        term = worked_out("count", count, "options", said)
        sheet.add(f"options/{name}", title, count, "options", "count", [term])


def rival_numbers(sheet: Sheet, case: Case) -> None:
    """Add, for each option that has a price, its total and what it costs more."""
    chosen = case.decision.chosen
    for outcome in case.decision.others:
        compared, cost = outcome.compared_usd_per_month, outcome.cost
        if compared is None or cost is None or cost.total_usd_per_month is None:
            continue
        name = option_name(case, outcome)
        hosted = outcome.option.kind == "self_hosted"
        counted = case.facts.engineering_counted_usd if hosted else 0.0
        fixed = worked_out("fixed", cost.fixed_usd_per_month or 0.0, "USD/month", "as planned")
        rest = worked_out("usage", cost.variable_usd_per_month or 0.0, "USD/month", "as planned")
        total = sheet.add(
            f"others/{name}/compared_usd_per_month",
            f"What {name} is compared by",
            compared,
            "USD/month",
            "fixed + usage + engineering",
            [fixed, rest, engineering(case, counted)],
            exactness="modelled" if outcome.option.kind != "payg" else "exact",
            rule="worked out by the formulas of the chosen option, with this option's rows: "
            + "; ".join(cost.price_sources),
        )
        if chosen is None or outcome.extra_usd_per_month is None:
            continue
        sheet.add(
            f"others/{name}/extra_usd_per_month",
            f"What {name} costs more than the chosen option",
            outcome.extra_usd_per_month,
            "USD/month",
            "compared_usd_per_month - chosen_usd_per_month",
            [total, sheet["compared_usd_per_month"].term("chosen_usd_per_month")],
            exactness=total.exactness,
        )


def flip_numbers(sheet: Sheet, case: Case) -> None:
    """Add where the runner-up would win: both costs there, and today."""
    flip, chosen = case.decision.flip, case.decision.chosen
    if flip is None or chosen is None:
        return
    rival = next(o for o in case.decision.others if o.option.id == flip.runner_up)
    setting, workload = case.facts.setting, case.workload
    if flip.demand_factor is not None:
        there = scaled(case.demand, flip.demand_factor)
        costs = [served_usd_per_month(item, workload, there, setting) for item in (chosen, rival)]
        _flip(sheet, "flip/demand_factor", FACTOR_TITLE, flip.demand_factor, "times", costs)
    if flip.output_fraction is not None:
        changed = with_output_fraction(workload, flip.output_fraction)
        mixed = remixed(case.demand, changed, flip.output_fraction)
        costs = [served_usd_per_month(item, changed, mixed, setting) for item in (chosen, rival)]
        _flip(sheet, "flip/output_fraction", FRACTION_TITLE, flip.output_fraction, "share", costs)


def _flip(
    sheet: Sheet, kind: str, title: str, value: float, unit: str, costs: list[float | None]
) -> None:
    chosen, rival = costs
    conditions: list[Condition] = []
    if chosen is not None and rival is not None:
        terms: tuple[Term, ...] = (
            worked_out("runner_up_there", rival, "USD/month", "sized and priced again there"),
            worked_out("chosen_there", chosen, "USD/month", "sized and priced again there"),
        )
        # The plan keeps twelve digits of the point: at a tie they decide.
        formula = "runner_up_there <= chosen_there * 1.000001"
        conditions.append(Condition("the costs at this point", formula, terms))
    sheet.add(
        kind,
        title,
        value,
        unit,
        "",
        [],
        exactness="modelled",
        rule="found by bisection: the nearest point at which the runner-up is the cheaper one",
        conditions=conditions,
    )


def option_name(case: Case, outcome: Outcome) -> str:
    """Return an option's id without its workload."""
    return outcome.option.id.removeprefix(f"{case.workload.name}/")
