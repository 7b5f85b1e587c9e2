# METADATA
# title: Demand above the floor spills no wider than its source
# description: |
#   A spill target must have a scope no wider than the option's own and must process
#   inside the residency. Overflow is the quietest way for prompts to leave a country.
# schemas:
#   - input: schema.options.input
# custom:
#   id: RES-003
#   severity: critical
#   stages: [options]
#   waivable_by: []
#   remedy: Spill to a pay-as-you-go deployment of the same or a narrower scope inside the residency, or do not spill.
#   citation:
#     document: Regulation (EU) 2016/679 (GDPR)
#     clause: Article 44, onward transfers
package llm_capacity.rules.residency.spill_target

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions
import data.llm_capacity.lib.scopes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v has scope %v but spills to %v of scope %v", [
		document.value(option, "id"),
		document.value(option, "scope"),
		document.value(spill, "deployment_type"),
		document.value(spill, "scope"),
	]),
	"observed": {"spill_scope": document.value(spill, "scope")},
	"expected": {"no_wider_than": document.value(option, "scope")},
	"evidence": sprintf("/options/%d/spill/scope", [index]),
}) if {
	some index in spilling
	option := input.options[index]
	spill := option.spill
	not no_wider(spill, option)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v spills to %v, which may process in %v, not inside the residency %v", [
		document.value(option, "id"),
		document.value(spill, "deployment_type"),
		jurisdictions.places(spill),
		document.list(jurisdictions.declared(workload)),
	]),
	"observed": {"spill_jurisdictions": document.value(spill, "jurisdictions")},
	"expected": {
		"residency": jurisdictions.declared(workload),
		"countries": sort(jurisdictions.admitted(workload)),
	},
	"evidence": sprintf("/options/%d/spill/jurisdictions", [index]),
}) if {
	some index in spilling
	option := input.options[index]
	spill := option.spill
	workload := document.workload_of(option)
	not jurisdictions.unknown(spill)
	not jurisdictions.inside(spill, workload)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v spills to %v, whose countries of processing nobody names", [
		document.value(option, "id"),
		document.value(spill, "deployment_type"),
	]),
	"observed": {"spill_jurisdictions": document.value(spill, "jurisdictions")},
	"expected": "a list of ISO country codes",
	"evidence": sprintf("/options/%d/spill/jurisdictions", [index]),
}) if {
	some index in spilling
	option := input.options[index]
	spill := option.spill
	jurisdictions.unknown(spill)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	"its spill target (null for none)",
	sprintf("/options/%d/spill", [index]),
) if {
	some index, option in input.options
	document.value(option, "spill") == document.absent
}

# A whole document is passed, never a field of it: in `not f(spill.scope)` an absent
# scope is looked up outside of the negation and takes the denial with it.
no_wider(spill, option) if scopes.within(spill.scope, option.scope)

# Our own machines have no provider's scope, only a country: a target that stays in it
# is no wider.
no_wider(spill, option) if {
	option.kind == "self_hosted"
	jurisdictions.listed(spill)
	every country in spill.jurisdictions {
		country in option.jurisdictions
	}
}

# A target is whatever is neither null nor absent.
spilling contains index if {
	some index, option in input.options
	option.spill != null
}
