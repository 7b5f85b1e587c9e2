# METADATA
# title: A critical workload rests on latency that somebody verified
# description: |
#   A provider's latency that nobody measured is no evidence for a critical workload.
#   The planner already treats it as not meeting an objective; this is the last net.
#   A decision without a latency objective says so with latency_objective false.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: LAT-001
#   severity: high
#   stages: [plan]
#   waivable_by: [service_owner]
#   remedy: Measure the provider's latency from your own network and declare it with its date, or choose an option whose latency is modelled or contracted.
#   citation:
#     document: Regulation (EU) 2022/2554 (DORA)
#     clause: Article 30(3)(a), service levels with precise performance targets
package llm_capacity.rules.service.latency

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

verified := {"modelled", "measured"}

# A provider's target is what it aims for, not what a deployment does.
unproven := {"unverified", "target"}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v is critical and its latency is unverified", [document.value(decision, "workload")]),
	"observed": {"latency_basis": decision.latency_basis},
	"expected": {"latency_basis": sort(verified)},
	"evidence": sprintf("/decisions/%d/latency_basis", [index]),
}) if {
	some index, decision in input.decisions
	at_stake(decision)
	decision.latency_basis in unproven
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v is critical and the basis of its latency, %v, is not known to policy", [
		document.value(decision, "workload"),
		basis,
	]),
	"observed": {"latency_basis": basis},
	"expected": {"latency_basis": sort(verified)},
	"evidence": sprintf("/decisions/%d/latency_basis", [index]),
}) if {
	some index, decision in input.decisions
	at_stake(decision)
	basis := document.value(decision, "latency_basis")
	not basis in ((verified | unproven) | {document.absent})
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	sprintf("its %v", [field]),
	sprintf("/decisions/%d/%v", [index, field]),
) if {
	some index, decision in input.decisions
	some field in document.missing(decision, ["critical", "latency_basis"])
}

at_stake(decision) if {
	not decision.critical == false
	not decision.latency_objective == false
}
