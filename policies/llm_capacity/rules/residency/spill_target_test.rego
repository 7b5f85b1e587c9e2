package llm_capacity_test.residency.spill_target

import data.llm_capacity.rules.residency.spill_target as subject
import data.llm_capacity_test.fixtures

spilling(change) := fixtures.asking({"spill": object.union(fixtures.spill, change)}, {})

spilling_without(key) := fixtures.asking({"spill": object.remove(fixtures.spill, [key])}, {})

test_allows_no_spill if {
	count(subject.findings) == 0 with input as fixtures.asking({}, {})
}

test_allows_a_target_of_the_same_scope if {
	count(subject.findings) == 0 with input as spilling({})
}

test_allows_a_narrower_target if {
	count(subject.findings) == 0 with input as spilling({"scope": "region"})
}

test_denies_a_wider_scope if {
	found := subject.findings with input as spilling({"scope": "zone"})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-003")
}

test_denies_countries_outside if {
	found := subject.findings with input as spilling({"jurisdictions": ["AU", "NZ"]})
	fixtures.verdicts(found) == {"deny"}
	some one in found
	one.observed.spill_jurisdictions == ["AU", "NZ"]
}

test_denies_a_global_target if {
	found := subject.findings with input as spilling({"scope": "global", "jurisdictions": null})
	fixtures.verdicts(found) == {"deny"}
	count(found) == 2
}

test_missing_spill_denies if {
	found := subject.findings with input as fixtures.asking_without(["spill"], [])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-003")
}

test_missing_scope_denies if {
	found := subject.findings with input as spilling_without("scope")
	"deny" in fixtures.verdicts(found)
}

test_missing_source_scope_denies if {
	asked := json.remove(spilling({}), ["/options/0/scope"])
	found := subject.findings with input as asked
	"deny" in fixtures.verdicts(found)
}

test_missing_residency_denies if {
	asked := json.remove(spilling({}), ["/workloads/chat/residency"])
	found := subject.findings with input as asked
	fixtures.verdicts(found) == {"deny"}
}

test_unknown_countries_are_unavailable if {
	found := subject.findings with input as spilling({"jurisdictions": null})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "RES-003")
	again := subject.findings with input as spilling_without("jurisdictions")
	fixtures.verdicts(again) == {"unavailable"}
}

test_allows_own_machines_to_spill_inside_their_country if {
	hosted := {"kind": "self_hosted", "scope": "region", "jurisdictions": ["AU"]}
	spill := object.union(fixtures.spill, {"scope": "country", "jurisdictions": ["AU"]})
	asked := fixtures.asking(object.union(hosted, {"spill": spill}), {})
	count(subject.findings) == 0 with input as asked
}

test_denies_own_machines_a_target_beyond_their_country if {
	hosted := {"kind": "self_hosted", "scope": "region", "jurisdictions": ["AU"]}
	spill := object.union(fixtures.spill, {"scope": "zone", "jurisdictions": ["AU", "NZ"]})
	asked := fixtures.asking(object.union(hosted, {"spill": spill}), {})
	found := subject.findings with input as asked
	fixtures.verdicts(found) == {"deny"}
	count(found) == 2
}

# A built-in error here would cost the whole answer, not one option.
test_own_machines_with_an_unknown_target_are_unavailable if {
	hosted := {"kind": "self_hosted", "scope": "region", "jurisdictions": ["AU"]}
	spill := object.union(fixtures.spill, {"scope": "zone", "jurisdictions": null})
	asked := fixtures.asking(object.union(hosted, {"spill": spill}), {})
	found := subject.findings with input as asked
	fixtures.verdicts(found) == {"deny", "unavailable"}
}

test_own_machines_with_an_empty_list_of_countries_are_not_shown_no_wider if {
	hosted := {"kind": "self_hosted", "scope": "region", "jurisdictions": ["AU"]}
	spill := object.union(fixtures.spill, {"scope": "zone", "jurisdictions": []})
	found := subject.findings with input as fixtures.asking(object.union(hosted, {"spill": spill}), {})
	fixtures.verdicts(found) == {"deny", "unavailable"}
}

# Word for word: what a reader sees.
test_words_about_a_wider_scope if {
	found := subject.findings with input as spilling({"scope": "zone"})
	fixtures.said(found) == {{"evidence": "/options/0/spill/scope", "expected": {"no_wider_than": "country"}, "message": "chat/payg has scope country but spills to Standard of scope zone", "observed": {"spill_scope": "zone"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_countries_outside if {
	found := subject.findings with input as spilling({"jurisdictions": ["AU", "NZ"]})
	fixtures.said(found) == {{"evidence": "/options/0/spill/jurisdictions", "expected": {"countries": ["AU"], "residency": ["AU"]}, "message": "chat/payg spills to Standard, which may process in AU, NZ, not inside the residency AU", "observed": {"spill_jurisdictions": ["AU", "NZ"]}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_unknown_countries if {
	found := subject.findings with input as spilling({"jurisdictions": null})
	fixtures.said(found) == {{"evidence": "/options/0/spill/jurisdictions", "expected": "a list of ISO country codes", "message": "chat/payg spills to Standard, whose countries of processing nobody names", "observed": {"spill_jurisdictions": null}, "subject": "chat/payg", "verdict": "unavailable"}}
}

test_words_about_a_missing_spill if {
	found := subject.findings with input as fixtures.asking_without(["spill"], [])
	fixtures.said(found) == {{"evidence": "/options/0/spill", "expected": "a value for its spill target (null for none)", "message": "chat/payg does not state its spill target (null for none), so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"}}
}
