# METADATA
# title: Jurisdictions
# description: |
#   Which countries a declared residency admits. Named groups are expanded from policy
#   data, and a country counts only where the document's own expansion agrees: neither
#   a stale catalog nor a stale policy can widen a residency on its own.
package llm_capacity.lib.jurisdictions

import data.llm_capacity.facts.jurisdiction_groups.groups
import data.llm_capacity.lib.document

# METADATA
# description: The residency as its owner wrote it.
declared(workload) := found if {
	found := workload.residency.jurisdictions
}

else := document.absent

# METADATA
# description: The countries in which the workload's prompts may be processed.
admitted(workload) := by_policy & by_document if {
	by_policy := {code |
		some name in workload.residency.jurisdictions
		some code in members(name)
	}
	by_document := {code | some code in workload.residency.countries}
}

# METADATA
# description: Of `codes`, those outside the residency. `codes` must be an array.
outside(codes, workload) := {code | some code in codes} - admitted(workload) if is_array(codes)

# METADATA
# description: True only when places are named and every one of them is admitted.
inside(place, workload) if {
	listed(place)
	count(outside(place.jurisdictions, workload)) == 0
}

# METADATA
# description: |
#   True when nobody says where processing happens: no list, an empty list, or no
#   field, below the global scope (which is everywhere, and known to be).
unknown(place) if {
	not place.scope == "global"
	not listed(place)
}

# METADATA
# description: True when a place names at least one country.
listed(place) if {
	is_array(place.jurisdictions)
	count(place.jurisdictions) > 0
}

# METADATA
# description: Where an option or a spill target processes, for a message.
places(place) := "any region of the provider" if {
	place.scope == "global"
}

else := document.list(document.value(place, "jurisdictions"))

# METADATA
# description: The countries of a named group, or of a country code; undefined for other names.
members(name) := found if found := groups[name].countries

else := [name] if {
	is_string(name)
	regex.match(`^[A-Z]{2}$`, name)
}
