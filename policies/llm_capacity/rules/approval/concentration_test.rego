package llm_capacity_test.approval.concentration

import data.llm_capacity.rules.approval.concentration as subject
import data.llm_capacity_test.fixtures

clause := {"document": "D", "clause": "9"}

# Two critical workloads: `tokens` on azure, the rest of 100 on `other` (provider, class).
split(tokens, other) := [
	object.union(fixtures.decision, {"workload": "chat", "tokens_per_month": tokens}),
	object.union(fixtures.decision, {
		"workload": "notes",
		"tokens_per_month": 100 - tokens,
		"option": object.union(fixtures.decision.option, other),
	}),
]

aws := {"provider": "aws"}

own := {"provider": "aws", "operator_class": "own_metal"}

plan(decisions) := object.union(fixtures.plan, {"decisions": decisions})

assessment := {
	"kind": "concentration_assessment",
	"provider": "azure",
	"countries": [],
	"workload": null,
	"date": "2026-12-01",
	"ref": "R-1",
}

agreed(change) := object.union(plan(split(90, aws)), {"agreements": [object.union(assessment, change)]})

test_allows_a_share_within_the_limit if {
	every tokens in [80, 50, 20] {
		count(subject.findings) == 0 with input as plan(split(tokens, aws))
	}
}

test_warns_of_a_share_above_the_limit if {
	every tokens in [81, 19] {
		found := subject.findings with input as plan(split(tokens, aws))
		fixtures.verdicts(found) == {"warn"}
		fixtures.well_formed(found, "CON-001")
	}
}

test_one_critical_workload_is_no_concentration if {
	count(subject.findings) == 0 with input as fixtures.plan
	[chat, notes] := split(90, aws)
	count(subject.findings) == 0 with input as plan([chat, object.union(notes, {"critical": false})])
}

test_what_is_not_known_to_be_uncritical_counts if {
	[chat, notes] := split(90, aws)
	every critical in [null, "no"] {
		count(subject.findings) == 1 with input as plan([chat, object.union(notes, {"critical": critical})])
	}
	count(subject.findings) == 1 with input as plan([chat, object.remove(notes, ["critical"])])
}

test_only_critical_demand_counts if {
	[chat, notes] := split(60, aws)
	more := object.union(fixtures.decision, {"workload": "more", "tokens_per_month": 1000, "critical": false})
	count(subject.findings) == 0 with input as plan([chat, notes, more])
}

test_own_machines_count_in_the_total_and_for_nobody if {
	count(subject.findings) == 0 with input as plan(split(70, own))
	count(subject.findings) == 0 with input as plan(split(10, own))
	count(subject.findings) == 1 with input as plan(split(90, own))
}

test_no_demand_is_no_share if {
	idle := [object.union(decision, {"tokens_per_month": 0}) | some decision in split(50, aws)]
	count(subject.findings) == 0 with input as plan(idle)
	subject.by_provider == {} with input as plan(idle)
	subject.by_provider == {"azure": 0.5, "aws": 99.5} with input as plan(split(0.5, aws))
}

test_a_regime_tightens if {
	strict := {"A": {"concentration": {"max_share": 0.5, "verdict": "deny"}, "clauses": {"CON-001": clause}}, "B": {"clauses": {}}}
	question := object.union(plan(split(60, aws)), {"regimes": ["A", "B"]})
	found := subject.findings with input as question with data.llm_capacity.facts.regimes.regimes as strict
	fixtures.verdicts(found) == {"deny"}
	{one.citation | some one in found} == {clause}
	above := object.union(plan(split(90, aws)), {"regimes": ["A", "B"]})
	both := subject.findings with input as above with data.llm_capacity.facts.regimes.regimes as strict
	fixtures.verdicts(both) == {"warn", "deny"}
}

test_a_regime_takes_what_it_leaves_out_from_policy_data if {
	question := object.union(plan(split(90, aws)), {"regimes": ["A", "B"]})
	brief := {"A": {"concentration": {"verdict": "deny"}, "clauses": {}}, "B": {"concentration": {"max_share": 0.85}, "clauses": {}}}
	found := subject.findings with input as question with data.llm_capacity.facts.regimes.regimes as brief
	{[one.verdict, one.expected.max_share] | some one in found} == {["warn", 0.8], ["deny", 0.8], ["warn", 0.85]}
}

