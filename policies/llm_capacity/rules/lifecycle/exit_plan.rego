# METADATA
# title: A critical workload has an exit plan
# description: A workload declared critical names an alternative and when leaving was last tried.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: EXI-001
#   severity: high
#   stages: [plan]
#   waivable_by: [compliance]
#   remedy: Declare exit_plan with the alternative and the date on which leaving was last tested.
#   citation:
#     document: Regulation (EU) 2022/2554 (DORA)
#     clause: Article 28(8), exit strategies
package llm_capacity.rules.lifecycle.exit_plan

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v is critical and has no exit plan", [document.value(decision, "workload")]),
	"observed": {"exit_plan": document.value(decision, "exit_plan")},
	"expected": "an alternative and the date on which leaving was tested",
	"evidence": sprintf("/decisions/%d/exit_plan", [index]),
}) if {
	some index, decision in input.decisions
	decision.critical == true
	not complete(decision)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("It is not known whether %v is critical", [document.value(decision, "workload")]),
	"observed": {"critical": critical},
	"expected": "true or false",
	"evidence": sprintf("/decisions/%d/critical", [index]),
}) if {
	some index, decision in input.decisions
	critical := document.value(decision, "critical")
	critical != document.absent
	not is_boolean(critical)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	sprintf("its %v", [field]),
	sprintf("/decisions/%d/%v", [index, field]),
) if {
	some index, decision in input.decisions
	some field in document.missing(decision, ["critical", "exit_plan"])
}

complete(decision) if {
	is_string(decision.exit_plan.alternative)
	decision.exit_plan.alternative != ""
	is_string(decision.exit_plan.tested_on)
}
