package llm_capacity_test.lifecycle.exit_plan

import data.llm_capacity.rules.lifecycle.exit_plan as subject
import data.llm_capacity_test.fixtures

test_allows_a_critical_workload_with_a_plan if {
	count(subject.findings) == 0 with input as fixtures.planning({})
}

test_allows_an_uncritical_workload_without if {
	count(subject.findings) == 0 with input as fixtures.planning({"critical": false, "exit_plan": null})
}

test_denies_a_critical_workload_without if {
	found := subject.findings with input as fixtures.planning({"exit_plan": null})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "EXI-001")
}

test_denies_a_plan_without_a_test_date if {
	plan := json.remove(fixtures.planning({}), ["/decisions/0/exit_plan/tested_on"])
	found := subject.findings with input as plan
	fixtures.verdicts(found) == {"deny"}
}

test_missing_fields_deny if {
	every field in ["critical", "exit_plan"] {
		found := subject.findings with input as fixtures.planning_without([field])
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "EXI-001")
	}
}

test_unknown_criticality_is_unavailable if {
	found := subject.findings with input as fixtures.planning({"critical": null})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "EXI-001")
}

test_denies_an_alternative_that_is_no_name if {
	every alternative in ["", 7, null] {
		plan := {"exit_plan": {"tested_on": "2026-09-01", "alternative": alternative}}
		found := subject.findings with input as fixtures.planning(plan)
		fixtures.verdicts(found) == {"deny"}
	}
}

test_denies_a_test_date_that_is_no_text if {
	plan := {"exit_plan": {"tested_on": true, "alternative": "own nodes"}}
	found := subject.findings with input as fixtures.planning(plan)
	fixtures.verdicts(found) == {"deny"}
}

# Word for word: what a reader sees.
test_words_about_no_exit_plan if {
	found := subject.findings with input as fixtures.planning({"exit_plan": null})
	fixtures.said(found) == {{"evidence": "/decisions/0/exit_plan", "expected": "an alternative and the date on which leaving was tested", "message": "chat is critical and has no exit plan", "observed": {"exit_plan": null}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_an_unknown_criticality if {
	found := subject.findings with input as fixtures.planning({"critical": "very"})
	fixtures.said(found) == {{"evidence": "/decisions/0/critical", "expected": "true or false", "message": "It is not known whether chat is critical", "observed": {"critical": "very"}, "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_a_missing_plan if {
	found := subject.findings with input as fixtures.planning_without(["exit_plan"])
	fixtures.said(found) == {
		{"evidence": "/decisions/0/exit_plan", "expected": "a value for its exit_plan", "message": "chat does not state its exit_plan, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/exit_plan", "expected": "an alternative and the date on which leaving was tested", "message": "chat is critical and has no exit plan", "observed": {"exit_plan": "<missing>"}, "subject": "chat", "verdict": "deny"},
	}
}

test_words_about_a_missing_criticality if {
	found := subject.findings with input as fixtures.planning_without(["critical"])
	fixtures.said(found) == {{"evidence": "/decisions/0/critical", "expected": "a value for its critical", "message": "chat does not state its critical, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
}
