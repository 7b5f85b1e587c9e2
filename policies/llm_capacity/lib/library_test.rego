package llm_capacity_test.library

import data.llm_capacity.lib.dates
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding

test_lists_as_text if {
	document.list(["AU", 7]) == "AU, 7"
	document.list([]) == "nothing"
	document.list(null) == "nothing"
	document.list({"AU"}) == "nothing"
}

test_absent_keys if {
	document.value({"a": false}, "a") == false
	document.value({}, "a") == "<missing>"
	document.value(null, "a") == "<missing>"
	document.missing({"a": null}, ["a", "b"]) == {"b"}
}

test_the_nearest_annotation_with_an_id_wins if {
	chain := [
		{"annotations": {"title": "none"}},
		{"annotations": {"title": "near", "custom": {"id": "A-001"}}},
		{"annotations": {"title": "far", "custom": {"id": "A-002"}}},
	]
	finding.annotated(chain).title == "near"
	finding.annotated([]) == {}
}

test_a_rule_says_what_its_metadata_says if {
	custom := {"id": "A-001", "severity": "low", "remedy": "R.", "citation": {"document": "d", "clause": "c"}, "waivable_by": ["r"], "stages": ["plan"]}
	finding.rule([{"annotations": {"title": "T", "custom": custom}}]) == {
		"rule_id": "A-001",
		"title": "T",
		"severity": "low",
		"remedy": "R.",
		"citation": {"document": "d", "clause": "c"},
		"waivable_by": ["r"],
		"stages": ["plan"],
	}
	finding.rule([]) == {
		"rule_id": "<missing>",
		"title": "<missing>",
		"severity": "<missing>",
		"remedy": "<missing>",
		"citation": "<missing>",
		"waivable_by": "<missing>",
		"stages": [],
	}
}

test_dates if {
	dates.valid("2026-12-01")
	every text in ["2026-13-01", "2026-12-32", "2026-1-1", "2026-12-01T00:00:00Z", 20261201, null] {
		not dates.valid(text)
	}
	dates.nanoseconds("1970-01-02") == 86400000000000
	dates.months_after("1970-01-01", 1) == 31 * 86400000000000
	not dates.months_after("1970-01-01", "1")
}
