package llm_capacity_test.residency.unknown_jurisdiction

import data.llm_capacity.rules.residency.unknown_jurisdiction as subject
import data.llm_capacity_test.fixtures

test_allows_known_countries if {
	count(subject.findings) == 0 with input as fixtures.asking({}, {})
}

# Everywhere is known to be everywhere: RES-001 denies it.
test_is_silent_about_the_global_scope if {
	count(subject.findings) == 0 with input as fixtures.asking({"scope": "global", "jurisdictions": null}, {})
}

test_unavailable_without_a_member_list if {
	found := subject.findings with input as fixtures.asking({"scope": "zone", "jurisdictions": null}, {})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "RES-002")
}

test_unavailable_with_an_empty_list if {
	found := subject.findings with input as fixtures.asking({"jurisdictions": []}, {})
	fixtures.verdicts(found) == {"unavailable"}
}

test_missing_field_is_unavailable if {
	found := subject.findings with input as fixtures.asking_without(["jurisdictions", "scope"], [])
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "RES-002")
}

# Word for word: what a reader sees.
test_words_about_no_member_list if {
	found := subject.findings with input as fixtures.asking({"scope": "zone", "jurisdictions": null}, {})
	fixtures.said(found) == {{"evidence": "/options/0/jurisdictions", "expected": "a list of ISO country codes", "message": "chat/payg may be processed in countries that nobody names (scope zone)", "observed": {"jurisdictions": null, "scope": "zone"}, "subject": "chat/payg", "verdict": "unavailable"}}
}
