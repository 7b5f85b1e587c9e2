# METADATA
# title: The plan stays within the budget
# description: |
#   The plan's monthly total must not exceed the declared budget. Where a budget is
#   declared, an unknown total is no pass: a missing price is unknown, never zero.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: BUD-001
#   severity: high
#   stages: [plan]
#   waivable_by: [budget_owner]
#   remedy: Reduce demand, relax an objective, choose a cheaper admissible option, or have the budget owner raise the budget.
#   citation:
#     document: FinOps Framework
#     clause: Budgeting capability
package llm_capacity.rules.cost.budget

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": "stack",
	"message": sprintf("The plan costs USD %v a month; the budget is USD %v", [amount(total), amount(budget)]),
	"observed": {"total_usd_per_month": total},
	"expected": {"at_most_usd_per_month": budget},
	"evidence": "/total_usd_per_month",
}) if {
	budget_declared
	not unknown_total
	not within_budget
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": "stack",
	"message": "A budget is declared but the plan's monthly total is not known",
	"observed": {"total_usd_per_month": null},
	"expected": {"at_most_usd_per_month": budget},
	"evidence": "/total_usd_per_month",
}) if {
	budget_declared
	unknown_total
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("A budget is declared but the cost of %v is not known", [document.value(decision, "workload")]),
	"observed": {"total_usd_per_month": null},
	"expected": "a price for everything chosen",
	"evidence": sprintf("/decisions/%d/total_usd_per_month", [index]),
}) if {
	budget_declared
	some index, decision in input.decisions
	decision.total_usd_per_month == null
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	"its total_usd_per_month",
	sprintf("/decisions/%d/total_usd_per_month", [index]),
) if {
	some index, decision in input.decisions
	document.value(decision, "total_usd_per_month") == document.absent
}

findings contains finding.missing(rego.metadata.chain(), "stack", field, sprintf("/%v", [field])) if {
	some field in document.missing(input, ["budget_usd_per_month", "total_usd_per_month"])
}

budget := document.value(input, "budget_usd_per_month")

total := document.value(input, "total_usd_per_month")

budget_declared if budget != null

unknown_total if total == null

within_budget if {
	is_number(total)
	is_number(budget)
	total <= budget
}

# Large numbers are written out; whatever is not a number is said as it is.
amount(value) := sprintf("%d", [value]) if {
	is_number(value)
	value == floor(value)
} else := sprintf("%.2f", [value]) if {
	is_number(value)
} else := value
