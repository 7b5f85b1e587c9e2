# METADATA
# title: The model is approved for the classification
# description: |
#   Policy data lists the approved models, each with the most sensitive classification
#   it may see. A model that is not listed is denied.
# schemas:
#   - input: schema.options.input
# custom:
#   id: MOD-001
#   severity: high
#   stages: [options]
#   waivable_by: [ai_risk]
#   remedy: Use a model approved for the classification, or ask the approver named by role in the approved-models data for a row.
#   citation:
#     document: NIST AI 100-1 (AI Risk Management Framework 1.0)
#     clause: GOVERN 1.6, inventory of AI systems
package llm_capacity.rules.approval.model

import data.llm_capacity.facts.approved_models
import data.llm_capacity.lib.classifications
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v is approved for %v data at most; the workload's data is %v", [
		document.value(option, "model"),
		limit(option),
		document.value(workload, "classification"),
	]),
	"observed": {
		"model": document.value(option, "model"),
		"classification": document.value(workload, "classification"),
	},
	"expected": {"max_classification": limit(option)},
	"evidence": sprintf("/options/%d/model", [index]),
}) if {
	some index, option in input.options
	not nobody_names(option)
	workload := document.workload_of(option)
	not approved(option, workload)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v does not say which model would answer", [document.value(option, "id")]),
	"observed": null,
	"expected": "the name of a model",
	"evidence": sprintf("/options/%d/model", [index]),
}) if {
	some index, option in input.options
	nobody_names(option)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	"its model",
	sprintf("/options/%d/model", [index]),
) if {
	some index, option in input.options
	document.value(option, "model") == document.absent
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

approved(option, workload) if {
	classifications.within(workload.classification, approved_models.models[option.model].max_classification)
}

nobody_names(option) if option.model == null

limit(option) := found if found := approved_models.models[option.model].max_classification

else := "no"
