package llm_capacity_test.residency.processing_jurisdiction

import data.llm_capacity.rules.residency.processing_jurisdiction as subject
import data.llm_capacity_test.fixtures

test_allows_a_country_inside if {
	count(subject.findings) == 0 with input as fixtures.asking({}, {})
}

test_allows_a_group_that_holds_every_country if {
	zone := {"scope": "zone", "jurisdictions": ["FR", "DE", "NO", "CH"]}
	boundary := data.llm_capacity.facts.jurisdiction_groups.groups.EU_DATA_BOUNDARY.countries
	residency := {"residency": {"jurisdictions": ["EU_DATA_BOUNDARY"], "countries": boundary}}
	count(subject.findings) == 0 with input as fixtures.asking(zone, residency)
}

test_denies_a_country_outside if {
	found := subject.findings with input as fixtures.asking({"jurisdictions": ["AU", "US"]}, {})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-001")
	some one in found
	one.observed.outside == ["US"]
	one.expected.countries == ["AU"]
}

test_denies_efta_members_under_eu_only if {
	zone := {"scope": "zone", "jurisdictions": ["FR", "NO", "CH"]}
	eu := data.llm_capacity.facts.jurisdiction_groups.groups.EU.countries
	found := subject.findings with input as fixtures.asking(zone, {"residency": {"jurisdictions": ["EU"], "countries": eu}})
	some one in found
	one.observed.outside == ["CH", "NO"]
}

test_denies_global_without_countries if {
	found := subject.findings with input as fixtures.asking({"scope": "global", "jurisdictions": null}, {})
	fixtures.verdicts(found) == {"deny"}
	some one in found
	contains(one.message, "any region of the provider")
}

test_denies_when_only_the_document_widens_the_residency if {
	widened := {"residency": {"jurisdictions": ["AU"], "countries": ["AU", "US"]}}
	found := subject.findings with input as fixtures.asking({"jurisdictions": ["US"]}, widened)
	fixtures.verdicts(found) == {"deny"}
}

test_denies_when_the_document_expands_nothing if {
	found := subject.findings with input as fixtures.asking({}, {"residency": {"jurisdictions": ["AU"], "countries": []}})
	fixtures.verdicts(found) == {"deny"}
}

test_denies_under_a_name_that_is_no_code if {
	odd := {"residency": {"jurisdictions": ["Australia", 7], "countries": ["AU"]}}
	found := subject.findings with input as fixtures.asking({}, odd)
	fixtures.verdicts(found) == {"deny"}
}

test_denies_an_unknown_scope if {
	found := subject.findings with input as fixtures.asking({"scope": "continent"}, {})
	fixtures.verdicts(found) == {"deny"}
}

test_missing_option_fields_deny if {
	every field in ["workload", "scope", "jurisdictions"] {
		found := subject.findings with input as fixtures.asking_without([field], [])
		"deny" in fixtures.verdicts(found)
		fixtures.well_formed(found, "RES-001")
		some one in found
		contains(one.message, field)
	}
}

test_missing_id_still_denies if {
	asked := fixtures.asking_without(["id", "jurisdictions"], [])
	found := subject.findings with input as asked
	"<missing>" in {one.subject | some one in found}
}

test_missing_residency_denies if {
	found := subject.findings with input as fixtures.asking_without([], ["residency"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-001")
}

test_unknown_countries_are_left_to_res_002 if {
	count(subject.findings) == 0 with input as fixtures.asking({"scope": "zone", "jurisdictions": null}, {})
	count(subject.findings) == 0 with input as fixtures.asking({"scope": "zone", "jurisdictions": []}, {})
}

test_denies_an_unknown_scope_although_nobody_names_countries if {
	found := subject.findings with input as fixtures.asking({"scope": "continent", "jurisdictions": null}, {})
	fixtures.verdicts(found) == {"deny"}
}

test_missing_jurisdictions_are_not_left_to_res_002 if {
	found := subject.findings with input as fixtures.asking_without(["jurisdictions"], [])
	count(found) == 2
}

# Word for word: what a reader sees.
test_words_about_a_country_outside if {
	found := subject.findings with input as fixtures.asking({"jurisdictions": ["AU", "US"]}, {})
	fixtures.said(found) == {{"evidence": "/options/0/jurisdictions", "expected": {"countries": ["AU"], "residency": ["AU"]}, "message": "chat/payg may be processed in AU, US, which is not inside the residency AU", "observed": {"jurisdictions": ["AU", "US"], "outside": ["US"], "scope": "country"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_global_without_countries if {
	found := subject.findings with input as fixtures.asking({"scope": "global", "jurisdictions": null}, {})
	fixtures.said(found) == {{"evidence": "/options/0/jurisdictions", "expected": {"countries": ["AU"], "residency": ["AU"]}, "message": "chat/payg may be processed in any region of the provider, which is not inside the residency AU", "observed": {"jurisdictions": null, "outside": "<missing>", "scope": "global"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_missing_places if {
	found := subject.findings with input as fixtures.asking_without(["scope", "jurisdictions"], [])
	fixtures.said(found) == {
		{"evidence": "/options/0/jurisdictions", "expected": "a value for its jurisdictions", "message": "chat/payg does not state its jurisdictions, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/options/0/jurisdictions", "expected": {"countries": ["AU"], "residency": ["AU"]}, "message": "chat/payg may be processed in nothing, which is not inside the residency AU", "observed": {"jurisdictions": "<missing>", "outside": "<missing>", "scope": "<missing>"}, "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/options/0/scope", "expected": "a value for its scope", "message": "chat/payg does not state its scope, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
	}
}

test_words_about_a_missing_workload if {
	found := subject.findings with input as fixtures.asking_without(["workload"], [])
	fixtures.said(found) == {
		{"evidence": "/options/0/jurisdictions", "expected": {"countries": [], "residency": "<missing>"}, "message": "chat/payg may be processed in AU, which is not inside the residency nothing", "observed": {"jurisdictions": ["AU"], "outside": ["AU"], "scope": "country"}, "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/options/0/workload", "expected": "a value for its workload", "message": "chat/payg does not state its workload, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/workloads", "expected": "a value for the residency of its workload", "message": "chat/payg does not state the residency of its workload, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
	}
}

test_words_about_a_missing_residency if {
	found := subject.findings with input as fixtures.asking_without([], ["residency"])
	fixtures.said(found) == {
		{"evidence": "/options/0/jurisdictions", "expected": {"countries": [], "residency": "<missing>"}, "message": "chat/payg may be processed in AU, which is not inside the residency nothing", "observed": {"jurisdictions": ["AU"], "outside": ["AU"], "scope": "country"}, "subject": "chat/payg", "verdict": "deny"},
		{"evidence": "/workloads", "expected": "a value for the residency of its workload", "message": "chat/payg does not state the residency of its workload, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"},
	}
}
