# METADATA
# title: A critical workload has an exit plan
# description: |
#   A workload declared critical names an alternative and when leaving was last tried.
#   Regimes say how long ago that may be and whether the trial was a stressed exit.
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

import data.llm_capacity.lib.dates
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

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

findings contains finding.make(rego.metadata.chain(), "deny", object.union(regimes.clause(name, "EXI-001"), {
	"subject": document.value(decision, "workload"),
	"message": sprintf("Leaving %v was last tested on %v; %v asks for a test within %v months", [
		document.value(decision, "workload"),
		decision.exit_plan.tested_on,
		name,
		document.value(profile.exit_plan, "max_age_months"),
	]),
	"observed": {"tested_on": decision.exit_plan.tested_on},
	"expected": {"max_age_months": document.value(profile.exit_plan, "max_age_months")},
	"evidence": sprintf("/decisions/%d/exit_plan/tested_on", [index]),
})) if {
	some [index, decision, name, profile] in asked
	profile.exit_plan.max_age_months
	tested(decision)
	not recent(decision, profile)
}

findings contains finding.make(rego.metadata.chain(), "deny", object.union(regimes.clause(name, "EXI-001"), {
	"subject": document.value(decision, "workload"),
	"message": sprintf("Leaving %v was not tested against a provider that fails or refuses, which %v asks for", [
		document.value(decision, "workload"),
		name,
	]),
	"observed": {"stressed": document.value(decision.exit_plan, "stressed")},
	"expected": {"stressed": true},
	"evidence": sprintf("/decisions/%d/exit_plan/stressed", [index]),
})) if {
	some [index, decision, name, profile] in asked
	profile.exit_plan.stressed == true
	not decision.exit_plan.stressed == true
}

findings contains finding.make(rego.metadata.chain(), "unavailable", object.union(regimes.clause(name, "EXI-001"), {
	"subject": document.value(decision, "workload"),
	"message": sprintf("It is not known when leaving %v was tested: %v is no date up to %v", [
		document.value(decision, "workload"),
		decision.exit_plan.tested_on,
		document.value(input, "as_of"),
	]),
	"observed": {"tested_on": decision.exit_plan.tested_on},
	"expected": {"a_date_up_to": document.value(input, "as_of")},
	"evidence": sprintf("/decisions/%d/exit_plan/tested_on", [index]),
})) if {
	some [index, decision, name, _] in asked
	not tested(decision)
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

# What each regime with demands on exits asks about: plans that are complete.
asked contains [index, decision, name, profile] if {
	some name, profile in regimes.active
	profile.exit_plan
	some index, decision in input.decisions
	decision.critical == true
	complete(decision)
}

tested(decision) if dates.nanoseconds(decision.exit_plan.tested_on) <= dates.nanoseconds(input.as_of)

recent(decision, profile) if {
	dates.nanoseconds(input.as_of) <= dates.months_after(decision.exit_plan.tested_on, profile.exit_plan.max_age_months)
}
