"""What a provider promises or somebody measured: latency and availability; and leaving."""

from __future__ import annotations

from planner.decision import Outcome
from planner.economics.discount import DAYS_PER_MONTH
from planner.economics.exit import AZURE_REFUND_CAP_USD
from planner.evaluate import retirement
from planner.report.numbers.explained import Explained, Term
from planner.report.numbers.facts import Case, Sheet, constant, row, worked_out

_TITLES = {
    "ttft_p95_ms": "Time to the first token, 95th percentile",
    "itl_p95_ms": "Inter-token latency, 95th percentile",
}


def provider_numbers(sheet: Sheet, case: Case, outcome: Outcome) -> None:
    """Add latency and availability of a managed option, where something is known."""
    option, latency = outcome.option, outcome.latency
    place = (option.provider, option.model, option.deployment_type, option.region)
    facts = case.facts
    if latency is not None and latency.basis == "measured":
        at = next(
            item
            for item in facts.stack.platform.latencies
            if (item.provider, item.model, item.deployment_type, item.region) == place
        )
        for kind, title in _TITLES.items():
            term = facts.platform_term(kind, at, kind, "ms", f"latencies[{'/'.join(place)}].")
            said = f"measured {at.date.isoformat()}, {at.ref}"
            measured = Term(kind, term.value, "ms", "declared", term.ref, said)
            sheet.add(kind, title, getattr(at, kind), "ms", kind, [measured], exactness="measured")
    elif latency is not None and latency.itl_p95_ms is not None:
        unit = facts.book.unit(*place[:3])
        assert unit is not None  # noqa: S101 - the target is the unit's
        speed = row(
            "target_output_tokens_per_s", unit.target_output_tokens_per_s or 0.0, "tokens/s", unit
        )
        sheet.add(
            "itl_p95_ms",
            _TITLES["itl_p95_ms"],
            latency.itl_p95_ms,
            "ms",
            "1000 / target_output_tokens_per_s",
            [speed],
            exactness="published",
            rule="what the provider aims for: a floor under the truth, not a measurement",
        )
    if outcome.availability is not None:
        promise = facts.catalog.promise(option.provider, option.kind, option.deployment_type)
        assert promise is not None  # noqa: S101 - the figure is the promise's
        term = row("promised", promise.availability, "share", promise)
        sheet.stated("availability", "Availability that the provider promises", term)


def exit_numbers(sheet: Sheet, case: Case, outcome: Outcome) -> None:
    """Add what leaving costs if the model goes before the term ends."""
    cost = outcome.cost
    if cost is None or cost.exit is None:
        return
    leaving, option = cost.exit, outcome.option
    titles = {
        "exit/usd": ("Cost of leaving when the model goes inside the term", leaving.usd),
        "exit/usd_if_model_changes": (
            "Cost of leaving where the provider keeps the workload on another model",
            leaving.usd_if_model_changes,
        ),
    }
    stranded = _stranded(sheet, case, outcome) if option.term_months else None
    if stranded is None or stranded.value <= 0:
        for kind, (title, value) in titles.items():
            rule = f"{leaving.rule}: {leaving.note}"
            sheet.add(kind, title, value, "USD", "0", [], rule=rule)
        return
    remaining = sheet.add(
        "exit/remaining_usd",
        "Commitment of the months that would be left",
        stranded.value * (cost.fixed_usd_per_month or 0.0),
        "USD",
        "stranded_months * fixed_usd_per_month",
        [stranded, sheet["fixed_usd_per_month"]],
    )
    azure = option.provider == "azure"
    cap = constant(
        "refund_cap",
        AZURE_REFUND_CAP_USD if azure else 0,
        "USD",
        "refund in twelve months: MicrosoftDocs/azure-docs, microsoft-foundry.md, 2026-01-15"
        if azure
        else "nothing is refunded",
    )
    terms: list[Term | Explained] = [remaining, cap]
    rule = f"{leaving.rule}: {leaving.note}"
    title, value = titles["exit/usd"]
    formula = "remaining_usd - min(remaining_usd, refund_cap)"
    sheet.add("exit/usd", title, value, "USD", formula, terms, rule=rule)
    title, value = titles["exit/usd_if_model_changes"]
    kind = "exit/usd_if_model_changes"
    if value:
        sheet.add(kind, title, value, "USD", "remaining_usd", [remaining], rule=rule)
    else:
        sheet.add(kind, title, value, "USD", "0", [], rule=rule)


def _stranded(sheet: Sheet, case: Case, outcome: Outcome) -> Explained:
    option, as_of = outcome.option, case.facts.stack.platform.as_of
    retires_on = retirement(option, case.facts.catalog)
    term = worked_out("term_months", option.term_months, "months", "the option's term")
    title = "Months of the term that the model would not live"
    if retires_on is None:
        rule = "no retirement date is published: the whole term is at stake"
        return sheet.add(
            "exit/stranded_months",
            title,
            option.term_months,
            "months",
            "term_months",
            [term],
            rule=rule,
        )
    days = (retires_on - as_of).days
    said = f"from {as_of} to {retires_on}, when the provider retires the model"
    lived = max(0.0, days / DAYS_PER_MONTH)
    return sheet.add(
        "exit/stranded_months",
        title,
        max(0.0, option.term_months - lived),
        "months",
        "max(0, term_months - max(0, days / days_per_month))",
        [
            term,
            worked_out("days", days, "days", said),
            constant("days_per_month", DAYS_PER_MONTH, "days", "730 h / 24"),
        ],
    )
