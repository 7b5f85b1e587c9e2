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

clause := {"document": "D", "clause": "5"}

known := {
	"A": {"exit_plan": {"max_age_months": 12}, "clauses": {"EXI-001": clause}},
	"B": {"exit_plan": {"stressed": true}, "clauses": {"EXI-001": clause}},
	"C": {"clauses": {}},
	"D": {"exit_plan": {"stressed": false}, "clauses": {}},
}

under(names, exit_plan) := fixtures.under(fixtures.planning({"exit_plan": exit_plan}), {"regimes": names})

test_allows_a_recent_test_and_a_stressed_one if {
	every tested_on in ["2025-12-01", "2026-12-01"] {
		count(subject.findings) == 0 with input as under(["A", "B", "C", "D"], {"tested_on": tested_on})
			with data.llm_capacity.facts.regimes.regimes as known
	}
}

test_a_regime_denies_an_old_test if {
	found := subject.findings with input as under(["A"], {"tested_on": "2025-11-30"})
		with data.llm_capacity.facts.regimes.regimes as known
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "EXI-001")
	{one.citation | some one in found} == {clause}
	every names in [[], ["B"], ["C"], ["D"]] {
		count(subject.findings) == 0 with input as under(names, {"tested_on": "2025-11-30"})
			with data.llm_capacity.facts.regimes.regimes as known
	}
}

test_an_age_that_is_no_number_admits_nothing if {
	odd := {"A": {"exit_plan": {"max_age_months": "12"}, "clauses": {}}}
	found := subject.findings with input as under(["A"], {}) with data.llm_capacity.facts.regimes.regimes as odd
	fixtures.verdicts(found) == {"deny"}
}

test_a_regime_denies_an_exit_that_was_not_stressed if {
	every stressed in [false, null, "yes"] {
		found := subject.findings with input as under(["B"], {"stressed": stressed})
			with data.llm_capacity.facts.regimes.regimes as known
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "EXI-001")
		{one.citation | some one in found} == {clause}
		count(subject.findings) == 0 with input as under(["A", "C", "D"], {"stressed": stressed})
			with data.llm_capacity.facts.regimes.regimes as known
	}
	silent := json.remove(under(["B"], {}), ["/decisions/0/exit_plan/stressed"])
	fixtures.verdicts(subject.findings) == {"deny"} with input as silent with data.llm_capacity.facts.regimes.regimes as known
}

test_under_a_regime_an_unknown_date_is_unavailable if {
	every tested_on in ["2026-12-02", "soon", "2026-13-01", ""] {
		found := subject.findings with input as under(["A"], {"tested_on": tested_on})
			with data.llm_capacity.facts.regimes.regimes as known
		fixtures.verdicts(found) == {"unavailable"}
		fixtures.well_formed(found, "EXI-001")
		{one.citation | some one in found} == {clause}
		count(subject.findings) == 0 with input as under(["C"], {"tested_on": tested_on})
			with data.llm_capacity.facts.regimes.regimes as known
	}
	undated := object.remove(under(["A"], {}), ["as_of"])
	fixtures.verdicts(subject.findings) == {"unavailable"} with input as undated with data.llm_capacity.facts.regimes.regimes as known
}

test_regimes_ask_about_critical_workloads_with_a_plan_only if {
	old := {"exit_plan": {"tested_on": "2020-01-01", "alternative": "own nodes", "stressed": false}}
	easy := fixtures.planning(object.union(old, {"critical": false}))
	count(subject.findings) == 0 with input as fixtures.under(easy, {"regimes": ["A", "B"]})
		with data.llm_capacity.facts.regimes.regimes as known
	unplanned := fixtures.under(fixtures.planning({"exit_plan": null}), {"regimes": ["A", "B"]})
	count(subject.findings) == 1 with input as unplanned with data.llm_capacity.facts.regimes.regimes as known
}

test_words_about_an_old_test if {
	found := subject.findings with input as under(["A"], {"tested_on": "2025-10-01"})
		with data.llm_capacity.facts.regimes.regimes as known
	fixtures.said(found) == {{"evidence": "/decisions/0/exit_plan/tested_on", "expected": {"max_age_months": 12}, "message": "Leaving chat was last tested on 2025-10-01; A asks for a test within 12 months", "observed": {"tested_on": "2025-10-01"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_no_stressed_exit if {
	found := subject.findings with input as under(["B"], {"stressed": false})
		with data.llm_capacity.facts.regimes.regimes as known
	fixtures.said(found) == {{"evidence": "/decisions/0/exit_plan/stressed", "expected": {"stressed": true}, "message": "Leaving chat was not tested against a provider that fails or refuses, which B asks for", "observed": {"stressed": false}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_an_unknown_date if {
	found := subject.findings with input as under(["A"], {"tested_on": "2026-12-02"})
		with data.llm_capacity.facts.regimes.regimes as known
	fixtures.said(found) == {{"evidence": "/decisions/0/exit_plan/tested_on", "expected": {"a_date_up_to": "2026-12-01"}, "message": "It is not known when leaving chat was tested: 2026-12-02 is no date up to 2026-12-01", "observed": {"tested_on": "2026-12-02"}, "subject": "chat", "verdict": "unavailable"}}
}
