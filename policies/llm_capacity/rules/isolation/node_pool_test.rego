package llm_capacity_test.isolation.node_pool

import data.llm_capacity.rules.isolation.node_pool as subject
import data.llm_capacity_test.fixtures

pooled(change) := fixtures.under(fixtures.plan, {"pools": [object.union(fixtures.pool, change)]})

notes := object.union(fixtures.decision, {
	"workload": "notes",
	"residency": {"jurisdictions": ["NZ", "AU"], "countries": ["AU", "NZ"]},
})

test_allows_a_pool_that_suits if {
	count(subject.findings) == 0 with input as fixtures.plan
	count(subject.findings) == 0 with input as pooled({"workloads": []})
	count(subject.findings) == 0 with input as fixtures.under(fixtures.plan, {"pools": []})
	both := object.union(pooled({"workloads": ["chat", "notes"]}), {"decisions": [fixtures.decision, notes]})
	count(subject.findings) == 0 with input as both
}

test_denies_a_country_outside_of_any_residency if {
	found := subject.findings with input as pooled({"country": "US"})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "POL-001")
	both := object.union(pooled({"country": "NZ", "workloads": ["chat", "notes"]}), {"decisions": [fixtures.decision, notes]})
	one := subject.findings with input as both
	{[it.verdict, it.subject] | some it in one} == {["deny", "chat"]}
}

test_denies_another_tier if {
	found := subject.findings with input as pooled({"tier": "batch"})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "POL-001")
	untiered := object.union(fixtures.plan, {"decisions": [object.remove(fixtures.decision, ["tier"])]})
	fixtures.verdicts(subject.findings) == {"deny"} with input as untiered
}

test_denies_a_workload_that_nothing_was_decided_about if {
	found := subject.findings with input as pooled({"workloads": ["chat", "other"]})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "POL-001")
	count(found) == 1
}

test_denies_where_the_residency_is_missing if {
	found := subject.findings with input as fixtures.planning_without(["residency"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "POL-001")
}

test_an_unknown_country_is_unavailable if {
	every country in [null, "", "Australia", "au", 7, ["AU"]] {
		found := subject.findings with input as pooled({"country": country})
		fixtures.verdicts(found) == {"unavailable"}
		fixtures.well_formed(found, "POL-001")
		idle := subject.findings with input as pooled({"country": country, "workloads": []})
		fixtures.verdicts(idle) == {"unavailable"}
	}
}

test_missing_fields_deny if {
	every field in ["country", "tier", "workloads"] {
		every used in [["chat"], []] {
			pool := object.remove(object.union(fixtures.pool, {"workloads": used}), [field])
			found := subject.findings with input as fixtures.under(fixtures.plan, {"pools": [pool]})
			fixtures.verdicts(found) == {"deny"}
			fixtures.well_formed(found, "POL-001")
		}
	}
	every workloads in [null, "chat", {"chat": true}] {
		fixtures.verdicts(subject.findings) == {"deny"} with input as pooled({"workloads": workloads})
	}
	every plan in [
		object.remove(fixtures.plan, ["pools"]),
		fixtures.under(fixtures.plan, {"pools": null}),
		fixtures.under(fixtures.plan, {"pools": {"gpu": fixtures.pool}}),
	] {
		found := subject.findings with input as plan
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "POL-001")
	}
}

# Word for word: what a reader sees.
test_words_about_a_country if {
	found := subject.findings with input as pooled({"country": "US"})
	fixtures.said(found) == {{"evidence": "/pools/0/country", "expected": {"jurisdictions": ["AU"]}, "message": "The pool interactive-gpu is in US, outside of the residency of chat", "observed": {"country": "US"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_a_tier if {
	found := subject.findings with input as pooled({"tier": "batch"})
	fixtures.said(found) == {{"evidence": "/pools/0/tier", "expected": {"tier": "interactive"}, "message": "The pool interactive-gpu is for batch work; chat is interactive", "observed": {"tier": "batch"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_a_stranger if {
	found := subject.findings with input as pooled({"workloads": ["other"]})
	fixtures.said(found) == {{"evidence": "/pools/0/workloads", "expected": "workloads of the plan only", "message": "The pool interactive-gpu serves other, about which nothing was decided", "observed": {"workload": "other"}, "subject": "stack", "verdict": "deny"}}
}

test_words_about_an_unknown_country if {
	found := subject.findings with input as pooled({"country": null})
	fixtures.said(found) == {{"evidence": "/pools/0/country", "expected": "the code of a country", "message": "It is not known in which country the pool interactive-gpu is", "observed": {"country": null}, "subject": "stack", "verdict": "unavailable"}}
}

test_words_about_missing_fields if {
	pool := object.remove(fixtures.pool, ["country", "workloads"])
	found := subject.findings with input as fixtures.under(fixtures.plan, {"pools": [pool]})
	fixtures.said(found) == {
		{"evidence": "/pools/0", "expected": "a value for the country of its pool interactive-gpu", "message": "stack does not state the country of its pool interactive-gpu, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
		{"evidence": "/pools/0", "expected": "a value for the workloads of its pool interactive-gpu", "message": "stack does not state the workloads of its pool interactive-gpu, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
	}
	bare := subject.findings with input as object.remove(fixtures.plan, ["pools"])
	fixtures.said(bare) == {{"evidence": "/pools", "expected": "a value for its pools", "message": "stack does not state its pools, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"}}
}
