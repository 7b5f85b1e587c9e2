"""What a chosen option costs, and what it is compared with."""

from __future__ import annotations

from planner.catalog.rows import PaygPrice
from planner.comparator import comparator_of
from planner.decision import Outcome
from planner.economics.blend import MTOK
from planner.economics.cost_types import BreakEven, Cost
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Case, Sheet, worked_out
from planner.report.numbers.floor import Load
from planner.report.numbers.prices import TOKENS_PER_MTOK, bill, blended, minutes


def cost_numbers(sheet: Sheet, case: Case, outcome: Outcome, load: Load | None) -> None:
    """Add fixed, variable and total; ``load`` is None for pay-as-you-go."""
    cost = outcome.cost
    if cost is None or cost.total_usd_per_month is None:
        return
    if load is None:
        fixed, variable = _payg(sheet, case, outcome, cost)
    else:
        fixed = _same(sheet, "fixed_usd_per_month", "Fixed cost", "floor/fixed_usd_per_month")
        variable = _same(sheet, "variable_usd_per_month", "Usage cost", "floor/spill_usd_per_month")
    total = sheet.add(
        "total_usd_per_month",
        "Cost",
        cost.total_usd_per_month,
        "USD/month",
        "fixed_usd_per_month + variable_usd_per_month",
        [fixed, variable],
        exactness="exact" if load is None else "modelled",
    )
    if cost.usd_per_mtok is not None:
        sheet.add(
            "usd_per_mtok",
            "Cost of a million tokens",
            cost.usd_per_mtok,
            "USD/Mtok",
            "total_usd_per_month / (tokens_per_month * token_multiplier) * tokens_per_mtok",
            [total, sheet["tokens_per_month"], case.multiplier(), TOKENS_PER_MTOK],
            exactness=total.exactness,
        )
    if load is not None:
        _against_payg(sheet, case, outcome, cost, load, total)


def _same(sheet: Sheet, kind: str, title: str, of: str) -> Explained:
    """Add a number that is another one under the name that a cost gives it."""
    other = sheet[of]
    term = other.term(of.replace("/", "_"))
    return sheet.add(
        kind,
        title,
        other.value,
        other.unit,
        term.symbol,
        [term],
        exactness=other.exactness,
        rule=other.title.lower(),
    )


def _payg(sheet: Sheet, case: Case, outcome: Outcome, cost: Cost) -> tuple[Explained, Explained]:
    option, tier = outcome.option, case.workload.tier
    price = case.facts.book.payg(
        option.provider, option.model, option.deployment_type, option.region
    )
    assert price is not None  # noqa: S101 - a chosen option is priced
    fixed = sheet.add(
        "fixed_usd_per_month",
        "Fixed cost",
        cost.fixed_usd_per_month or 0.0,
        "USD/month",
        "0",
        [],
        rule="pay-as-you-go commits to nothing",
    )
    at = blended(sheet, "blended_usd_per_mtok", "Blended price of the mix", price, tier)
    title = "Usage cost: the month's tokens at the blended price"
    return fixed, bill(sheet, case, "variable_usd_per_month", title, price, at, tier)


def _against_payg(
    sheet: Sheet, case: Case, outcome: Outcome, cost: Cost, load: Load, total: Explained
) -> None:
    tier = case.workload.tier
    found = comparator_of(outcome.option, tier, case.demand, case.facts.book, case.facts.catalog)
    comparator = found if found is not None else load.spill
    if comparator is None:
        return
    at = blended(
        sheet,
        "payg_blended_usd_per_mtok",
        "Blended price of the same model pay-as-you-go",
        comparator,
        tier,
    )
    payg = bill(
        sheet,
        case,
        "payg_usd_per_month",
        "The same demand pay-as-you-go",
        comparator,
        at,
        tier,
    )
    if cost.dedication_usd_per_month is not None:
        sheet.add(
            "dedication_usd_per_month",
            "Price of dedication: above the same demand pay-as-you-go",
            cost.dedication_usd_per_month,
            "USD/month",
            "total_usd_per_month - payg_usd_per_month",
            [total, payg],
            exactness=total.exactness,
        )
    if cost.break_even is not None:
        _break_even(sheet, case, outcome, cost.break_even, load, comparator, at)


