package llm_capacity_test.approval.known_regimes

import data.llm_capacity.rules.approval.known_regimes as subject
import data.llm_capacity_test.fixtures

known := {"B": {"clauses": {}}, "A": {"clauses": {}}}

under(names) := fixtures.under(fixtures.plan, {"regimes": names})

test_allows_known_regimes_and_none if {
	every names in [[], ["A"], ["B", "A"]] {
		count(subject.findings) == 0 with input as under(names) with data.llm_capacity.facts.regimes.regimes as known
	}
}

test_an_unknown_regime_is_unavailable if {
	found := subject.findings with input as under(["A", "C", 7]) with data.llm_capacity.facts.regimes.regimes as known
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "RGM-001")
	{one.observed | some one in found} == {"C", 7}
}

test_a_missing_list_is_unavailable if {
	every plan in [object.remove(fixtures.plan, ["regimes"]), under(null), under("A"), under({"A": true})] {
		found := subject.findings with input as plan with data.llm_capacity.facts.regimes.regimes as known
		fixtures.verdicts(found) == {"unavailable"}
		fixtures.well_formed(found, "RGM-001")
	}
}

# Word for word: what a reader sees.
test_words_about_an_unknown_regime if {
	found := subject.findings with input as under(["C"]) with data.llm_capacity.facts.regimes.regimes as known
	fixtures.said(found) == {{"evidence": "/regimes", "expected": ["A", "B"], "message": "The stack names the regime C, which policy data does not describe", "observed": "C", "subject": "stack", "verdict": "unavailable"}}
}

test_words_about_what_is_no_list if {
	found := subject.findings with input as under("A") with data.llm_capacity.facts.regimes.regimes as known
	{one.observed | some one in found} == {"A"}
}

test_words_about_a_missing_list if {
	found := subject.findings with input as object.remove(fixtures.plan, ["regimes"])
	fixtures.said(found) == {{"evidence": "/regimes", "expected": "a list of regimes, empty for none", "message": "The question does not say which regimes the stack is under", "observed": "<missing>", "subject": "stack", "verdict": "unavailable"}}
}
