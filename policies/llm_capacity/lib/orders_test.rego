# The orders that rules compare by: every member has its place.
package llm_capacity_test.orders

import data.llm_capacity.lib.classifications
import data.llm_capacity.lib.scopes
import data.llm_capacity.lib.verdicts

test_classifications_from_least_to_most_sensitive if {
	[classifications.rank(name) | some name in ["public", "internal", "confidential", "restricted"]] == [0, 1, 2, 3]
	classifications.within("internal", "internal")
	classifications.within("public", "restricted")
	not classifications.within("restricted", "confidential")
	not classifications.within("secret", "restricted")
	not classifications.within("public", "secret")
}

test_scopes_from_narrow_to_wide if {
	[scopes.rank(name) | some name in ["region", "country", "zone", "global"]] == [0, 1, 2, 3]
	scopes.within("zone", "zone")
	scopes.within("region", "global")
	not scopes.within("global", "zone")
	not scopes.within("continent", "global")
	not scopes.within("region", "continent")
}

test_verdicts_from_best_to_worst if {
	[verdicts.rank(name) | some name in ["allow", "warn", "deny", "unavailable", "surprise"]] == [0, 1, 2, 3, 3]
}
