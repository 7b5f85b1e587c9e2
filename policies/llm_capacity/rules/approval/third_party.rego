# METADATA
# title: Third parties process only data they are cleared for
# description: |
#   Policy data says which operator classes count as third parties for a
#   classification, and which classifications third parties may process. A spill
#   target counts like the option itself.
# schemas:
#   - input: schema.options.input
# custom:
#   id: TPP-001
#   severity: critical
#   stages: [options]
#   waivable_by: [compliance]
#   remedy: Serve the workload on own or rented machines without spill to a managed service, or have the policy owner clear the operator class for the classification.
#   citation:
#     document: Regulation (EU) 2016/679 (GDPR)
#     clause: Article 28(1), processors with sufficient guarantees
package llm_capacity.rules.approval.third_party

import data.llm_capacity.facts.third_parties
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v would have %v data processed by an operator of class %v (%v)", [
		document.value(option, "id"),
		document.value(workload, "classification"),
		operator,
		role,
	]),
	"observed": {"operator_class": operator, "role": role},
	"expected": {
		"classification": document.value(workload, "classification"),
		"operator_classes": sort(cleared(workload)),
	},
	"evidence": pointer,
}) if {
	some [index, role, operator, pointer] in processors
	option := input.options[index]
	workload := document.workload_of(option)
	operator in third_parties.operator_classes
	not operator in cleared(workload)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v has an operator of class %v (%v), which policy data does not know", [
		document.value(option, "id"),
		operator,
		role,
	]),
	"observed": {"operator_class": operator, "role": role},
	"expected": {"operator_classes": third_parties.operator_classes},
	"evidence": pointer,
}) if {
	some [index, role, operator, pointer] in processors
	option := input.options[index]
	operator != document.absent
	not operator in third_parties.operator_classes
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	sprintf("the operator class of its %v", [role]),
	pointer,
) if {
	some [index, role, operator, pointer] in processors
	option := input.options[index]
	operator == document.absent
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	"the classification of its workload",
	"/workloads",
) if {
	some option in input.options
	document.value(document.workload_of(option), "classification") == document.absent
}

# The option itself is left out of the set: sets of whole documents are slow.
processors contains [index, "option", document.value(option, "operator_class"), pointer] if {
	some index, option in input.options
	pointer := sprintf("/options/%d/operator_class", [index])
}

processors contains [index, "spill target", document.value(option.spill, "operator_class"), pointer] if {
	some index, option in input.options
	option.spill != null
	pointer := sprintf("/options/%d/spill/operator_class", [index])
}

# Classes that may process the workload's data; none for an unknown classification.
cleared(workload) := {operator |
	some operator in third_parties.operator_classes
	may_process(operator, workload.classification)
}

may_process(_, classification) if third_parties.third_party_may_process[classification] == true

may_process(operator, classification) if {
	counted := third_parties.counts_as_third_party[classification]
	not operator in counted
}
