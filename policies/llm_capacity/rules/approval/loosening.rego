# METADATA
# title: Protection is not loosened in passing
# description: |
#   Against the approved plan, a workload is classified no lower and may be processed in no
#   further country. Where a regime asks for a baseline, there is one.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: CLS-002
#   severity: critical
#   stages: [plan]
#   waivable_by: [data_protection]
#   remedy: Restore the classification and the residency of the approved plan, or have data protection waive this rule before the looser plan is approved.
#   citation:
#     document: ISO/IEC 27001:2022
#     clause: Annex A 8.32, change management
package llm_capacity.rules.approval.loosening

import data.llm_capacity.lib.classifications
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v is classified %v now; the approved plan has %v", [
		document.value(decision, "workload"),
		document.value(decision, "classification"),
		before.classification,
	]),
	"observed": {"classification": document.value(decision, "classification")},
	"expected": {"at_least": before.classification},
	"evidence": sprintf("/decisions/%d/classification", [index]),
}) if {
	some index, decision in input.decisions
	before := decision.baseline
	readable(decision)
	not as_sensitive(decision)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("%v may now be processed in %v, which the approved plan did not admit", [
		document.value(decision, "workload"),
		document.list(sort(added)),
	]),
	"observed": {"added": sort(added)},
	"expected": {"jurisdictions": before.jurisdictions},
	"evidence": sprintf("/decisions/%d/residency", [index]),
}) if {
	some index, decision in input.decisions
	before := decision.baseline
	readable(decision)
	added := jurisdictions.admitted(decision) - {code |
		some name in before.jurisdictions
		some code in jurisdictions.members(name)
	}
	count(added) > 0
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(decision, "workload"),
	"message": sprintf("The approved plan's protection of %v cannot be read", [document.value(decision, "workload")]),
	"observed": document.value(decision, "baseline"),
	"expected": "a known classification and known jurisdictions",
	"evidence": sprintf("/decisions/%d/baseline", [index]),
}) if {
	some index, decision in input.decisions
	not decision.baseline == null
	document.value(decision, "baseline") != document.absent
	not readable(decision)
}

findings contains finding.make(rego.metadata.chain(), "warn", object.union(regimes.clause(name, "CLS-002"), {
	"subject": "stack",
	"message": sprintf("The plan is compared with no approved plan, which %v asks for", [name]),
	"observed": {"baseline": null},
	"expected": "the approved plan that this one would replace",
	"evidence": "/baseline",
})) if {
	input.baseline == null
	some name, profile in regimes.active
	profile.baseline == "required"
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	"its baseline",
	sprintf("/decisions/%d/baseline", [index]),
) if {
	some index, decision in input.decisions
	document.value(decision, "baseline") == document.absent
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(decision, "workload"),
	"its residency",
	sprintf("/decisions/%d/residency", [index]),
) if {
	some index, decision in input.decisions
	not is_array(jurisdictions.declared(decision))
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its baseline", "/baseline") if {
	document.value(input, "baseline") == document.absent
}

as_sensitive(decision) if classifications.within(decision.baseline.classification, decision.classification)

readable(decision) if {
	classifications.rank(decision.baseline.classification)
	is_array(decision.baseline.jurisdictions)
	every name in decision.baseline.jurisdictions {
		jurisdictions.members(name)
	}
}
