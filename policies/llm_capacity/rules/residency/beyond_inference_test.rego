package llm_capacity_test.residency.beyond_inference

import data.llm_capacity.rules.residency.beyond_inference as subject
import data.llm_capacity_test.fixtures

of(classification) := {"classification": classification}

# The facts of the compliant option with one concern changed.
changed(concern, facts) := {"beyond_inference": object.union(
	fixtures.option.beyond_inference,
	{concern: facts},
)}

unknown_telemetry := changed("telemetry", [{"role": "option", "place": "unknown", "countries": null, "as_of": "2026-11-29"}])

at_rest_in(countries) := changed("at_rest", [{"role": "option", "place": "geography", "countries": countries, "as_of": "2026-08-06"}])

test_allows_places_inside if {
	every classification in ["public", "internal", "confidential", "restricted"] {
		count(subject.findings) == 0 with input as fixtures.asking({}, of(classification))
	}
}

test_public_and_internal_ask_nothing if {
	every classification in ["public", "internal"] {
		count(subject.findings) == 0 with input as fixtures.asking(unknown_telemetry, of(classification))
		count(subject.findings) == 0 with input as fixtures.asking(at_rest_in(["US"]), of(classification))
		count(subject.findings) == 0 with input as fixtures.asking({"beyond_inference": null}, of(classification))
	}
}

test_unknown_place_warns_for_confidential if {
	found := subject.findings with input as fixtures.asking(unknown_telemetry, of("confidential"))
	fixtures.verdicts(found) == {"warn"}
	fixtures.well_formed(found, "RES-004")
	some one in found
	one.observed.unknown == ["telemetry"]
}

test_unknown_place_is_unavailable_for_restricted if {
	found := subject.findings with input as fixtures.asking(unknown_telemetry, of("restricted"))
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "RES-004")
}

test_no_facts_at_all_are_unknown if {
	found := subject.findings with input as fixtures.asking({"beyond_inference": null}, of("restricted"))
	fixtures.verdicts(found) == {"unavailable"}
	some one in found
	count(one.observed.unknown) == 5
	again := subject.findings with input as fixtures.asking(changed("telemetry", []), of("restricted"))
	fixtures.verdicts(again) == {"unavailable"}
}

test_a_place_without_countries_is_unknown if {
	found := subject.findings with input as fixtures.asking(at_rest_in([]), of("restricted"))
	fixtures.verdicts(found) == {"unavailable"}
}

test_denies_a_place_outside if {
	every classification in ["confidential", "restricted"] {
		found := subject.findings with input as fixtures.asking(at_rest_in(["AU", "US"]), of(classification))
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "RES-004")
		some one in found
		one.observed.outside == ["at_rest"]
	}
}

test_denies_a_place_without_bound if {
	anywhere := changed("telemetry", [{"role": "option", "place": "anywhere", "countries": null, "as_of": "2026-11-29"}])
	found := subject.findings with input as fixtures.asking(anywhere, of("confidential"))
	fixtures.verdicts(found) == {"deny"}
}

test_nothing_kept_is_nowhere if {
	none := changed("batch_files", [{"role": "option", "place": "none", "countries": null, "as_of": "2026-11-29"}])
	count(subject.findings) == 0 with input as fixtures.asking(none, of("restricted"))
}

test_a_spill_target_has_places_too if {
	spilling := {"spill": fixtures.spill}
	found := subject.findings with input as fixtures.asking(spilling, of("restricted"))
	fixtures.verdicts(found) == {"unavailable"}
	told := {"spill": fixtures.spill, "beyond_inference": {concern: array.concat(known, target) |
		some concern, known in fixtures.option.beyond_inference
		target := [object.union(known[0], {"role": "spill target"})]
	}}
	count(subject.findings) == 0 with input as fixtures.asking(told, of("restricted"))
}

test_an_unlisted_classification_is_the_strictest if {
	found := subject.findings with input as fixtures.asking(unknown_telemetry, of("secret"))
	fixtures.verdicts(found) == {"unavailable"}
	absent := subject.findings with input as json.remove(fixtures.asking(unknown_telemetry, {}), ["/workloads/chat/classification"])
	fixtures.verdicts(absent) == {"unavailable"}
}

