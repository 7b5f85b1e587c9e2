# METADATA
# title: Interactive and batch work never share a deployment
# description: |
#   Batch work fills whatever a deployment has and throttles the people waiting on it.
#   Asked of the plan's deployments, and of pinned options before any price is known.
# custom:
#   id: TIER-001
#   severity: high
#   stages: [options, plan]
#   waivable_by: [platform_owner]
#   remedy: Give the batch work a deployment of its own, or move one of the two pins.
#   citation:
#     document: ISO/IEC 27001:2022
#     clause: Annex A 8.6, capacity management
package llm_capacity.rules.isolation.tiers

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

tiers := {"interactive", "batch"}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": use.subject,
	"message": sprintf("%v shares the deployment %v with %v work", [
		use.subject,
		use.key,
		document.list(sort(others(use))),
	]),
	"observed": {"deployment_key": use.key, "tiers": sort(others(use) | {use.tier})},
	"expected": {"tiers": [use.tier]},
	"evidence": use.pointer,
}) if {
	some use in uses
	use.tier in tiers
	count(others(use)) > 0
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": use.subject,
	"message": sprintf("%v has the tier %v, which is neither interactive nor batch", [use.subject, use.tier]),
	"observed": use.tier,
	"expected": sort(tiers),
	"evidence": use.pointer,
}) if {
	some use in uses
	use.tier != document.absent
	not use.tier in tiers
}

findings contains finding.missing(rego.metadata.chain(), use.subject, field, use.pointer) if {
	some use in uses
	some field in missing(use)
}

missing(use) := {"its tier" | use.tier == document.absent} | {"its deployment key" | use.key in {null, document.absent}}

# Pairs are looked up rather than searched, so that the cost grows with the uses, not
# with their square.
others(use) := {tier |
	some tier in used_tiers
	tier != use.tier
	[use.key, tier] in pairs
}

pairs := {[use.key, use.tier] | some use in uses}

used_tiers := {use.tier | some use in uses}

uses contains {
	"subject": document.value(decision, "workload"),
	"tier": document.value(decision, "tier"),
	"key": document.value(decision, "deployment_key"),
	"pointer": sprintf("/decisions/%d/deployment_key", [index]),
} if {
	input.stage == "plan"
	some index, decision in input.decisions
}

# Options of one workload are alternatives; only what two workloads insist on can clash.
uses contains {
	"subject": document.value(option, "id"),
	"tier": document.value(document.workload_of(option), "tier"),
	"key": document.value(option, "deployment_key"),
	"pointer": sprintf("/options/%d/deployment_key", [index]),
} if {
	input.stage == "options"
	some index, option in input.options
	document.value(option, "pinned") in {true, document.absent}
}
