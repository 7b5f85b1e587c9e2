# METADATA
# title: Capacity lies in a partition that the regime admits
# description: |
#   Clouds come in partitions with operations of their own, such as those for a government.
#   A regime may admit only some of them, for spill targets as well.
# schemas:
#   - input: schema.options.input
# custom:
#   id: RES-006
#   severity: critical
#   stages: [options]
#   waivable_by: []
#   remedy: Use accounts and clusters in regions of a partition that the regime admits.
#   citation:
#     document: FedRAMP
#     clause: Authorization boundary; government regions of the clouds (general knowledge)
package llm_capacity.rules.residency.partition

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.regimes

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", object.union(
	{
		"subject": document.value(option, "id"),
		"message": sprintf("%v lies in the partition %v (%v); %v admits only %v", [
			document.value(option, "id"),
			partition,
			role,
			name,
			document.list(admitted),
		]),
		"observed": {"partition": partition, "role": role},
		"expected": {"regime": name, "partitions": admitted},
		"evidence": regimes.pointer(index, role, "partition"),
	},
	regimes.clause(name, "RES-006"),
)) if {
	some name
	admitted := regimes.active[name].partitions
	some [index, role] in regimes.sites
	option := input.options[index]
	partition := document.value(regimes.site(option, role), "partition")
	not partition in admitted
}
