package llm_capacity_test.approval.third_party

import data.llm_capacity.rules.approval.third_party as subject
import data.llm_capacity_test.fixtures

restricted := {"classification": "restricted"}

own := {"kind": "self_hosted", "operator_class": "iaas"}

test_allows_confidential_at_a_managed_service if {
	count(subject.findings) == 0 with input as fixtures.asking({}, {})
}

test_allows_restricted_on_rented_machines if {
	count(subject.findings) == 0 with input as fixtures.asking(own, restricted)
}

test_denies_restricted_at_a_managed_service if {
	found := subject.findings with input as fixtures.asking({}, restricted)
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "TPP-001")
	some one in found
	one.expected.operator_classes == ["iaas", "own_metal"]
}

test_denies_a_spill_to_a_managed_service if {
	found := subject.findings with input as fixtures.asking(object.union(own, {"spill": fixtures.spill}), restricted)
	fixtures.verdicts(found) == {"deny"}
	some one in found
	one.observed.role == "spill target"
}

test_denies_an_unknown_classification if {
	found := subject.findings with input as fixtures.asking({}, {"classification": "secret"})
	fixtures.verdicts(found) == {"deny"}
}

test_missing_classification_denies if {
	found := subject.findings with input as fixtures.asking_without([], ["classification"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "TPP-001")
}

test_missing_operator_class_denies if {
	found := subject.findings with input as fixtures.asking_without(["operator_class"], [])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "TPP-001")
}

test_missing_operator_class_of_a_spill_denies if {
	spill := object.remove(fixtures.spill, ["operator_class"])
	found := subject.findings with input as fixtures.asking({"spill": spill}, {})
	fixtures.verdicts(found) == {"deny"}
}

test_unknown_operator_class_is_unavailable if {
	found := subject.findings with input as fixtures.asking({"operator_class": "broker"}, {})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "TPP-001")
}

test_data_decides_what_counts if {
	found := subject.findings with input as fixtures.asking(own, restricted)
		with data.llm_capacity.facts.third_parties.counts_as_third_party as {"restricted": ["iaas", "managed_service"]}
	fixtures.verdicts(found) == {"deny"}
}

# Word for word: what a reader sees.
test_words_about_a_managed_service if {
	found := subject.findings with input as fixtures.asking({}, restricted)
	fixtures.said(found) == {{"evidence": "/options/0/operator_class", "expected": {"classification": "restricted", "operator_classes": ["iaas", "own_metal"]}, "message": "chat/payg would have restricted data processed by an operator of class managed_service (option)", "observed": {"operator_class": "managed_service", "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_a_spill_to_a_managed_service if {
	found := subject.findings with input as fixtures.asking(object.union(own, {"spill": fixtures.spill}), restricted)
	fixtures.said(found) == {{"evidence": "/options/0/spill/operator_class", "expected": {"classification": "restricted", "operator_classes": ["iaas", "own_metal"]}, "message": "chat/payg would have restricted data processed by an operator of class managed_service (spill target)", "observed": {"operator_class": "managed_service", "role": "spill target"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_an_unknown_operator if {
	found := subject.findings with input as fixtures.asking({"operator_class": "broker"}, {})
	fixtures.said(found) == {{"evidence": "/options/0/operator_class", "expected": {"operator_classes": ["iaas", "managed_service", "own_metal"]}, "message": "chat/payg has an operator of class broker (option), which policy data does not know", "observed": {"operator_class": "broker", "role": "option"}, "subject": "chat/payg", "verdict": "unavailable"}}
}

test_words_about_a_missing_operator if {
	found := subject.findings with input as fixtures.asking_without(["operator_class"], [])
	fixtures.said(found) == {{"evidence": "/options/0/operator_class", "expected": "a value for the operator class of its option", "message": "chat/payg does not state the operator class of its option, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_a_missing_operator_of_a_spill if {
	found := subject.findings with input as fixtures.asking({"spill": object.remove(fixtures.spill, ["operator_class"])}, {})
	fixtures.said(found) == {{"evidence": "/options/0/spill/operator_class", "expected": "a value for the operator class of its spill target", "message": "chat/payg does not state the operator class of its spill target, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_a_missing_classification if {
	found := subject.findings with input as fixtures.asking_without([], ["classification"])
	fixtures.said(found) == {
		{"evidence": "/options/0/operator_class", "expected": {"classification": "<missing>", "operator_classes": []}, "message": "chat/payg would have <missing> data processed by an operator of class managed_service (option)", "observed": {"operator_class": "managed_service", "role": "option"}, "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/workloads", "expected": "a value for the classification of its workload", "message": "chat/payg does not state the classification of its workload, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
	}
}
