# METADATA
# title: Regimes
# description: |
#   What policy data asks for under the regimes that a stack says it is under. Rules go
#   through all of them: a further regime adds findings or makes them worse, and never
#   takes one away.
package llm_capacity.lib.regimes

import data.llm_capacity.facts.regimes.regimes
import data.llm_capacity.lib.classifications
import data.llm_capacity.lib.document

# METADATA
# description: What policy data says of each regime that the question names.
active[name] := profile if {
	some name in input.regimes
	profile := regimes[name]
}

# METADATA
# description: Named regimes that policy data does not know; the marker `absent` without a list of them.
unknown contains name if {
	some name in input.regimes
	not regimes[name]
}

unknown contains document.absent if not is_array(document.value(input, "regimes"))

# METADATA
# description: A regime's own citation for a rule, to merge into a finding's facts; empty without one.
clause(name, id) := {"citation": citation} if citation := regimes[name].clauses[id]

else := {}

# METADATA
# description: |
#   Where data would be processed: options, and spill targets that are neither null nor
#   absent, by index and role. The documents themselves are left out: sets of them are slow.
sites contains [index, "option"] if some index, _ in input.options

sites contains [index, "spill target"] if {
	some index, option in input.options
	option.spill != null
}

# METADATA
# description: The option, or its spill target.
site(option, role) := document.value(option, "spill") if role == "spill target"

else := option

# METADATA
# description: JSON pointer to a field of an option or of its spill target.
pointer(index, role, field) := sprintf("/options/%d/spill/%v", [index, field]) if role == "spill target"

else := sprintf("/options/%d/%v", [index, field])

# METADATA
# description: True only when a demand is about critical workloads and this one is known not to be.
spares(demand, workload) if {
	demand.applies_to == "critical"
	workload.critical == false
}

# METADATA
# description: |
#   What a table by classification says of the workload's data: undefined where it has no
#   row for it, an empty list (which admits nothing) where the classification is not known.
limit(by_classification, workload) := found if found := by_classification[workload.classification]

else := [] if not classified(workload)

# METADATA
# description: True when the workload's classification is one of the known ones.
classified(workload) if workload.classification in classifications.order
