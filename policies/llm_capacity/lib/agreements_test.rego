package llm_capacity_test.agreements

import data.llm_capacity.lib.agreements

paper := {
	"kind": "baa",
	"provider": "azure",
	"countries": ["US", "EU"],
	"workload": "chat",
	"date": "2026-12-01",
	"ref": "LEGAL-12",
}

filed(change) := {"as_of": "2026-12-01", "agreements": [object.union(paper, change)]}

test_a_paper_covers_what_it_names if {
	agreements.on_file("baa", "azure", "chat", ["US"]) with input as filed({})
	agreements.on_file("baa", "azure", "chat", ["DE", "FR", "US"]) with input as filed({})
	not agreements.on_file("notice", "azure", "chat", ["US"]) with input as filed({})
	not agreements.on_file("baa", "aws", "chat", ["US"]) with input as filed({})
	not agreements.on_file("baa", "azure", "mail", ["US"]) with input as filed({})
	not agreements.on_file("baa", "azure", "chat", ["US", "GB"]) with input as filed({})
}

test_a_paper_without_names_covers_all if {
	agreements.on_file("baa", "aws", "chat", ["US"]) with input as filed({"provider": null})
	agreements.on_file("baa", "azure", "mail", ["US"]) with input as filed({"workload": null})
	agreements.on_file("baa", "azure", "chat", ["US", "GB"]) with input as filed({"countries": []})
}

test_what_is_no_list_of_countries_needs_a_paper_without_names if {
	every countries in [null, "US", [], {"US"}] {
		agreements.on_file("baa", "azure", "chat", countries) with input as filed({"countries": []})
		not agreements.on_file("baa", "azure", "chat", countries) with input as filed({})
	}
}

test_only_papers_dated_by_then_count if {
	agreements.on_file("baa", "azure", "chat", ["US"]) with input as filed({"date": "2026-11-30"})
	every date in ["2026-12-02", "soon", "", null] {
		not agreements.on_file("baa", "azure", "chat", ["US"]) with input as filed({"date": date})
	}
	not agreements.on_file("baa", "azure", "chat", ["US"]) with input as object.union(filed({}), {"as_of": "today"})
}

test_a_paper_that_leaves_something_out_covers_nothing if {
	every key in object.keys(object.remove(paper, ["ref"])) {
		not agreements.on_file("baa", "azure", "chat", ["US"]) with input as {
			"as_of": "2026-12-01",
			"agreements": [object.remove(paper, [key])],
		}
	}
	not agreements.on_file("baa", "azure", "chat", ["US"]) with input as {"as_of": "2026-12-01"}
}
