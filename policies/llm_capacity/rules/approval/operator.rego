# METADATA
# title: The operator is one that the regime admits
# description: |
#   A regime may admit only some classes of operators for a classification, and may refuse
#   operators whose company has its seat in a country. Own machines have no operator. A
#   spill target counts like the option itself.
# schemas:
#   - input: schema.options.input
# custom:
#   id: OPR-001
#   severity: high
#   stages: [options]
#   waivable_by: [compliance]
#   remedy: Serve the workload with an operator that the regime admits, or on own machines.
#   citation:
#     document: Regulation (EU) 2016/679 (GDPR)
#     clause: Article 28(1), processors with sufficient guarantees
package llm_capacity.rules.approval.operator

import data.llm_capacity.facts.operators.operators
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v would have %v data processed by an operator of class %v (%v); %v admits only %v", [
			document.value(option, "id"),
			document.value(workload, "classification"),
			class,
			role,
			name,
			document.list(admitted),
		]),
		"observed": {"operator_class": class, "role": role},
		"expected": {"regime": name, "operator_classes": admitted},
		"evidence": regimes.pointer(index, role, "operator_class"),
	},
	regimes.clause(name, "OPR-001"),
)) if {
	some name
	by_classification := regimes.active[name].operator_classes
	some [index, role] in regimes.sites
	option := input.options[index]
	workload := document.workload_of(option)
	admitted := regimes.limit(by_classification, workload)
	class := document.value(regimes.site(option, role), "operator_class")
	not class in admitted
}

findings contains finding.make(rego.metadata.chain(), "deny", object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v would have %v data processed by %v of %v (%v), which %v does not admit", [
			document.value(option, "id"),
			document.value(workload, "classification"),
			document.value(place, "provider"),
			country,
			role,
			name,
		]),
		"observed": {"operator_country": country, "role": role},
		"expected": {"regime": name, "operator_countries": limit},
		"evidence": regimes.pointer(index, role, "provider"),
	},
	regimes.clause(name, "OPR-001"),
)) if {
	some name
	by_classification := regimes.active[name].operator_countries
	some [index, role] in regimes.sites
	option := input.options[index]
	workload := document.workload_of(option)
	limit := regimes.limit(by_classification, workload)
	place := regimes.site(option, role)
	not own(place)
	country := operators[document.value(place, "provider")].country
	not admits(limit, country)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v has %v as operator (%v), whose country policy data does not know", [
			document.value(option, "id"),
			provider,
			role,
		]),
		"observed": {"provider": provider, "role": role},
		"expected": {"regime": name, "operators": sort(object.keys(operators))},
		"evidence": regimes.pointer(index, role, "provider"),
	},
	regimes.clause(name, "OPR-001"),
)) if {
	some name
	by_classification := regimes.active[name].operator_countries
	some [index, role] in regimes.sites
	option := input.options[index]
	regimes.limit(by_classification, document.workload_of(option))
	place := regimes.site(option, role)
	not own(place)
	provider := document.value(place, "provider")
	not operators[provider].country
}

own(place) if place.operator_class == "own_metal"

admits(limit, country) if {
	denied := limit.denied
	not country in denied
}
