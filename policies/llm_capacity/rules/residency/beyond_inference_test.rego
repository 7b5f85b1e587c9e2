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
