package llm_capacity_test.service.confirmed_capacity

import data.llm_capacity.rules.service.confirmed_capacity as subject
import data.llm_capacity_test.fixtures

units(confirmed) := {"option": {"kind": "provisioned"}, "capacity_confirmed": confirmed}

test_allows_confirmed_units if {
	count(subject.findings) == 0 with input as fixtures.planning(units(true))
}

test_allows_what_needs_no_units if {
	count(subject.findings) == 0 with input as fixtures.planning({"capacity_confirmed": false})
}

test_warns_about_unconfirmed_units if {
	found := subject.findings with input as fixtures.planning(units(false))
	fixtures.verdicts(found) == {"warn"}
	fixtures.well_formed(found, "CAP-001")
}

test_missing_field_denies if {
	asked := json.remove(fixtures.planning(units(true)), ["/decisions/0/capacity_confirmed"])
	found := subject.findings with input as asked
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "CAP-001")
}

test_missing_kind_counts_as_units if {
	asked := json.remove(fixtures.planning(units(false)), ["/decisions/0/option"])
	found := subject.findings with input as asked
	fixtures.verdicts(found) == {"warn"}
}

test_unknown_confirmation_is_unavailable if {
	found := subject.findings with input as fixtures.planning(units(null))
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "CAP-001")
}

test_nothing_is_asked_of_what_needs_no_units if {
	every kind in ["payg", "self_hosted"] {
		every confirmed in [true, false, null] {
			count(subject.findings) == 0 with input as fixtures.planning({"option": {"kind": kind}, "capacity_confirmed": confirmed})
		}
		absent := json.remove(fixtures.planning({"option": {"kind": kind}}), ["/decisions/0/capacity_confirmed"])
		count(subject.findings) == 0 with input as absent
	}
}

# Word for word: what a reader sees.
test_words_about_unconfirmed_units if {
	found := subject.findings with input as fixtures.planning(units(false))
	fixtures.said(found) == {{"evidence": "/decisions/0/capacity_confirmed", "expected": {"capacity_confirmed": true}, "message": "chat relies on provisioned units whose capacity nobody has confirmed", "observed": {"capacity_confirmed": false}, "subject": "chat", "verdict": "warn"}}
}

test_words_about_an_unknown_confirmation if {
	found := subject.findings with input as fixtures.planning(units(null))
	fixtures.said(found) == {{"evidence": "/decisions/0/capacity_confirmed", "expected": "true or false", "message": "It is not known whether the capacity of chat is confirmed", "observed": {"capacity_confirmed": null}, "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_a_missing_confirmation if {
	found := subject.findings with input as json.remove(fixtures.planning(units(true)), ["/decisions/0/capacity_confirmed"])
	fixtures.said(found) == {{"evidence": "/decisions/0/capacity_confirmed", "expected": "a value for its capacity_confirmed", "message": "chat does not state its capacity_confirmed, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
}
