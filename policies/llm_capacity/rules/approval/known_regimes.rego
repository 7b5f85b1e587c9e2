# METADATA
# title: The regimes are known
# description: |
#   Every regime that the stack names is one that policy data describes. A name without a
#   description would ask for nothing, and nobody would see that it does.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: RGM-001
#   severity: critical
#   stages: [plan]
#   waivable_by: []
#   remedy: Correct the name under regimes in platform.yaml, or describe the regime in the policy data.
#   citation:
#     document: NIST AI 100-1 (AI Risk Management Framework 1.0)
#     clause: GOVERN 1.1, legal and regulatory requirements are understood, managed and documented
package llm_capacity.rules.approval.known_regimes

import data.llm_capacity.facts.regimes.regimes as described
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": "stack",
	"message": sprintf("The stack names the regime %v, which policy data does not describe", [name]),
	"observed": name,
	"expected": sort(object.keys(described)),
	"evidence": "/regimes",
}) if {
	some name in regimes.unknown
	name != document.absent
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": "stack",
	"message": "The question does not say which regimes the stack is under",
	"observed": document.value(input, "regimes"),
	"expected": "a list of regimes, empty for none",
	"evidence": "/regimes",
}) if {
	document.absent in regimes.unknown
}