test_an_assessment_answers if {
	every change in [{}, {"provider": null}, {"date": "2026-01-01"}] {
		count(subject.findings) == 0 with input as agreed(change)
	}
}

test_other_papers_do_not_answer if {
	every change in [
		{"kind": "other"},
		{"provider": "aws"},
		{"date": "2026-12-02"},
		{"date": "soon"},
		{"workload": "chat"},
		{"countries": ["AU"]},
	] {
		count(subject.findings) == 1 with input as agreed(change)
	}
}

test_unknown_demand_or_provider_is_unavailable if {
	every tokens in [null, "many", -1] {
		found := subject.findings with input as fixtures.planning({"tokens_per_month": tokens})
		fixtures.verdicts(found) == {"unavailable"}
		fixtures.well_formed(found, "CON-001")
	}
	every provider in [null, "", 7] {
		found := subject.findings with input as fixtures.planning({"option": object.union(fixtures.option, {"provider": provider})})
		fixtures.verdicts(found) == {"unavailable"}
	}
	found := subject.findings with input as fixtures.planning_without(["option"])
	fixtures.verdicts(found) == {"unavailable"}
}

test_unknown_demand_of_the_uncritical_is_not_asked if {
	count(subject.findings) == 0 with input as fixtures.planning({"tokens_per_month": null, "critical": false})
}

test_unknown_demand_is_left_out_of_the_shares if {
	[chat, notes] := split(90, aws)
	found := subject.findings with input as plan([chat, notes, object.union(chat, {"workload": "odd", "tokens_per_month": -1000})])
	{[one.verdict, one.subject] | some one in found} == {["unavailable", "odd"], ["warn", "stack"]}
}

test_missing_demand_denies if {
	every change in [{}, {"critical": false}] {
		decision := object.remove(object.union(fixtures.decision, change), ["tokens_per_month"])
		found := subject.findings with input as plan([decision])
		"deny" in fixtures.verdicts(found)
		fixtures.well_formed(found, "CON-001")
	}
}

test_the_limit_of_policy_data if {
	limit := data.llm_capacity.facts.concentration
	limit.max_share > 0
	limit.max_share <= 1
	limit.verdict in {"warn", "deny"}
	limit.min_critical_workloads == 2
	count(limit.source) > 0
}

# Word for word: what a reader sees.
test_words_about_a_concentration if {
	found := subject.findings with input as plan([
		object.union(fixtures.decision, {"workload": "chat", "tokens_per_month": 5}),
		object.union(fixtures.decision, {"workload": "notes", "tokens_per_month": 1, "option": object.union(fixtures.option, aws)}),
	])
	fixtures.said(found) == {{"evidence": "/decisions", "expected": {"max_share": 0.8}, "message": "azure serves 83.3% of the critical demand; the limit of policy data is 80%", "observed": {"provider": "azure", "share": 0.8333}, "subject": "stack", "verdict": "warn"}}
}

test_words_about_a_regimes_limit if {
	strict := {"A": {"concentration": {"max_share": 0.75, "verdict": "deny"}, "clauses": {}}}
	question := object.union(plan(split(76, aws)), {"regimes": ["A"]})
	found := subject.findings with input as question with data.llm_capacity.facts.regimes.regimes as strict
	fixtures.said(found) == {{"evidence": "/decisions", "expected": {"max_share": 0.75}, "message": "azure serves 76% of the critical demand; the limit of A is 75%", "observed": {"provider": "azure", "share": 0.76}, "subject": "stack", "verdict": "deny"}}
}

test_words_about_unknown_demand if {
	found := subject.findings with input as fixtures.planning({"tokens_per_month": null})
	fixtures.said(found) == {{"evidence": "/decisions/0", "expected": "tokens a month and a provider", "message": "It is not known who would serve how much of chat", "observed": {"provider": "azure", "tokens_per_month": null}, "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_missing_demand if {
	decision := object.remove(object.union(fixtures.decision, {"critical": false}), ["tokens_per_month"])
	found := subject.findings with input as plan([decision])
	fixtures.said(found) == {{"evidence": "/decisions/0/tokens_per_month", "expected": "a value for its tokens_per_month", "message": "chat does not state its tokens_per_month, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
}
