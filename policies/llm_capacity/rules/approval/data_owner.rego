# METADATA
# title: The data owner has signed the classification off
# description: |
#   Somebody other than the workload's owner vouches for the classification. An asset in
#   the register is signed for by its owner and classified no lower than the register says.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: CLS-001
#   severity: high
#   stages: [plan]
#   waivable_by: [data_protection]
#   remedy: Have the owner of the data asset confirm the classification, and name that role as signed_off_by.
#   citation:
#     document: ISO/IEC 27001:2022
#     clause: Annex A 5.12, classification of information
package llm_capacity.rules.approval.data_owner

import data.llm_capacity.facts.data_assets
import data.llm_capacity.lib.classifications
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

needed := ["owner", "signed_off_by", "data_asset"]

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("The classification of %v is signed off by its own owner, %v", [
		document.value(decision, "workload"),
		document.value(decision, "owner"),
	]),
	"observed": {"signed_off_by": document.value(decision, "signed_off_by")},
	"expected": "the owner of the data asset, who is not the owner of the workload",
	"evidence": sprintf("/decisions/%d/signed_off_by", [index]),
}) if {
	some index, decision in input.decisions
	folded(decision.signed_off_by) == folded(decision.owner)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v is signed off by %v; the register names %v as its owner", [
		document.value(decision, "data_asset"),
		document.value(decision, "signed_off_by"),
		document.value(row, "owner"),
	]),
	"observed": {"signed_off_by": document.value(decision, "signed_off_by")},
	"expected": {"signed_off_by": document.value(row, "owner")},
	"evidence": sprintf("/decisions/%d/signed_off_by", [index]),
}) if {
	some index, decision in input.decisions
	some row in listed(decision)
	not signed_by_owner(decision, row)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v is classified %v; the register asks for %v at least", [
		document.value(decision, "data_asset"),
		document.value(decision, "classification"),
		document.value(row, "minimum_classification"),
	]),
	"observed": {"classification": document.value(decision, "classification")},
	"expected": {"minimum_classification": document.value(row, "minimum_classification")},
	"evidence": sprintf("/decisions/%d/classification", [index]),
}) if {
	some index, decision in input.decisions
	some row in listed(decision)
	not sensitive_enough(decision, row)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	sprintf("its %v", [field]),
	sprintf("/decisions/%d/%v", [index, field]),
) if {
	some index, decision in input.decisions
	some field in needed
	not says(decision, field)
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its decisions", "/decisions") if {
	not is_array(document.value(input, "decisions"))
}

says(decision, field) if folded(decision[field]) != []

# The register's rows for the asset; its name counts without regard to case and spaces.
listed(decision) := {row |
	some name, row in data_assets.assets
	folded(name) == folded(decision.data_asset)
}

signed_by_owner(decision, row) if folded(decision.signed_off_by) == folded(row.owner)

sensitive_enough(decision, row) if {
	classifications.within(row.minimum_classification, decision.classification)
}

# The words of a name in small letters.
folded(text) := [word | some word in split(lower(text), " "); word != ""] if is_string(text)
