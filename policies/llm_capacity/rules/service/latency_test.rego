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

test_nothing_is_asked_where_nothing_is_at_stake if {
	count(subject.findings) == 0 with input as fixtures.planning({"latency_basis": null, "critical": false})
}

# Word for word: what a reader sees.
test_words_about_an_unverified_latency if {
	found := subject.findings with input as fixtures.planning({"latency_basis": "unverified"})
	fixtures.said(found) == {{"evidence": "/decisions/0/latency_basis", "expected": {"latency_basis": ["measured", "modelled"]}, "message": "chat is critical and its latency is unverified", "observed": {"latency_basis": "unverified"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_an_unknown_basis if {
	found := subject.findings with input as fixtures.planning({"latency_basis": "hearsay"})
	fixtures.said(found) == {{"evidence": "/decisions/0/latency_basis", "expected": {"latency_basis": ["measured", "modelled"]}, "message": "chat is critical and the basis of its latency, hearsay, is not known to policy", "observed": {"latency_basis": "hearsay"}, "subject": "chat", "verdict": "unavailable"}}
}

test_words_about_missing_fields if {
	found := subject.findings with input as fixtures.planning_without(["critical", "latency_basis"])
	fixtures.said(found) == {
		{"evidence": "/decisions/0/critical", "expected": "a value for its critical", "message": "chat does not state its critical, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/decisions/0/latency_basis", "expected": "a value for its latency_basis", "message": "chat does not state its latency_basis, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
	}
}
