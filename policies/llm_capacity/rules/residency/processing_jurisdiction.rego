# METADATA
# title: Prompts are processed only inside the declared residency
# description: |
#   Every country in which an option may process prompts must be admitted by the
#   workload's residency. The global scope has no bound, so it is outside any
#   residency unless every one of its countries is listed and admitted.
# schemas:
#   - input: schema.options.input
# custom:
#   id: RES-001
#   severity: critical
#   stages: [options]
#   waivable_by: []
#   remedy: Choose a deployment type or region whose processing stays inside the residency, or have the data owner widen the residency.
#   citation:
#     document: Regulation (EU) 2016/679 (GDPR)
#     clause: Article 44, general principle for transfers
package llm_capacity.rules.residency.processing_jurisdiction

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions
import data.llm_capacity.lib.scopes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v may be processed in %v, which is not inside the residency %v", [
		document.value(option, "id"),
		jurisdictions.places(option),
		document.list(jurisdictions.declared(workload)),
	]),
	"observed": {
		"scope": document.value(option, "scope"),
		"jurisdictions": document.value(option, "jurisdictions"),
		"outside": outside(option, workload),
	},
	"expected": {
		"residency": jurisdictions.declared(workload),
		"countries": sort(jurisdictions.admitted(workload)),
	},
	"evidence": sprintf("/options/%d/jurisdictions", [index]),
}) if {
	some index, option in input.options
	workload := document.workload_of(option)
	not shown(option, workload)
	not left_to_res_002(option)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	sprintf("its %v", [field]),
	sprintf("/options/%d/%v", [index, field]),
) if {
	some index, option in input.options
	some field in document.missing(option, ["workload", "scope", "jurisdictions"])
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	"the residency of its workload",
	"/workloads",
) if {
	some option in input.options
	jurisdictions.declared(document.workload_of(option)) == document.absent
}

shown(option, workload) if {
	scopes.rank(option.scope)
	jurisdictions.inside(option, workload)
}

# A present but empty answer is unknown rather than wrong; an absent one is denied here.
left_to_res_002(option) if {
	scopes.rank(option.scope)
	document.value(option, "jurisdictions") != document.absent
	jurisdictions.unknown(option)
}

outside(option, workload) := sort(found) if {
	found := jurisdictions.outside(option.jurisdictions, workload)
}

else := document.absent
