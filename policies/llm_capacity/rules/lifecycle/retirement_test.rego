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

test_a_term_may_end_on_the_day_of_retirement if {
	bought := {"retires_on": "2027-12-01", "successor": "gpt-5.1", "term_months": 12}
	count(subject.findings) == 0 with input as fixtures.planning(bought)
}

test_a_model_is_retired_from_its_day_on if {
	found := subject.findings with input as fixtures.planning({"retires_on": "2026-12-01", "successor": "gpt-5.1"})
	fixtures.verdicts(found) == {"deny"}
}

test_a_retired_model_is_that_and_nothing_else if {
	every change in [{"successor": null}, {"successor": "gpt-5.1", "term_months": 12}] {
		found := subject.findings with input as fixtures.planning(object.union({"retires_on": "2026-11-19"}, change))
		count(found) == 1
	}
}

test_an_empty_successor_is_none if {
	found := subject.findings with input as fixtures.planning({"retires_on": "2027-04-14", "successor": ""})
	fixtures.verdicts(found) == {"deny"}
}

test_months_that_are_no_number_are_not_compared if {
	every change in [{"term_months": "12"}, {"horizon_months": "12"}] {
		found := subject.findings with input as fixtures.planning(object.union(unprepared, change))
		[one.expected.months_needed | some one in found] == ["<missing>"]
	}
}

test_missing_months_still_deny if {
	asked := object.union(fixtures.planning({}), {"decisions": [object.remove(object.union(fixtures.decision, unprepared), ["horizon_months"])]})
	found := subject.findings with input as asked
	count(found) == 2
}

# Word for word: what a reader sees.
test_words_about_nobody_prepared if {
	found := subject.findings with input as fixtures.planning(unprepared)
	fixtures.said(found) == {{"evidence": "/decisions/0/retires_on", "expected": {"months_needed": 12, "or": "an exit plan and a successor"}, "message": "The model of chat retires on 2027-04-14, within 12 months of 2026-12-01, and the exit plan or the successor is missing", "observed": {"exit_plan": null, "retires_on": "2027-04-14", "successor": null}, "subject": "chat", "verdict": "warn"}}
}

test_words_about_a_term_that_outlives_its_model if {
	found := subject.findings with input as fixtures.planning({"retires_on": "2027-04-14", "successor": "gpt-5.1", "term_months": 12})
	fixtures.said(found) == {{"evidence": "/decisions/0/term_months", "expected": "a term that ends before the model retires", "message": "The 12-month term of chat outlives its model, which retires on 2027-04-14: the rest of it has to serve gpt-5.1", "observed": {"retires_on": "2027-04-14", "successor": "gpt-5.1", "term_months": 12}, "subject": "chat", "verdict": "warn"}}
}

test_words_about_a_retired_model if {
	found := subject.findings with input as fixtures.planning({"retires_on": "2026-11-19", "successor": "gpt-5.1"})
	fixtures.said(found) == {{"evidence": "/decisions/0/retires_on", "expected": {"later_than": "2026-12-01"}, "message": "The model of chat is retired since 2026-11-19", "observed": {"retires_on": "2026-11-19"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_a_date_that_is_none if {
	found := subject.findings with input as fixtures.planning({"retires_on": "next spring"})
	fixtures.said(found) == {{"evidence": "/decisions/0/retires_on", "expected": "dates written YYYY-MM-DD", "message": "The retirement date of chat cannot be judged: retires_on is next spring, as_of is 2026-12-01", "observed": {"as_of": "2026-12-01", "retires_on": "next spring"}, "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_missing_fields if {
	found := subject.findings with input as object.union(fixtures.planning({}), {"decisions": [object.remove(fixtures.decision, ["retires_on", "term_months", "horizon_months", "successor", "exit_plan", "critical"])]})
	fixtures.said(found) == {
		{"evidence": "/decisions/0/critical", "expected": "a value for its critical", "message": "chat does not state its critical, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/exit_plan", "expected": "a value for its exit_plan", "message": "chat does not state its exit_plan, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/horizon_months", "expected": "a value for its horizon_months", "message": "chat does not state its horizon_months, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/retires_on", "expected": "a value for its retires_on", "message": "chat does not state its retires_on, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/successor", "expected": "a value for its successor", "message": "chat does not state its successor, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/term_months", "expected": "a value for its term_months", "message": "chat does not state its term_months, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
	}
}
