# METADATA
# title: Critical demand does not rest on one provider
# description: |
#   The share of the critical workloads' tokens that one provider serves stays within the
#   limit of policy data and of each regime, or somebody assessed the concentration. Own
#   machines count in the total and towards no provider.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: CON-001
#   severity: high
#   stages: [plan]
#   waivable_by: [compliance]
#   remedy: Serve some critical workloads elsewhere, or assess the concentration and record it as an agreement of kind concentration_assessment with its date and reference.
#   citation:
#     document: Regulation (EU) 2022/2554 (DORA)
#     clause: Article 29(1), assessment of ICT concentration risk
package llm_capacity.rules.approval.concentration

import data.llm_capacity.facts.concentration
import data.llm_capacity.lib.agreements
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), limit.verdict, object.union(limit.clause, {
	"subject": "stack",
	"message": sprintf("%v serves %v%% of the critical demand; the limit of %v is %v%%", [
		provider,
		percent(share),
		limit.of,
		percent(limit.max_share),
	]),
	"observed": {"provider": provider, "share": round(share * 10000) / 10000},
	"expected": {"max_share": limit.max_share},
	"evidence": "/decisions",
})) if {
	count(critical) >= concentration.min_critical_workloads
	some provider, tokens in by_provider
	share := tokens / total
	not assessed(provider)
	some limit in limits
	share > limit.max_share
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("It is not known who would serve how much of %v", [document.value(decision, "workload")]),
	"observed": {
		"tokens_per_month": document.value(decision, "tokens_per_month"),
		"provider": document.value(document.value(decision, "option"), "provider"),
	},
	"expected": "tokens a month and a provider",
	"evidence": sprintf("/decisions/%d", [index]),
}) if {
	some index, decision in critical
	not known(decision)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	"its tokens_per_month",
	sprintf("/decisions/%d/tokens_per_month", [index]),
) if {
	some index, decision in input.decisions
	document.value(decision, "tokens_per_month") == document.absent
}

# What is not said to be uncritical counts as critical.
critical[index] := decision if {
	some index, decision in input.decisions
	not decision.critical == false
}

known(decision) if {
	is_number(decision.tokens_per_month)
	decision.tokens_per_month >= 0
	is_string(decision.option.provider)
	regex.match(`\S`, decision.option.provider)
}

total := sum([decision.tokens_per_month | some decision in critical; known(decision)])

providers := {decision.option.provider | some decision in critical}

by_provider[provider] := tokens if {
	some provider in providers
	tokens := sum([other.tokens_per_month |
		some other in critical
		known(other)
		other.option.provider == provider
		not own_metal(other)
	])
	tokens > 0
}

own_metal(decision) if decision.option.operator_class == "own_metal"

limits contains object.union(own, {"of": "policy data", "clause": {}})

limits contains object.union_n([own, profile.concentration, {"of": name, "clause": regimes.clause(name, "CON-001")}]) if {
	some name, profile in regimes.active
}

own := object.filter(concentration, ["max_share", "verdict"])

# An assessment is of the provider as a whole: one for some workload or country is not.
assessed(provider) if {
	agreements.on_file("concentration_assessment", provider, null, null)
}

percent(share) := round(share * 1000) / 10
