package llm_capacity_test.lifecycle.retirement

import data.llm_capacity.rules.lifecycle.retirement as subject
import data.llm_capacity_test.fixtures

# Retires within the horizon of twelve months, nobody is prepared, nothing is bought.
unprepared := {"retires_on": "2027-04-14", "exit_plan": null, "successor": null, "critical": false}

test_allows_a_model_without_a_date if {
	count(subject.findings) == 0 with input as fixtures.planning({})
}

test_allows_a_model_that_outlives_the_horizon if {
	count(subject.findings) == 0 with input as fixtures.planning(object.union(unprepared, {"retires_on": "2027-12-01"}))
}

test_allows_a_prepared_exit if {
	prepared := {"retires_on": "2027-04-14", "successor": "gpt-5.1"}
	count(subject.findings) == 0 with input as fixtures.planning(prepared)
}

test_warns_when_neither_critical_nor_bought if {
	found := subject.findings with input as fixtures.planning(unprepared)
	fixtures.verdicts(found) == {"warn"}
	fixtures.well_formed(found, "LIF-001")
}

test_denies_a_critical_workload if {
	found := subject.findings with input as fixtures.planning(object.union(unprepared, {"critical": true}))
	fixtures.verdicts(found) == {"deny"}
}

test_denies_a_bought_term if {
	found := subject.findings with input as fixtures.planning(object.union(unprepared, {"term_months": 12}))
	fixtures.verdicts(found) == {"deny"}
}

test_flags_a_bought_term_although_leaving_is_planned if {
	planned := {"retires_on": "2027-04-14", "successor": "gpt-5.1", "term_months": 12}
	found := subject.findings with input as fixtures.planning(planned)
	fixtures.verdicts(found) == {"warn"}
	fixtures.well_formed(found, "LIF-001")
	short := object.union(planned, {"term_months": 3})
	count(subject.findings) == 0 with input as fixtures.planning(short)
}

test_the_longer_of_term_and_horizon_counts if {
	bought := {"retires_on": "2028-06-01", "term_months": 36, "successor": null}
	found := subject.findings with input as fixtures.planning(bought)
	fixtures.verdicts(found) == {"deny"}
	some one in found
	one.expected.months_needed == 36
}

test_denies_one_without_the_other if {
	half := {"retires_on": "2027-04-14", "successor": null}
	found := subject.findings with input as fixtures.planning(half)
	fixtures.verdicts(found) == {"deny"}
	other := subject.findings with input as fixtures.planning({"retires_on": "2027-04-14", "successor": "gpt-5.1", "exit_plan": null})
	fixtures.verdicts(other) == {"deny"}
}

test_denies_a_retired_model_however_prepared if {
	found := subject.findings with input as fixtures.planning({"retires_on": "2026-11-19", "successor": "gpt-5.1"})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "LIF-001")
}

test_missing_fields_deny if {
	every field in ["retires_on", "term_months", "horizon_months", "successor", "exit_plan", "critical"] {
		asked := object.union(fixtures.planning({}), {"decisions": [object.remove(object.union(fixtures.decision, unprepared), [field])]})
		found := subject.findings with input as asked
		"deny" in fixtures.verdicts(found)
		fixtures.well_formed(found, "LIF-001")
	}
}

test_a_date_that_is_none_is_unavailable if {
	found := subject.findings with input as fixtures.planning({"retires_on": "next spring"})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "LIF-001")
}

test_missing_as_of_is_unavailable if {
	found := subject.findings with input as object.remove(fixtures.planning(unprepared), ["as_of"])
	fixtures.verdicts(found) == {"unavailable"}
}
