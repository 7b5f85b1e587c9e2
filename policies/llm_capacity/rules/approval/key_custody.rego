# METADATA
# title: The keys are held as the regime asks
# description: |
#   A regime may ask for a classification that the customer manages or holds the keys to
#   stored data. What is not stated is not shown to be so. A spill target counts like the
#   option itself.
# schemas:
#   - input: schema.options.input
# custom:
#   id: KEY-001
#   severity: high
#   stages: [options]
#   waivable_by: [security]
#   remedy: Use an account or cluster with keys of your own and declare its key_custody, or ask security for a waiver.
#   citation:
#     document: APRA Prudential Standard CPS 234
#     clause: Implementation of controls by sensitivity and criticality
package llm_capacity.rules.approval.key_custody

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v would keep %v data under keys that are %v (%v); %v admits only %v", [
			document.value(option, "id"),
			document.value(workload, "classification"),
			custody,
			role,
			name,
			document.list(admitted),
		]),
		"observed": {"key_custody": custody, "role": role},
		"expected": {"regime": name, "key_custody": admitted},
		"evidence": regimes.pointer(index, role, "key_custody"),
	},
	regimes.clause(name, "KEY-001"),
)) if {
	some name
	by_classification := regimes.active[name].key_custody
	some [index, role] in regimes.sites
	option := input.options[index]
	workload := document.workload_of(option)
	admitted := regimes.limit(by_classification, workload)
	custody := document.value(regimes.site(option, role), "key_custody")
	not custody in admitted
}
