# METADATA
# title: The model was evaluated for the task, passed, and recently
# description: |
#   A score below its threshold is denied. Policy data says how old an evaluation may be,
#   and what none or an old one means for a critical workload and for another; a workload
#   that is not known to be uncritical counts as critical. A regime may ask for a more
#   recent one.
# schemas:
#   - input: schema.options.input
# custom:
#   id: EVA-001
#   severity: high
#   stages: [options]
#   waivable_by: [ai_risk]
#   remedy: Evaluate the model on the workload's own task and declare suite, score, threshold, date and reference beside the model, or use a model that passes.
#   citation:
#     document: NIST AI 100-1 (AI Risk Management Framework 1.0)
#     clause: MEASURE 2.3, performance measured for conditions similar to deployment
package llm_capacity.rules.approval.evaluation

import data.llm_capacity.facts.evaluations as facts
import data.llm_capacity.lib.dates
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), tolerated(document.workload_of(option)), {
	"subject": document.value(option, "id"),
	"message": sprintf("%v: nobody evaluated %v for the task", [
		document.value(option, "id"),
		document.value(option, "model"),
	]),
	"observed": {"evaluation": null},
	"expected": "suite, score, threshold, date and reference of an evaluation",
	"evidence": sprintf("/options/%d/evaluation", [index]),
}) if {
	some index, option in input.options
	option.evaluation == null
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v: %v scored %v on %v, below the threshold of %v", [
		document.value(option, "id"),
		document.value(option, "model"),
		option.evaluation.score,
		document.value(option.evaluation, "suite"),
		option.evaluation.threshold,
	]),
	"observed": {"score": option.evaluation.score},
	"expected": {"threshold": option.evaluation.threshold},
	"evidence": sprintf("/options/%d/evaluation/score", [index]),
}) if {
	some index, option in input.options
	option.evaluation.score < option.evaluation.threshold
}

findings contains finding.make(rego.metadata.chain(), tolerated(document.workload_of(option)), object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v: %v was last evaluated on %v; %v asks for one of the last %v months", [
			document.value(option, "id"),
			document.value(option, "model"),
			option.evaluation.date,
			who,
			months,
		]),
		"observed": {"date": option.evaluation.date},
		"expected": {"max_age_months": months, "as_of": input.as_of},
		"evidence": sprintf("/options/%d/evaluation/date", [index]),
	},
	regimes.clause(who, "EVA-001"),
)) if {
	some index, option in input.options
	usable(option.evaluation, input.as_of)
	some who, months in max_age_months
	date := option.evaluation.date
	not recent(date, months)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v: what is said of the evaluation of %v cannot be used", [
		document.value(option, "id"),
		document.value(option, "model"),
	]),
	"observed": {"evaluation": stated},
	"expected": "score and threshold as numbers, and a date that is not after as_of",
	"evidence": sprintf("/options/%d/evaluation", [index]),
}) if {
	some index, option in input.options
	stated := document.value(option, "evaluation")
	not stated in {null, document.absent}
	as_of := document.value(input, "as_of")
	not usable(stated, as_of)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	"its evaluation (null for none)",
	sprintf("/options/%d/evaluation", [index]),
) if {
	some index, option in input.options
	document.value(option, "evaluation") == document.absent
}

# Who asks for how recent an evaluation.
max_age_months["policy data"] := document.value(facts, "max_age_months")

max_age_months[name] := months if {
	some name
	months := regimes.active[name].evaluation.max_age_months
}

# What none or an old one means; the critical one where policy data leaves it open.
tolerated(workload) := facts.verdict_when_absent_or_stale.other if workload.critical == false

else := document.value(facts.verdict_when_absent_or_stale, "critical")

usable(evaluation, as_of) if {
	is_number(evaluation.score)
	is_number(evaluation.threshold)
	dates.nanoseconds(evaluation.date) <= dates.nanoseconds(as_of)
}

recent(date, months) if dates.months_after(date, months) >= dates.nanoseconds(input.as_of)