def _break_even(
    sheet: Sheet,
    case: Case,
    outcome: Outcome,
    even: BreakEven,
    load: Load,
    comparator: PaygPrice,
    at: Explained,
) -> None:
    sheet.add(
        "break_even/blended_usd_per_mtok",
        "Blended price at the break-even",
        even.blended_usd_per_mtok,
        "USD/Mtok",
        "blended",
        [at.term("blended")],
        rule="a break-even holds at this mix only",
    )
    capacity = _capacity(sheet, outcome, even, load)
    commitment = _commitment(sheet, case, outcome, even, load)
    for kind, title in (
        ("output_fraction", "Output share of the break-even's mix"),
        ("cached_fraction", "Cached share of the break-even's mix"),
    ):
        _same(sheet, f"break_even/{kind}", title, kind)
    if even.tokens_per_month is None:
        if even.blended_usd_per_mtok > 0 and even.capacity_tokens_per_month > 0:
            sheet.add(
                "break_even/needed_share",
                "Share of the capacity that a break-even would need: there is none",
                even.commitment_usd_per_month
                / even.blended_usd_per_mtok
                * MTOK
                / even.capacity_tokens_per_month,
                "share",
                "commitment / blended * tokens_per_mtok / capacity",
                [
                    commitment.term("commitment"),
                    at.term("blended"),
                    TOKENS_PER_MTOK,
                    capacity.term("capacity"),
                ],
                exactness=capacity.exactness,
                rule="more than all of it: the commitment costs more whatever the volume",
            )
        return
    tokens = sheet.add(
        "break_even/tokens_per_month",
        "Tokens a month at which the commitment costs what pay-as-you-go would",
        even.tokens_per_month,
        "tokens/month",
        "commitment / blended * tokens_per_mtok",
        [commitment.term("commitment"), at.term("blended"), TOKENS_PER_MTOK],
    )
    if even.utilization is not None:
        sheet.add(
            "break_even/utilization",
            "Share of the capacity at which the commitment pays",
            even.utilization,
            "share",
            "break_even_tokens / capacity",
            [tokens.term("break_even_tokens"), capacity.term("capacity")],
            exactness=capacity.exactness,
        )


def _capacity(sheet: Sheet, outcome: Outcome, even: BreakEven, load: Load) -> Explained:
    """Add what the step of the break-even serves; it may be a larger one than the floor."""
    active = minutes(sheet, load.used)
    weighted = even.capacity_tokens_per_month * load.weight.value / active.value
    each: Term | Explained
    if outcome.option.kind == "self_hosted":
        each = sheet["tokens_per_minute"].term("each")
    else:
        floor = sheet["floor/capacity"]
        each = next(t for t in floor.terms if t.symbol == "input_tokens_per_minute")
        each = Term("each", each.value, each.unit, each.origin, each.ref, each.source)
    assert not isinstance(each.value, tuple)  # noqa: S101 - a rate is one figure
    count = round(weighted / each.value)
    said = "the step in question, or the first larger one that has a break-even"
    return sheet.add(
        "break_even/capacity_tokens_per_month",
        "Tokens a month that the committed step can serve",
        even.capacity_tokens_per_month,
        "tokens/month",
        "count * each / weight * active_minutes_per_month",
        [
            worked_out("count", count, "units", said),
            each,
            load.weight.term("weight"),
            active,
        ],
        exactness="modelled" if outcome.option.kind == "self_hosted" else "exact",
    )


def _commitment(
    sheet: Sheet, case: Case, outcome: Outcome, even: BreakEven, load: Load
) -> Explained:
    counted = case.facts.engineering_counted_usd if outcome.option.kind == "self_hosted" else 0.0
    fixed = even.commitment_usd_per_month - counted
    terms: list[Term | Explained] = [
        worked_out("step_usd", fixed, "USD/month", "fixed cost of the committed step")
    ]
    for prefix in ("floor", "p50_reference"):
        kind = f"{prefix}/fixed_usd_per_month"
        if kind in sheet and abs(sheet[kind].value - fixed) <= 1e-9 * max(1.0, fixed):
            terms = [sheet[kind].term("step_usd")]
            break
    terms.append(engineering(case, counted))
    return sheet.add(
        "break_even/commitment_usd_per_month",
        "Commitment of the break-even",
        even.commitment_usd_per_month,
        "USD/month",
        "step_usd + engineering",
        terms,
    )


def engineering(case: Case, counted: float) -> Term:
    """Return the engineering line as a choice counts it: nothing where it is sunk."""
    line = case.facts.stack.platform.engineering
    if counted and line is not None:
        return case.facts.platform_term(
            "engineering", line, "usd_per_month", "USD/month", "engineering."
        )
    said = "nothing is added: the stack runs a platform whatever is chosen here, or none is used"
    return worked_out("engineering", 0, "USD/month", said)


def compared_numbers(sheet: Sheet, case: Case, outcome: Outcome) -> None:
    """Add the amount by which the chosen option was compared."""
    if outcome.compared_usd_per_month is None or "total_usd_per_month" not in sheet:
        return
    hosted = outcome.option.kind == "self_hosted"
    counted = case.facts.engineering_counted_usd if hosted else 0.0
    sheet.add(
        "compared_usd_per_month",
        "What options are compared by",
        outcome.compared_usd_per_month,
        "USD/month",
        "total_usd_per_month + engineering",
        [sheet["total_usd_per_month"], engineering(case, counted)],
        exactness=sheet["total_usd_per_month"].exactness,
    )
