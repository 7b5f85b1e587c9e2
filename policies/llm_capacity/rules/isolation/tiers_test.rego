package llm_capacity_test.isolation.tiers

import data.llm_capacity.rules.isolation.tiers as subject
import data.llm_capacity_test.fixtures

batch := object.union(fixtures.decision, {"workload": "nightly", "tier": "batch"})

planned(change) := {
	"stage": "plan",
	"decisions": [fixtures.decision, object.union(batch, change)],
}

pinned(key, tier) := {
	"stage": "options",
	"workloads": {
		"chat": fixtures.workload,
		"nightly": object.union(fixtures.workload, {"tier": tier}),
	},
	"options": [
		object.union(fixtures.option, {"pinned": true, "deployment_key": "shared"}),
		object.union(fixtures.option, {"id": "nightly/payg", "workload": "nightly", "pinned": true, "deployment_key": key}),
	],
}

test_allows_deployments_of_their_own if {
	count(subject.findings) == 0 with input as planned({"deployment_key": "azure/main/nightly"})
}

test_allows_one_tier_on_one_deployment if {
	count(subject.findings) == 0 with input as planned({"tier": "interactive"})
}

test_denies_both_tiers_on_one_deployment if {
	found := subject.findings with input as planned({})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "TIER-001")
	{one.subject | some one in found} == {"chat", "nightly"}
}

test_missing_tier_denies if {
	found := subject.findings with input as fixtures.planning_without(["tier"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "TIER-001")
}

test_missing_deployment_key_denies if {
	found := subject.findings with input as fixtures.planning_without(["deployment_key"])
	fixtures.verdicts(found) == {"deny"}
	again := subject.findings with input as fixtures.planning({"deployment_key": null})
	fixtures.verdicts(again) == {"deny"}
}

test_unknown_tier_is_unavailable if {
	found := subject.findings with input as fixtures.planning({"tier": "streaming"})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "TIER-001")
}

test_allows_pins_of_their_own if {
	count(subject.findings) == 0 with input as pinned("other", "batch")
}

test_denies_two_pins_on_one_deployment if {
	found := subject.findings with input as pinned("shared", "batch")
	{one.subject | some one in found} == {"chat/payg", "nightly/payg"}
	fixtures.verdicts(found) == {"deny"}
}

test_missing_pin_key_denies if {
	asked := json.remove(pinned("shared", "batch"), ["/options/1/deployment_key"])
	found := subject.findings with input as asked
	"deny" in fixtures.verdicts(found)
}

test_options_that_nobody_insists_on_are_alternatives if {
	count(subject.findings) == 0 with input as fixtures.asking({}, {})
}

test_an_unknown_tier_beside_a_known_one if {
	found := subject.findings with input as planned({"tier": "streaming"})
	{[one.subject, one.verdict] | some one in found} == {["chat", "deny"], ["nightly", "unavailable"]}
}

test_only_the_stage_asked_about_counts if {
	both := object.union(pinned("shared", "batch"), planned({}))
	every stage, subjects in {"options": {"chat/payg", "nightly/payg"}, "plan": {"chat", "nightly"}} {
		found := subject.findings with input as object.union(both, {"stage": stage})
		{one.subject | some one in found} == subjects
	}
}

# Word for word: what a reader sees.
test_words_about_both_tiers_on_one_deployment if {
	found := subject.findings with input as planned({})
	fixtures.said(found) == {
		{"evidence": "/decisions/0/deployment_key", "expected": {"tiers": ["interactive"]}, "message": "chat shares the deployment azure/main/chat with batch work", "observed": {"deployment_key": "azure/main/chat", "tiers": ["batch", "interactive"]}, "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/1/deployment_key", "expected": {"tiers": ["batch"]}, "message": "nightly shares the deployment azure/main/chat with interactive work", "observed": {"deployment_key": "azure/main/chat", "tiers": ["batch", "interactive"]}, "subject": "nightly", "verdict": "deny"},
	}
}

test_words_about_two_pins_on_one_deployment if {
	found := subject.findings with input as pinned("shared", "batch")
	fixtures.said(found) == {
		{"evidence": "/options/0/deployment_key", "expected": {"tiers": ["interactive"]}, "message": "chat/payg shares the deployment shared with batch work", "observed": {"deployment_key": "shared", "tiers": ["batch", "interactive"]}, "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/options/1/deployment_key", "expected": {"tiers": ["batch"]}, "message": "nightly/payg shares the deployment shared with interactive work", "observed": {"deployment_key": "shared", "tiers": ["batch", "interactive"]}, "subject": "nightly/payg", "verdict": "deny"},
	}
}

test_words_about_an_unknown_tier if {
	found := subject.findings with input as fixtures.planning({"tier": "streaming"})
	fixtures.said(found) == {{"evidence": "/decisions/0/deployment_key", "expected": ["batch", "interactive"], "message": "chat has the tier streaming, which is neither interactive nor batch", "observed": "streaming", "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_missing_fields if {
	found := subject.findings with input as fixtures.planning_without(["tier", "deployment_key"])
	fixtures.said(found) == {
		{"evidence": "/decisions/0/deployment_key", "expected": "a value for its deployment key", "message": "chat does not state its deployment key, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/deployment_key", "expected": "a value for its tier", "message": "chat does not state its tier, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
	}
}

test_words_about_a_missing_pin if {
	found := subject.findings with input as object.union(fixtures.asking_without(["pinned"], ["tier"]), {"stage": "options"})
	fixtures.said(found) == {
		{"evidence": "/options/0/deployment_key", "expected": "a value for its deployment key", "message": "chat/payg does not state its deployment key, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/options/0/deployment_key", "expected": "a value for its tier", "message": "chat/payg does not state its tier, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
	}
}