test_missing_facts_deny if {
	found := subject.findings with input as fixtures.asking_without(["beyond_inference"], [])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-004")
}

test_missing_residency_denies if {
	found := subject.findings with input as fixtures.asking_without([], ["residency"])
	fixtures.verdicts(found) == {"deny"}
}

test_missing_facts_matter_only_where_an_unknown_place_does if {
	asked := json.remove(fixtures.asking({}, of("public")), ["/options/0/beyond_inference"])
	count(subject.findings) == 0 with input as asked
}

test_one_unknown_fact_beside_a_known_one_is_unknown if {
	known := {"role": "option", "place": "region", "countries": ["AU"], "as_of": "2026-11-29"}
	asked := fixtures.asking(changed("telemetry", [known, object.union(known, {"place": "unknown"})]), of("restricted"))
	found := subject.findings with input as asked
	fixtures.verdicts(found) == {"unavailable"}
}

test_allows_every_kind_of_place_that_has_countries if {
	every place in ["region", "geography", "processing"] {
		told := [{"role": "option", "place": place, "countries": ["AU"], "as_of": null}]
		count(subject.findings) == 0 with input as fixtures.asking(changed("at_rest", told), of("restricted"))
	}
}

test_countries_of_an_unknown_place_count_neither_way if {
	every countries in [["AU"], ["US"]] {
		told := [{"role": "option", "place": "unknown", "countries": countries, "as_of": null}]
		found := subject.findings with input as fixtures.asking(changed("at_rest", told), of("confidential"))
		fixtures.verdicts(found) == {"warn"}
	}
}

test_countries_that_are_no_list_are_unknown if {
	found := subject.findings with input as fixtures.asking(at_rest_in("AU"), of("restricted"))
	fixtures.verdicts(found) == {"unavailable"}
}

test_places_of_the_spill_target_are_not_those_of_the_option if {
	told := {"spill": fixtures.spill, "beyond_inference": {concern: [object.union(known[0], {"role": "spill target"})] |
		some concern, known in fixtures.option.beyond_inference
	}}
	found := subject.findings with input as fixtures.asking(told, of("restricted"))
	fixtures.verdicts(found) == {"unavailable"}
}

# Word for word: what a reader sees.
test_words_about_an_unknown_place if {
	found := subject.findings with input as fixtures.asking(unknown_telemetry, of("confidential"))
	fixtures.said(found) == {{"evidence": "/options/0/beyond_inference", "expected": {"classification": "confidential", "known_places_of": ["abuse_monitoring", "at_rest", "batch_files", "support_access", "telemetry"]}, "message": "chat/payg: nobody names where this lives: telemetry", "observed": {"facts": {"abuse_monitoring": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}], "at_rest": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}], "batch_files": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}], "support_access": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}], "telemetry": [{"as_of": "2026-11-29", "countries": null, "place": "unknown", "role": "option"}]}, "unknown": ["telemetry"]}, "subject": "chat/payg", "verdict": "warn"}}
}

test_words_about_a_place_outside if {
	found := subject.findings with input as fixtures.asking(at_rest_in(["AU", "US"]), of("restricted"))
	fixtures.said(found) == {{"evidence": "/options/0/beyond_inference", "expected": {"countries": ["AU"], "residency": ["AU"]}, "message": "chat/payg: this lives outside of the residency AU: at_rest", "observed": {"facts": {"abuse_monitoring": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}], "at_rest": [{"as_of": "2026-08-06", "countries": ["AU", "US"], "place": "geography", "role": "option"}], "batch_files": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}], "support_access": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}], "telemetry": [{"as_of": "2026-11-29", "countries": ["AU"], "place": "region", "role": "option"}]}, "outside": ["at_rest"]}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_missing_facts if {
	found := subject.findings with input as fixtures.asking_without(["beyond_inference"], [])
	fixtures.said(found) == {{"evidence": "/options/0/beyond_inference", "expected": "a value for where data lives beyond inference (null for not known)", "message": "chat/payg does not state where data lives beyond inference (null for not known), so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat/payg", "verdict": "deny"}}
}
