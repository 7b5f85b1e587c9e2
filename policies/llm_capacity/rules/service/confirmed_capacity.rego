# METADATA
# title: Provisioned units rest on confirmed capacity
# description: |
#   Quota is permission, not capacity. Provisioned units that the provider has not
#   confirmed may fail to deploy.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: CAP-001
#   severity: medium
#   stages: [plan]
#   waivable_by: [platform_owner]
#   remedy: Ask the provider for the capacity in the region, deploy before buying a term, and record the confirmation with its date and reference.
#   citation:
#     document: MicrosoftDocs/azure-ai-docs, provisioned-throughput.md (2025-09-03)
#     clause: Quota does not guarantee capacity
package llm_capacity.rules.service.confirmed_capacity

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "warn", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v relies on provisioned units whose capacity nobody has confirmed", [
		document.value(decision, "workload"),
	]),
	"observed": {"capacity_confirmed": false},
	"expected": {"capacity_confirmed": true},
	"evidence": sprintf("/decisions/%d/capacity_confirmed", [index]),
}) if {
	some index, decision in input.decisions
	not needs_no_units(decision)
	document.value(decision, "capacity_confirmed") == false
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("It is not known whether the capacity of %v is confirmed", [
		document.value(decision, "workload"),
	]),
	"observed": {"capacity_confirmed": document.value(decision, "capacity_confirmed")},
	"expected": "true or false",
	"evidence": sprintf("/decisions/%d/capacity_confirmed", [index]),
}) if {
	some index, decision in input.decisions
	not needs_no_units(decision)
	confirmed := document.value(decision, "capacity_confirmed")
	not is_boolean(confirmed)
	confirmed != document.absent
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	"its capacity_confirmed",
	sprintf("/decisions/%d/capacity_confirmed", [index]),
) if {
	some index, decision in input.decisions
	not needs_no_units(decision)
	document.value(decision, "capacity_confirmed") == document.absent
}

# An absent or unknown kind may need units.
needs_no_units(decision) if decision.option.kind in {"payg", "self_hosted"}
