package llm_capacity_test.approval.evaluation

import data.llm_capacity.rules.approval.evaluation as subject
import data.llm_capacity_test.fixtures

profiles := {
	"SHORT": {
		"title": "Asks for recent ones",
		"clauses": {"EVA-001": {"document": "Act", "clause": "4"}},
		"evaluation": {"max_age_months": 3},
	},
	"OTHER": {"title": "Says nothing of evaluations", "clauses": {}},
}

critical := {"critical": true}

evaluated(change) := {"evaluation": object.union(fixtures.option.evaluation, change)}

answered(question, names) := found if {
	found := subject.findings with input as fixtures.under(question, {"regimes": names})
		with data.llm_capacity.facts.regimes.regimes as profiles
}

asked(option, workload) := answered(fixtures.asking(option, workload), [])

test_allows_a_passed_and_recent_evaluation if {
	count(asked({}, {})) == 0
	count(asked({}, critical)) == 0
	count(answered(fixtures.asking({}, critical), ["SHORT", "OTHER"])) == 0
}

test_allows_exactly_the_threshold_and_the_limits_of_age if {
	count(asked(evaluated({"score": 0.85}), critical)) == 0
	count(asked(evaluated({"date": "2025-12-01"}), critical)) == 0
	count(asked(evaluated({"date": "2026-12-01"}), critical)) == 0
	count(answered(fixtures.asking(evaluated({"date": "2026-09-01"}), critical), ["SHORT"])) == 0
}

test_denies_a_score_below_the_threshold_of_any_workload if {
	every workload in [critical, {"critical": false}] {
		found := asked(evaluated({"score": 0.8499}), workload)
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "EVA-001")
	}
}

test_denies_a_critical_workload_without_a_recent_one if {
	every option in [{"evaluation": null}, evaluated({"date": "2025-11-30"})] {
		every workload in [critical, {"critical": null}] {
			found := asked(option, workload)
			fixtures.verdicts(found) == {"deny"}
			fixtures.well_formed(found, "EVA-001")
		}
	}
}

test_warns_about_another_workload_without_a_recent_one if {
	every option in [{"evaluation": null}, evaluated({"date": "2025-11-30"})] {
		found := asked(option, {"critical": false})
		fixtures.verdicts(found) == {"warn"}
		fixtures.well_formed(found, "EVA-001")
	}
}

test_a_regime_asks_for_a_more_recent_one if {
	option := evaluated({"date": "2026-08-30"})
	count(asked(option, {})) == 0
	found := answered(fixtures.asking(option, {}), ["SHORT", "OTHER"])
	fixtures.verdicts(found) == {"warn"}
	{one.citation | some one in found} == {{"document": "Act", "clause": "4"}}
	fixtures.verdicts(answered(fixtures.asking(option, critical), ["SHORT"])) == {"deny"}
}

test_missing_evaluation_denies if {
	found := answered(fixtures.asking_without(["evaluation"], []), [])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "EVA-001")
}

test_missing_criticality_counts_as_critical if {
	question := json.remove(fixtures.asking({"evaluation": null}, {}), ["/workloads/chat/critical"])
	fixtures.verdicts(answered(question, [])) == {"deny"}
}

test_unknown_values_are_unavailable if {
	every option in [
		evaluated({"date": "2026-12-02"}),
		evaluated({"date": "last week"}),
		evaluated({"score": "high"}),
		evaluated({"threshold": null}),
		{"evaluation": "passed"},
		{"evaluation": false},
	] {
		found := asked(option, {})
		fixtures.verdicts(found) == {"unavailable"}
		fixtures.well_formed(found, "EVA-001")
	}
}

test_unknown_parts_are_unavailable if {
	every key in ["date", "score", "threshold"] {
		question := json.remove(fixtures.asking({}, {}), [concat("", ["/options/0/evaluation/", key])])
		fixtures.verdicts(answered(question, [])) == {"unavailable"}
	}
}

test_without_the_date_of_the_question_no_age_is_known if {
	question := object.remove(fixtures.asking({}, {}), ["as_of"])
	fixtures.verdicts(answered(question, [])) == {"unavailable"}
}

test_without_policy_data_the_strictest_counts if {
	found := subject.findings with input as fixtures.asking({}, critical)
		with data.llm_capacity.facts.evaluations as {"verdict_when_absent_or_stale": {"critical": "deny"}}
	fixtures.verdicts(found) == {"deny"}
	other := subject.findings with input as fixtures.asking({"evaluation": null}, {})
		with data.llm_capacity.facts.evaluations as {"verdict_when_absent_or_stale": {"critical": "deny"}}
	fixtures.verdicts(other) == {"deny"}
}

# Word for word: what a reader sees.
test_words_about_no_evaluation if {
	fixtures.said(asked({"evaluation": null}, {})) == {{"evidence": "/options/0/evaluation", "expected": "suite, score, threshold, date and reference of an evaluation", "message": "chat/payg: nobody evaluated gpt-4.1-mini for the task", "observed": {"evaluation": null}, "subject": "chat/payg", "verdict": "warn"}}
}

test_words_about_a_low_score if {
	fixtures.said(asked(evaluated({"score": 0.5}), {})) == {{"evidence": "/options/0/evaluation/score", "expected": {"threshold": 0.85}, "message": "chat/payg: gpt-4.1-mini scored 0.5 on support-answers, below the threshold of 0.85", "observed": {"score": 0.5}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_an_old_one if {
	found := answered(fixtures.asking(evaluated({"date": "2025-01-01"}), {}), ["SHORT"])
	fixtures.said(found) == {
		{"evidence": "/options/0/evaluation/date", "expected": {"as_of": "2026-12-01", "max_age_months": 12}, "message": "chat/payg: gpt-4.1-mini was last evaluated on 2025-01-01; policy data asks for one of the last 12 months", "observed": {"date": "2025-01-01"}, "subject": "chat/payg", "verdict": "warn"},
		{"evidence": "/options/0/evaluation/date", "expected": {"as_of": "2026-12-01", "max_age_months": 3}, "message": "chat/payg: gpt-4.1-mini was last evaluated on 2025-01-01; SHORT asks for one of the last 3 months", "observed": {"date": "2025-01-01"}, "subject": "chat/payg", "verdict": "warn"},
	}
}

test_words_about_what_cannot_be_used if {
	stated := object.union(fixtures.option.evaluation, {"date": "2027-01-01"})
	fixtures.said(asked({"evaluation": stated}, {})) == {{"evidence": "/options/0/evaluation", "expected": "score and threshold as numbers, and a date that is not after as_of", "message": "chat/payg: what is said of the evaluation of gpt-4.1-mini cannot be used", "observed": {"evaluation": stated}, "subject": "chat/payg", "verdict": "unavailable"}}
}

test_words_about_a_missing_one if {
	found := answered(fixtures.asking_without(["evaluation"], []), [])
	fixtures.said(found) == {{"evidence": "/options/0/evaluation", "expected": "a value for its evaluation (null for none)", "message": "chat/payg does not state its evaluation (null for none), so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"}}
}
