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
