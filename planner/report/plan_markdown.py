"""The plan as Markdown: a row for each workload, the bill, what is warned of."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decision import Decision
from planner.plan import Plan
from planner.report.escape import escaped, table
from planner.report.text import headline_word, option_words, summary
from planner.units import format_usd


def plan_markdown(plan: Plan) -> str:
    """Return the plan as a page; what stands below the tables is the text of the preview."""
    lines = [f"## Plan for {escaped(plan.stack)}, as of {plan.as_of}: {headline_word(plan)}", ""]
    lines += table(
        ("workload", "capacity", "USD a month", "tightest objective"),
        [_row(decision) for decision in plan.decisions],
    )
    lines += ["", *table(("bill", "USD a month"), list(_bill(plan))), ""]
    lines += ["<details><summary>The whole summary</summary>", "", "```text"]
    # A fence inside of the text would end the block.
    lines += [summary(plan).replace("```", "'''").rstrip(), "```", "", "</details>"]
    return "\n".join(lines) + "\n"


def _row(decision: Decision) -> tuple[str, ...]:
    chosen = decision.chosen
    name = escaped(decision.workload)
    if chosen is None:
        return name, f"{decision.status.upper()}: {escaped(decision.explanation)}", "none", ""
    total = chosen.cost.total_usd_per_month if chosen.cost else None
    cost = "unknown" if total is None else format_usd(total)
    return name, escaped(option_words(chosen)), cost, escaped(decision.tightest_objective or "")


def _bill(plan: Plan) -> Iterator[tuple[str, ...]]:
    totals = plan.totals
    yield "fixed", format_usd(totals.fixed_usd_per_month)
    yield "variable", format_usd(totals.variable_usd_per_month)
    yield "engineering", format_usd(totals.engineering_usd_per_month)
    yield "**total**", f"**{format_usd(totals.total_usd_per_month)}**"
    if totals.undecided_workloads:
        yield "workloads without a decision, not in the total", str(totals.undecided_workloads)
