# METADATA
# title: Processing abroad rests on what the regime asks for
# description: |
#   A regime names the countries that need nothing further, and says for each
#   classification whether the others are allowed, denied, or admissible with an agreement
#   of some kind that covers them. A classification that it does not list is denied
#   abroad, and so are countries that nobody names. A spill target counts like the option.
# schemas:
#   - input: schema.options.input
# custom:
#   id: RES-005
#   severity: critical
#   stages: [options]
#   waivable_by: []
#   remedy: Choose an option that stays in the regime's home countries, or declare under agreements in platform.yaml the dated agreement that the regime asks for.
#   citation:
#     document: Regulation (EU) 2016/679 (GDPR)
#     clause: Chapter V, transfers to third countries
package llm_capacity.rules.residency.abroad

import data.llm_capacity.lib.agreements
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

anywhere := ["any region of the provider"]

unnamed := ["countries that nobody names"]

findings contains finding.make(rego.metadata.chain(), "deny", object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v would have %v data processed in %v (%v), which %v %v", [
			document.value(option, "id"),
			document.value(workload, "classification"),
			document.list(leaving),
			role,
			name,
			admits(needed),
		]),
		"observed": {"abroad": leaving, "role": role},
		"expected": {"regime": name, "home": document.value(abroad, "home"), "abroad": needed},
		"evidence": regimes.pointer(index, role, "jurisdictions"),
	},
	regimes.clause(name, "RES-005"),
)) if {
	some name
	abroad := regimes.active[name].abroad
	some [index, role] in regimes.sites
	option := input.options[index]
	workload := document.workload_of(option)
	not regimes.spares(abroad, workload)
	needed := need(abroad, workload)
	needed != "allow"
	place := regimes.site(option, role)
	leaving := outside(document.value(place, "jurisdictions"), document.value(place, "scope"), home(name))
	count(leaving) > 0
	provider := document.value(place, "provider")
	named := document.value(option, "workload")
	not settled(needed, provider, named, leaving)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(option, "id"),
	"message": sprintf("The stack is under %v, which policy data does not know, so nothing can be said of %v", [
		name,
		document.value(option, "id"),
	]),
	"observed": {"regime": name},
	"expected": "names of regimes in policy data",
	"evidence": "/regimes",
}) if {
	some name in regimes.unknown
	some option in input.options
}

# Only a listed classification may leave.
need(abroad, workload) := found if found := abroad.by_classification[workload.classification]

else := "deny"

home(name) := {code |
	some group in regimes.active[name].abroad.home
	some code in jurisdictions.members(group)
}

# Asked of small values rather than options: many options share theirs, and OPA remembers.
outside(codes, scope, inside) := sort({code | some code in codes} - inside) if {
	is_array(codes)
	count(codes) > 0
}

else := anywhere if scope == "global"

else := unnamed

# No agreement lifts a denial, and none is known to cover countries that nobody names.
settled(kind, provider, workload, leaving) if {
	kind != "deny"
	leaving != unnamed
	agreements.on_file(kind, provider, workload, leaving)
}

admits(needed) := "does not admit" if needed == "deny"

else := sprintf("admits only with an agreement of kind %v", [needed])
