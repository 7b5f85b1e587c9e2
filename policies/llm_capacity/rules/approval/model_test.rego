package llm_capacity_test.approval.model

import data.llm_capacity.lib.classifications
import data.llm_capacity.rules.approval.model as subject
import data.llm_capacity_test.fixtures

test_allows_an_approved_model if {
	count(subject.findings) == 0 with input as fixtures.asking({}, {})
}

test_denies_data_above_the_limit if {
	found := subject.findings with input as fixtures.asking({}, {"classification": "restricted"})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "MOD-001")
	some one in found
	one.expected.max_classification == "confidential"
}

test_denies_an_unlisted_model if {
	found := subject.findings with input as fixtures.asking({"model": "somebody/new-model"}, {"classification": "public"})
	fixtures.verdicts(found) == {"deny"}
	some one in found
	one.expected.max_classification == "no"
}

test_denies_an_unknown_classification if {
	found := subject.findings with input as fixtures.asking({}, {"classification": "secret"})
	fixtures.verdicts(found) == {"deny"}
}

test_missing_model_denies if {
	found := subject.findings with input as fixtures.asking_without(["model"], [])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "MOD-001")
}

test_missing_classification_denies if {
	found := subject.findings with input as fixtures.asking_without([], ["classification"])
	fixtures.verdicts(found) == {"deny"}
}

test_unknown_model_is_unavailable if {
	found := subject.findings with input as fixtures.asking({"model": null}, {})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "MOD-001")
}

test_every_row_is_complete if {
	every row in data.llm_capacity.facts.approved_models.models {
		classifications.rank(row.max_classification)
		count(row.approver_role) > 0
		count(row.comment) > 0
		regex.match(`^\d{4}-\d{2}-\d{2}$`, row.approved_on)
	}
}

# Word for word: what a reader sees.
test_words_about_data_above_the_limit if {
	found := subject.findings with input as fixtures.asking({}, {"classification": "restricted"})
	fixtures.said(found) == {{"evidence": "/options/0/model", "expected": {"max_classification": "confidential"}, "message": "gpt-4.1-mini is approved for confidential data at most; the workload's data is restricted", "observed": {"classification": "restricted", "model": "gpt-4.1-mini"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_a_model_that_nobody_names if {
	found := subject.findings with input as fixtures.asking({"model": null}, {})
	fixtures.said(found) == {{"evidence": "/options/0/model", "expected": "the name of a model", "message": "chat/payg does not say which model would answer", "observed": null, "subject": "chat/payg", "verdict": "unavailable"}}
}

test_words_about_a_missing_model if {
	found := subject.findings with input as fixtures.asking_without(["model"], [])
	fixtures.said(found) == {
		{"evidence": "/options/0/model", "expected": "a value for its model", "message": "chat/payg does not state its model, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/options/0/model", "expected": {"max_classification": "no"}, "message": "<missing> is approved for no data at most; the workload's data is confidential", "observed": {"classification": "confidential", "model": "<missing>"}, "subject": "chat/payg", "verdict": "deny"},
	}
}

test_words_about_a_missing_classification if {
	found := subject.findings with input as fixtures.asking_without([], ["classification"])
	fixtures.said(found) == {
		{"evidence": "/options/0/model", "expected": {"max_classification": "confidential"}, "message": "gpt-4.1-mini is approved for confidential data at most; the workload's data is <missing>", "observed": {"classification": "<missing>", "model": "gpt-4.1-mini"}, "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/workloads", "expected": "a value for the classification of its workload", "message": "chat/payg does not state the classification of its workload, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
	}
}
