package llm_capacity_test.service.latency

import data.llm_capacity.rules.service.latency as subject
import data.llm_capacity_test.fixtures

test_allows_verified_latency if {
	every basis in ["modelled", "measured"] {
		count(subject.findings) == 0 with input as fixtures.planning({"latency_basis": basis})
	}
}

test_allows_unverified_latency_where_nothing_is_at_stake if {
	count(subject.findings) == 0 with input as fixtures.planning({"latency_basis": "unverified", "critical": false})
	count(subject.findings) == 0 with input as fixtures.planning({"latency_basis": "unverified", "latency_objective": false})
}

test_denies_unverified_latency_of_a_critical_workload if {
	every basis in ["unverified", "target"] {
		found := subject.findings with input as fixtures.planning({"latency_basis": basis})
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "LAT-001")
	}
}

test_missing_fields_deny if {
	every field in ["critical", "latency_basis"] {
		found := subject.findings with input as fixtures.planning_without([field])
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "LAT-001")
	}
}

test_unknown_basis_is_unavailable if {
	found := subject.findings with input as fixtures.planning({"latency_basis": null})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "LAT-001")
}
