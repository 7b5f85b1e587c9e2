# METADATA
# title: A node pool suits every workload on it
# description: |
#   The country of a pool lies inside the residency of each workload that it serves, and
#   the pool is of their tier.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: POL-001
#   severity: critical
#   stages: [plan]
#   waivable_by: []
#   remedy: Give the workload a pool in a country of its residency and of its own tier.
#   citation:
#     document: NIST SP 800-53 Rev. 5
#     clause: SA-9(5), processing, storage and service location
package llm_capacity.rules.isolation.node_pool

import data.llm_capacity.lib.decisions
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": use.workload,
	"message": sprintf("The pool %v is in %v, outside of the residency of %v", [use.name, use.pool.country, use.workload]),
	"observed": {"country": use.pool.country},
	"expected": {"jurisdictions": jurisdictions.declared(use.decision)},
	"evidence": sprintf("/pools/%d/country", [use.index]),
}) if {
	some use in uses
	named(use.pool)
	not inside(use)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": use.workload,
	"message": sprintf("The pool %v is for %v work; %v is %v", [
		use.name,
		document.value(use.pool, "tier"),
		use.workload,
		document.value(use.decision, "tier"),
	]),
	"observed": {"tier": document.value(use.pool, "tier")},
	"expected": {"tier": document.value(use.decision, "tier")},
	"evidence": sprintf("/pools/%d/tier", [use.index]),
}) if {
	some use in uses
	not same_tier(use)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": "stack",
	"message": sprintf("The pool %v serves %v, about which nothing was decided", [document.value(pool, "name"), workload]),
	"observed": {"workload": workload},
	"expected": "workloads of the plan only",
	"evidence": sprintf("/pools/%d/workloads", [index]),
}) if {
	some index, pool in input.pools
	some workload in pool.workloads
	decisions.about(workload) == [{}]
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": "stack",
	"message": sprintf("It is not known in which country the pool %v is", [document.value(pool, "name")]),
	"observed": {"country": country},
	"expected": "the code of a country",
	"evidence": sprintf("/pools/%d/country", [index]),
}) if {
	some index, pool in input.pools
	country := document.value(pool, "country")
	country != document.absent
	not named(pool)
}

findings contains finding.missing(
	rego.metadata.chain(),
	"stack",
	sprintf("the %v of its pool %v", [field, document.value(pool, "name")]),
	sprintf("/pools/%d", [index]),
) if {
	some index, pool in input.pools
	some field in document.missing(pool, ["country", "tier"])
}

findings contains finding.missing(
	rego.metadata.chain(),
	"stack",
	sprintf("the workloads of its pool %v", [document.value(pool, "name")]),
	sprintf("/pools/%d", [index]),
) if {
	some index, pool in input.pools
	not is_array(document.value(pool, "workloads"))
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its pools", "/pools") if {
	not is_array(document.value(input, "pools"))
}

uses contains {
	"index": index,
	"name": document.value(pool, "name"),
	"pool": pool,
	"workload": workload,
	"decision": decision,
} if {
	some index, pool in input.pools
	some workload in pool.workloads
	some decision in decisions.about(workload)
	decision != {}
}

named(pool) if {
	is_string(pool.country)
	regex.match(`^[A-Z]{2}$`, pool.country)
}

inside(use) if jurisdictions.inside({"jurisdictions": [use.pool.country]}, use.decision)

same_tier(use) if use.pool.tier == use.decision.tier
