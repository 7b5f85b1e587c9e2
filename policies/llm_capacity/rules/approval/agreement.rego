# METADATA
# title: The agreements that a regime asks for are on file
# description: |
#   A regime may ask for a paper with whoever processes the data: an agreement, an
#   assessment, evidence of controls. It names the operator classes and classifications
#   that it asks for; a class or classification that is not known counts as named. A spill
#   target counts like the option itself.
# schemas:
#   - input: schema.options.input
# custom:
#   id: AGR-001
#   severity: high
#   stages: [options]
#   waivable_by: [compliance]
#   remedy: Obtain the agreement and declare it, with its date and reference, under agreements in platform.yaml.
#   citation:
#     document: Regulation (EU) 2022/2554 (DORA)
#     clause: Article 30, key contractual provisions
package llm_capacity.rules.approval.agreement

import data.llm_capacity.facts.third_parties
import data.llm_capacity.lib.agreements
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v needs an agreement of kind %v with %v (%v) under %v, and none is on file that covers it", [
			document.value(option, "id"),
			kind,
			provider,
			role,
			name,
		]),
		"observed": {
			"role": role,
			"provider": provider,
			"operator_class": document.value(place, "operator_class"),
			"jurisdictions": countries,
		},
		"expected": {"regime": name, "agreement": kind},
		"evidence": "/agreements",
	},
	regimes.clause(name, "AGR-001"),
)) if {
	some name
	some demand in regimes.active[name].agreements
	some [index, role] in regimes.sites
	option := input.options[index]
	workload := document.workload_of(option)
	not regimes.spares(demand, workload)
	not about_other_data(demand, workload)
	place := regimes.site(option, role)
	not about_other_operators(demand, place)
	kind := document.value(demand, "kind")
	provider := document.value(place, "provider")
	named := document.value(option, "workload")
	countries := document.value(place, "jurisdictions")
	not agreements.on_file(kind, provider, named, countries)
}

about_other_data(demand, workload) if {
	named := demand.classifications
	regimes.classified(workload)
	not workload.classification in named
}

about_other_operators(demand, place) if {
	named := demand.operator_classes
	place.operator_class in third_parties.operator_classes
	not place.operator_class in named
}
