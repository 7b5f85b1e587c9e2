# METADATA
# title: Servers talk to admitted hosts only
# description: |
#   A host that a server or its node reaches is admitted for the purpose by policy data.
#   Where data leaves with it (telemetry, logs, other) the host's countries lie inside the
#   workload's residency as well.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: EGR-001
#   severity: high
#   stages: [plan]
#   waivable_by: [security]
#   remedy: Mirror what is fetched to an admitted registry, turn off what reports out, or have security list the host with its countries and purposes in egress_hosts.
#   citation:
#     document: NIST SP 800-53 Rev. 5
#     clause: SC-7(5), deny by default and allow by exception
package llm_capacity.rules.supply.egress

import data.llm_capacity.facts.egress_hosts
import data.llm_capacity.lib.decisions
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), verdict(decision), {
	"subject": document.value(row, "workload"),
	"message": sprintf("%v reaches %v for %v, which is not admitted for its %v data", [
		document.value(row, "workload"),
		document.value(row, "host"),
		document.value(row, "purpose"),
		document.value(decision, "classification"),
	]),
	"observed": {"host": document.value(row, "host"), "purpose": document.value(row, "purpose")},
	"expected": {
		"admitted_for": document.value(listing(row), "purposes"),
		"countries": document.value(listing(row), "countries"),
		"residency": jurisdictions.declared(decision),
	},
	"evidence": sprintf("/egress/%d/host", [index]),
}) if {
	some index, row in input.egress
	some decision in decisions.about(document.value(row, "workload"))
	not admitted(row, decision)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(row, "workload"),
	sprintf("the %v of its egress", [field]),
	sprintf("/egress/%d", [index]),
) if {
	some index, row in input.egress
	some field in document.missing(row, ["host", "purpose", "workload"])
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its egress", "/egress") if {
	not is_array(document.value(input, "egress"))
}

admitted(row, decision) if {
	row.purpose in listing(row).purposes
	carries_nothing_out(row, decision)
}

carries_nothing_out(row, _) if row.purpose in egress_hosts.inbound

carries_nothing_out(row, decision) if {
	jurisdictions.inside({"jurisdictions": listing(row).countries}, decision)
}

# The row of the host, or of the nearest domain that it lies under; empty without one.
listing(row) := egress_hosts.hosts[nearest] if {
	[_, nearest] := max([[count(name), name] | some name in object.keys(egress_hosts.hosts); under(row.host, name)])
}

else := {}

under(host, name) if host == name

under(host, name) if endswith(host, concat("", [".", name]))

verdict(decision) := found if found := egress_hosts.verdicts[decision.classification]

else := "deny"
