# METADATA
# title: The model outlives the term and the horizon, or leaving is planned
# description: |
#   A model that its provider retires inside the longer of term and horizon needs an
#   exit plan and a named successor. Without them a bought term or a critical workload
#   is denied and anything else is a warning. A term that outlives its model is flagged
#   even where leaving is planned. A model already retired is always denied.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: LIF-001
#   severity: high
#   stages: [plan]
#   waivable_by: [platform_owner]
#   remedy: Shorten the term or the horizon, choose a model that lives longer, or record an exit plan and a successor.
#   citation:
#     document: MicrosoftDocs/azure-ai-docs, concepts-model-retirements-content.md (2026-10-05)
#     clause: Retirement of provisioned deployments, which are not upgraded automatically
package llm_capacity.rules.lifecycle.retirement

import data.llm_capacity.lib.dates
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), verdict, {
	"subject": document.value(decision, "workload"),
	"message": sprintf("The model of %v retires on %v, within %v months of %v, and the exit plan or the successor is missing", [
		document.value(decision, "workload"),
		document.value(decision, "retires_on"),
		needed(decision),
		document.value(input, "as_of"),
	]),
	"observed": {
		"retires_on": document.value(decision, "retires_on"),
		"exit_plan": document.value(decision, "exit_plan"),
		"successor": document.value(decision, "successor"),
	},
	"expected": {"months_needed": needed(decision), "or": "an exit plan and a successor"},
	"evidence": sprintf("/decisions/%d/retires_on", [index]),
}) if {
	some [index, decision] in judged
	not retired(decision)
	not outlives(decision)
	not leaving_is_planned(decision)
	verdict := verdict_for(decision)
}

findings contains finding.make(rego.metadata.chain(), "warn", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("The %v-month term of %v outlives its model, which retires on %v: the rest of it has to serve %v", [
		document.value(decision, "term_months"),
		document.value(decision, "workload"),
		document.value(decision, "retires_on"),
		document.value(decision, "successor"),
	]),
	"observed": {
		"retires_on": document.value(decision, "retires_on"),
		"term_months": document.value(decision, "term_months"),
		"successor": document.value(decision, "successor"),
	},
	"expected": "a term that ends before the model retires",
	"evidence": sprintf("/decisions/%d/term_months", [index]),
}) if {
	some [index, decision] in judged
	not retired(decision)
	leaving_is_planned(decision)
	dates.nanoseconds(decision.retires_on) < dates.months_after(input.as_of, decision.term_months)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("The model of %v is retired since %v", [
		document.value(decision, "workload"),
		document.value(decision, "retires_on"),
	]),
	"observed": {"retires_on": document.value(decision, "retires_on")},
	"expected": {"later_than": document.value(input, "as_of")},
	"evidence": sprintf("/decisions/%d/retires_on", [index]),
}) if {
	some [index, decision] in judged
	retired(decision)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("The retirement date of %v cannot be judged: retires_on is %v, as_of is %v", [
		document.value(decision, "workload"),
		document.value(decision, "retires_on"),
		document.value(input, "as_of"),
	]),
	"observed": {
		"retires_on": document.value(decision, "retires_on"),
		"as_of": document.value(input, "as_of"),
	},
	"expected": "dates written YYYY-MM-DD",
	"evidence": sprintf("/decisions/%d/retires_on", [index]),
}) if {
	some index, decision in input.decisions
	not document.value(decision, "retires_on") in {null, document.absent}
	not both_dates(decision)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	sprintf("its %v", [field]),
	sprintf("/decisions/%d/%v", [index, field]),
) if {
	some index, decision in input.decisions
	some field in document.missing(decision, [
		"retires_on",
		"term_months",
		"horizon_months",
		"successor",
		"exit_plan",
		"critical",
	])
}

# Null says that no retirement is announced.
judged contains [index, decision] if {
	some index, decision in input.decisions
	both_dates(decision)
}

both_dates(decision) if {
	dates.valid(decision.retires_on)
	dates.valid(input.as_of)
}

retired(decision) if dates.nanoseconds(decision.retires_on) <= dates.nanoseconds(input.as_of)

outlives(decision) if {
	end := dates.months_after(input.as_of, needed(decision))
	dates.nanoseconds(decision.retires_on) >= end
}

needed(decision) := max([decision.term_months, decision.horizon_months]) if {
	is_number(decision.term_months)
	is_number(decision.horizon_months)
}

else := document.absent

leaving_is_planned(decision) if {
	is_object(decision.exit_plan)
	is_string(decision.successor)
	decision.successor != ""
}

# Only what is known to be neither critical nor bought is let off with a warning.
verdict_for(decision) := "warn" if {
	decision.critical == false
	decision.term_months == 0
}

else := "deny"
