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
