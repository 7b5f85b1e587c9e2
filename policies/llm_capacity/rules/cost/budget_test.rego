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

test_allows_any_cost_without_a_budget if {
	count(subject.findings) == 0 with input as planning({"budget_usd_per_month": null})
	unpriced := object.union(fixtures.planning({"total_usd_per_month": null}), {"budget_usd_per_month": null})
	count(subject.findings) == 0 with input as unpriced
}

# Values of other types have an order too: false is below every number, text above.
test_denies_what_is_no_number_on_either_side if {
	every change in [{"total_usd_per_month": false}, {"budget_usd_per_month": "plenty"}] {
		found := subject.findings with input as planning(change)
		fixtures.verdicts(found) == {"deny"}
	}
}

# Word for word: what a reader sees.
test_words_about_above_the_budget if {
	found := subject.findings with input as planning({"total_usd_per_month": 5000.01})
	fixtures.said(found) == {{"evidence": "/total_usd_per_month", "expected": {"at_most_usd_per_month": 5000}, "message": "The plan costs USD 5000.01 a month; the budget is USD 5000", "observed": {"total_usd_per_month": 5000.01}, "subject": "stack", "verdict": "deny"}}
}

test_words_about_an_unknown_total if {
	found := subject.findings with input as planning({"total_usd_per_month": null})
	fixtures.said(found) == {{"evidence": "/total_usd_per_month", "expected": {"at_most_usd_per_month": 5000}, "message": "A budget is declared but the plan's monthly total is not known", "observed": {"total_usd_per_month": null}, "subject": "stack", "verdict": "unavailable"}}
}

test_words_about_an_unknown_cost if {
	found := subject.findings with input as fixtures.planning({"total_usd_per_month": null})
	fixtures.said(found) == {{"evidence": "/decisions/0/total_usd_per_month", "expected": "a price for everything chosen", "message": "A budget is declared but the cost of chat is not known", "observed": {"total_usd_per_month": null}, "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_a_missing_cost if {
	found := subject.findings with input as fixtures.planning_without(["total_usd_per_month"])
	fixtures.said(found) == {{"evidence": "/decisions/0/total_usd_per_month", "expected": "a value for its total_usd_per_month", "message": "chat does not state its total_usd_per_month, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
}

test_words_about_missing_totals if {
	found := subject.findings with input as object.remove(fixtures.planning({}), ["budget_usd_per_month", "total_usd_per_month"])
	fixtures.said(found) == {
		{"evidence": "/budget_usd_per_month", "expected": "a value for budget_usd_per_month", "message": "stack does not state budget_usd_per_month, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
		{"evidence": "/total_usd_per_month", "expected": "a value for total_usd_per_month", "message": "stack does not state total_usd_per_month, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
		{"evidence": "/total_usd_per_month", "expected": {"at_most_usd_per_month": "<missing>"}, "message": "The plan costs USD <missing> a month; the budget is USD <missing>", "observed": {"total_usd_per_month": "<missing>"}, "subject": "stack", "verdict": "deny"},
	}
}

test_words_about_large_totals_are_written_out if {
	found := subject.findings with input as object.union(fixtures.planning({}), {"budget_usd_per_month": 1, "total_usd_per_month": 39597736.918175})
	some one in found
	one.message == "The plan costs USD 39597736.92 a month; the budget is USD 1"
}
