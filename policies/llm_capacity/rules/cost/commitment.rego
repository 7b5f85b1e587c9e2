# METADATA
# title: A commitment is signed before anything changes
# description: |
#   Whatever binds for a term carries the signature of somebody who may commit the money,
#   over exactly what would be bought.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: COM-001
#   severity: high
#   stages: [plan]
#   waivable_by: [procurement]
#   remedy: Have the purchase signed, over the order digest that the plan shows, or choose hourly units.
#   citation:
#     document: FinOps Framework
#     clause: Rate Optimization capability
package llm_capacity.rules.cost.commitment

import data.llm_capacity.facts.commitments
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.operations

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), operations.unfinished, {
	"subject": document.value(purchase, "workload"),
	"message": sprintf("%v would be bound for %v months at USD %v a month, and nobody has signed", [
		document.value(purchase, "workload"),
		document.value(purchase, "term_months"),
		document.value(purchase, "usd_per_month"),
	]),
	"observed": {
		"signed": document.value(purchase, "signed"),
		"order_digest": document.value(purchase, "order_digest"),
	},
	"expected": {"signed": true},
	"evidence": sprintf("/purchases/%d/signed", [index]),
}) if {
	some index, purchase in input.purchases
	not purchase.signed == true
	not purchase.term_months == 0
	not small(purchase)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(purchase, "workload"),
	sprintf("the %v of its purchase", [field]),
	sprintf("/purchases/%d", [index]),
) if {
	some index, purchase in input.purchases
	some field in document.missing(purchase, ["signed", "term_months", "usd_per_month"])
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its operation", "/operation") if {
	document.value(input, "operation") == document.absent
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its purchases", "/purchases") if {
	not is_array(document.value(input, "purchases"))
}

small(purchase) if {
	is_number(purchase.usd_per_month)
	is_number(purchase.term_months)
	over_term := purchase.usd_per_month * purchase.term_months
	over_term >= 0
	over_term < commitments.free_below_usd_over_term
}
