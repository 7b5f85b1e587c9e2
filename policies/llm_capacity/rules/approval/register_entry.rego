# METADATA
# title: The arrangement is in the register
# description: |
#   Where a regime asks for it, the account or cluster that would serve a workload has its
#   entry in the register of third-party arrangements.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: REG-001
#   severity: high
#   stages: [plan]
#   waivable_by: [compliance]
#   remedy: Enter the arrangement in the register of third-party arrangements and give the entry as register_id of the account or cluster.
#   citation:
#     document: Regulation (EU) 2022/2554 (DORA)
#     clause: Article 28(3), register of information
package llm_capacity.rules.approval.register_entry

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", object.union(regimes.clause(name, "REG-001"), {
	"subject": document.value(decision, "workload"),
	"message": sprintf("What serves %v has no entry in the register of third-party arrangements, which %v asks for", [
		document.value(decision, "workload"),
		name,
	]),
	"observed": {"register_id": document.value(decision, "register_id")},
	"expected": sprintf("an entry, as %v asks of arrangements: %v", [name, document.value(profile, "register_entry")]),
	"evidence": sprintf("/decisions/%d/register_id", [index]),
})) if {
	some index, decision in input.decisions
	some name, profile in regimes.active
	profile.register_entry
	asked(profile, decision)
	not entered(decision)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	"its register_id",
	sprintf("/decisions/%d/register_id", [index]),
) if {
	some index, decision in input.decisions
	document.value(decision, "register_id") == document.absent
}

# What the narrower words leave out is shown, never assumed.
asked(profile, decision) if not exempt(profile, decision)

exempt(profile, decision) if {
	profile.register_entry == "critical"
	decision.critical == false
}

exempt(profile, decision) if {
	profile.register_entry == "third_party"
	decision.option.operator_class == "own_metal"
}

entered(decision) if {
	is_string(decision.register_id)
	regex.match(`\S`, decision.register_id)
}
