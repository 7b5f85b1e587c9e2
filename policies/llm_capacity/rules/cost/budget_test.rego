package llm_capacity_test.cost.budget

import data.llm_capacity.rules.cost.budget as subject
import data.llm_capacity_test.fixtures

planning(change) := object.union(fixtures.planning({}), change)

test_allows_within_the_budget if {
	count(subject.findings) == 0 with input as fixtures.planning({})
	count(subject.findings) == 0 with input as planning({"total_usd_per_month": 5000})
}

test_allows_anything_without_a_budget if {
	count(subject.findings) == 0 with input as planning({"budget_usd_per_month": null, "total_usd_per_month": null})
}

test_denies_above_the_budget if {
	found := subject.findings with input as planning({"total_usd_per_month": 5000.01})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "BUD-001")
}

test_denies_a_total_that_is_no_number if {
	found := subject.findings with input as planning({"total_usd_per_month": "cheap"})
	fixtures.verdicts(found) == {"deny"}
}

test_missing_totals_deny if {
	every field in ["budget_usd_per_month", "total_usd_per_month"] {
		found := subject.findings with input as object.remove(fixtures.planning({}), [field])
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "BUD-001")
	}
}

test_missing_cost_of_a_decision_denies if {
	found := subject.findings with input as fixtures.planning_without(["total_usd_per_month"])
	fixtures.verdicts(found) == {"deny"}
}

test_unknown_total_is_unavailable if {
	found := subject.findings with input as planning({"total_usd_per_month": null})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "BUD-001")
}

test_unknown_cost_of_a_decision_is_unavailable if {
	found := subject.findings with input as fixtures.planning({"total_usd_per_month": null})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "BUD-001")
}
