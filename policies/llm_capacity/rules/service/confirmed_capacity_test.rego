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
