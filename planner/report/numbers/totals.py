"""Fleet totals: sums over the workloads, each linked to its own number."""

from __future__ import annotations

from planner.report.numbers.explained import Term
from planner.report.numbers.facts import Facts, Sheet, worked_out
from planner.report.numbers.fleet import fleet_numbers, sum_of

TOTAL = "total"
"""The group of the stack's own numbers."""


def total_numbers(sheet: Sheet, facts: Facts, group_of: dict[str, str]) -> None:
    """Add the stack's totals; ``group_of`` names the group of each workload."""
    totals, platform = facts.plan.totals, facts.stack.platform
    chosen = {d.workload: d.chosen for d in facts.plan.decisions if d.chosen is not None}
    fixed = {n: o.cost.fixed_usd_per_month or 0.0 for n, o in chosen.items() if o.cost}
    variable = {n: o.cost.variable_usd_per_month or 0.0 for n, o in chosen.items() if o.cost}
    for kind, title, value, each in (
        ("fixed_usd_per_month", "Fixed cost of the stack", totals.fixed_usd_per_month, fixed),
        (
            "variable_usd_per_month",
            "Usage cost of the stack",
            totals.variable_usd_per_month,
            variable,
        ),
    ):
        ids = {name: f"{group_of[name]}/{kind}" for name in each}
        formula, terms, rule = sum_of(each, ids, "USD/month")
        sheet.add(kind, title, value, "USD/month", formula, terms, exactness="modelled", rule=rule)
    _engineering(sheet, facts, hosts=any(o.self_hosted for o in chosen.values()))
    total = sheet.add(
        "total_usd_per_month",
        "Cost of the stack",
        totals.total_usd_per_month,
        "USD/month",
        "fixed_usd_per_month + variable_usd_per_month + engineering_usd_per_month",
        [
            sheet[k]
            for k in ("fixed_usd_per_month", "variable_usd_per_month", "engineering_usd_per_month")
        ],
        exactness="modelled",
    )
    sheet.add(
        "reported_per_month",
        f"Cost of the stack in {totals.currency}, unrecoverable tax included",
        totals.reported_per_month,
        f"{totals.currency}/month",
        "total_usd_per_month * per_usd * (1 + unrecoverable_tax)",
        [
            total,
            facts.platform_term(
                "per_usd", platform.currency, "per_usd", f"{totals.currency}/USD", "currency."
            ),
            facts.platform_term(
                "unrecoverable_tax", platform.currency, "unrecoverable_tax", "share", "currency."
            ),
        ],
        exactness="modelled",
    )
    owned = [c for c in platform.commitments if c.term_end > platform.as_of]
    sheet.add(
        "sunk_usd_per_month",
        "Commitments already owned, paid whatever is decided",
        totals.sunk_usd_per_month,
        "USD/month",
        "sum(commitments)" if owned else "0",
        [
            Term(
                "commitments",
                tuple(item.usd_per_month for item in owned),
                "USD/month",
                "declared",
                f"{facts.platform_file} commitments[].usd_per_month",
                f"those whose term ends after {platform.as_of}",
            )
        ]
        if owned
        else [],
        rule="shown beside the total, not in it",
    )
    sheet.add(
        "undecided_workloads",
        "Workloads without a decision",
        totals.undecided_workloads,
        "workloads",
        "workloads - decided",
        [
            worked_out("workloads", len(facts.plan.decisions), "workloads", "declared"),
            worked_out("decided", len(chosen), "workloads", "with a chosen option"),
        ],
    )
    fleet_numbers(sheet, facts, group_of)


def _engineering(sheet: Sheet, facts: Facts, *, hosts: bool) -> None:
    line, value = facts.stack.platform.engineering, facts.plan.totals.engineering_usd_per_month
    title, unit = "Engineering: running a serving platform", "USD/month"
    if hosts and line is not None:
        term = facts.platform_term("engineering", line, "usd_per_month", unit, "engineering.")
        sheet.add(
            "engineering_usd_per_month",
            title,
            value,
            unit,
            "engineering",
            [term],
            exactness="declared",
            rule="paid once for the stack where anything is self-hosted",
        )
        return
    rule = "nothing is self-hosted" if not hosts else "platform.yaml declares no engineering line"
    sheet.add("engineering_usd_per_month", title, value, unit, "0", [], rule=rule)
