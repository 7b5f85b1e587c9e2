package llm_capacity_test.approval.loosening

import data.llm_capacity.rules.approval.loosening as subject
import data.llm_capacity_test.fixtures

clause := {"document": "D", "clause": "3"}

residency(names, countries) := {"jurisdictions": names, "countries": countries}

# The approved plan of the one workload; `now` changes the decision.
since(baseline, now) := fixtures.under(
	fixtures.planning(object.union(now, {"baseline": baseline})),
	{"baseline": "sha256:1"},
)

approved := {"classification": "confidential", "jurisdictions": ["AU"]}

test_allows_the_same_protection_and_more if {
	count(subject.findings) == 0 with input as since(approved, {})
	count(subject.findings) == 0 with input as since(approved, {"classification": "restricted"})
	wide := {"classification": "internal", "jurisdictions": ["AU", "EEA"]}
	count(subject.findings) == 0 with input as since(wide, {"residency": residency(["EU"], ["DE", "FR"])})
}

test_allows_a_new_workload if {
	count(subject.findings) == 0 with input as since(null, {"classification": "public"})
}

test_denies_a_lower_classification if {
	every classification in ["internal", "public", "secret", null] {
		found := subject.findings with input as since(approved, {"classification": classification})
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "CLS-002")
	}
}

test_denies_further_countries if {
	every names in [["AU", "NZ"], ["NZ"]] {
		found := subject.findings with input as since(approved, {"residency": residency(names, names)})
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "CLS-002")
	}
}

test_groups_are_expanded_on_both_sides if {
	inside := object.union(approved, {"jurisdictions": ["DE", "FR"]})
	count(subject.findings) == 0 with input as since(inside, {"residency": residency(["EU"], ["DE", "FR"])})
	found := subject.findings with input as since(inside, {"residency": residency(["EU"], ["DE", "FR", "IE"])})
	{one.observed | some one in found} == {{"added": ["IE"]}}
	smaller := object.union(approved, {"jurisdictions": ["EU"]})
	wider := subject.findings with input as since(smaller, {"residency": residency(["EEA"], ["DE", "NO"])})
	{one.observed | some one in wider} == {{"added": ["NO"]}}
}

test_an_unknown_baseline_is_unavailable if {
	every baseline in [
		{"classification": "secret", "jurisdictions": ["AU"]},
		{"classification": "confidential", "jurisdictions": ["AU", "Atlantis"]},
		{"classification": "confidential", "jurisdictions": [7]},
		{"classification": "confidential", "jurisdictions": "AU"},
		{"classification": "confidential", "jurisdictions": {"AU"}},
		{"classification": "confidential"},
		{"jurisdictions": ["AU"]},
		false,
		7,
	] {
		found := subject.findings with input as since(baseline, {"classification": "public", "residency": residency(["NZ"], ["NZ"])})
		fixtures.verdicts(found) == {"unavailable"}
		fixtures.well_formed(found, "CLS-002")
	}
}

test_no_baseline_warns_where_a_regime_asks_for_one if {
	asking := {"A": {"baseline": "required", "clauses": {"CLS-002": clause}}, "B": {"clauses": {}}, "C": {"baseline": "welcome", "clauses": {}}}
	question := fixtures.under(fixtures.plan, {"regimes": ["A", "B", "C"]})
	found := subject.findings with input as question with data.llm_capacity.facts.regimes.regimes as asking
	fixtures.verdicts(found) == {"warn"}
	fixtures.well_formed(found, "CLS-002")
	{one.citation | some one in found} == {clause}
	count(subject.findings) == 0 with input as fixtures.under(question, {"regimes": ["B", "C"]})
		with data.llm_capacity.facts.regimes.regimes as asking
	count(subject.findings) == 0 with input as fixtures.under(question, {"baseline": "sha256:1"})
		with data.llm_capacity.facts.regimes.regimes as asking
}

test_missing_fields_deny if {
	every field in ["baseline", "residency"] {
		found := subject.findings with input as fixtures.planning_without([field])
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "CLS-002")
	}
	found := subject.findings with input as object.remove(fixtures.plan, ["baseline"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "CLS-002")
	every declared in [null, {"countries": ["AU"]}, {"jurisdictions": "AU", "countries": ["AU"]}] {
		decision := object.union(object.remove(fixtures.decision, ["residency"]), {"residency": declared})
		unreadable := subject.findings with input as object.union(fixtures.plan, {"decisions": [decision]})
		fixtures.verdicts(unreadable) == {"deny"}
	}
}

# Word for word: what a reader sees.
test_words_about_a_lower_classification if {
	found := subject.findings with input as since(approved, {"classification": "public"})
	fixtures.said(found) == {{"evidence": "/decisions/0/classification", "expected": {"at_least": "confidential"}, "message": "chat is classified public now; the approved plan has confidential", "observed": {"classification": "public"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_further_countries if {
	found := subject.findings with input as since(approved, {"residency": residency(["AU", "SG", "NZ"], ["AU", "SG", "NZ"])})
	fixtures.said(found) == {{"evidence": "/decisions/0/residency", "expected": {"jurisdictions": ["AU"]}, "message": "chat may now be processed in NZ, SG, which the approved plan did not admit", "observed": {"added": ["NZ", "SG"]}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_an_unreadable_baseline if {
	found := subject.findings with input as since("lost", {})
	fixtures.said(found) == {{"evidence": "/decisions/0/baseline", "expected": "a known classification and known jurisdictions", "message": "The approved plan's protection of chat cannot be read", "observed": "lost", "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_no_baseline if {
	question := fixtures.under(fixtures.plan, {"regimes": ["A"]})
	found := subject.findings with input as question with data.llm_capacity.facts.regimes.regimes as {"A": {"baseline": "required"}}
	fixtures.said(found) == {{"evidence": "/baseline", "expected": "the approved plan that this one would replace", "message": "The plan is compared with no approved plan, which A asks for", "observed": {"baseline": null}, "subject": "stack", "verdict": "warn"}}
}

test_words_about_missing_fields if {
	found := subject.findings with input as fixtures.planning_without(["residency"])
	fixtures.said(found) == {{"evidence": "/decisions/0/residency", "expected": "a value for its residency", "message": "chat does not state its residency, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
	first := subject.findings with input as fixtures.planning_without(["baseline"])
	fixtures.said(first) == {{"evidence": "/decisions/0/baseline", "expected": "a value for its baseline", "message": "chat does not state its baseline, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
	whole := subject.findings with input as object.remove(fixtures.plan, ["baseline"])
	fixtures.said(whole) == {{"evidence": "/baseline", "expected": "a value for its baseline", "message": "stack does not state its baseline, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"}}
}
