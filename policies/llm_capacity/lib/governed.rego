# METADATA
# title: Governed resources
# description: |
#   Which resources only the plan may ask for: types that policy data lists, and whatever
#   on Kubernetes asks for an accelerator or runs a server of models. Where what runs
#   cannot be read, it could be one.
package llm_capacity.lib.governed

import data.llm_capacity.facts.governed_types

# METADATA
# description: Whether a resource is governed by its type or by what it runs.
holds(row) if governed_types.types[row.type]

holds(row) if {
	on_kubernetes(row)
	serves(row)
}

# METADATA
# description: Whether a resource is an object on a cluster.
on_kubernetes(row) if startswith(row.type, "kubernetes:")

# METADATA
# description: Whether a resource asks for an accelerator, runs a server of models, or may.
serves(row) if row.opaque == true

serves(row) if {
	some ask in row.asks
	some pattern in governed_types.asks
	regex.match(pattern, ask)
}

serves(row) if {
	some run in row.runs
	some pattern in governed_types.runs
	regex.match(pattern, run)
}
