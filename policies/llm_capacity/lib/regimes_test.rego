package llm_capacity_test.regimes

import data.llm_capacity.lib.regimes

known := {
	"A": {"title": "First", "clauses": {"RES-005": {"document": "D", "clause": "1"}}},
	"B": {"title": "Second", "clauses": {}},
}

test_regimes_that_policy_data_knows if {
	regimes.active == {"A": known.A} with input as {"regimes": ["A", "C"]}
		with data.llm_capacity.facts.regimes.regimes as known
	regimes.unknown == {"C"} with input as {"regimes": ["A", "C"]}
		with data.llm_capacity.facts.regimes.regimes as known
}

test_no_regimes if {
	regimes.active == {} with input as {"regimes": []}
	regimes.unknown == set() with input as {"regimes": []}
}

test_without_a_list_nothing_is_known if {
	regimes.unknown == {"<missing>"} with input as {}
	every value in [null, "US_HIPAA", {"a": "US_HIPAA"}, {"US_HIPAA"}] {
		regimes.unknown == {"<missing>"} with input as {"regimes": value}
	}
}

test_a_name_that_is_no_text_is_unknown if {
	regimes.unknown == {7, null} with input as {"regimes": [7, null]}
}

test_a_clause_is_the_regimes_own if {
	regimes.clause("A", "RES-005") == {"citation": {"document": "D", "clause": "1"}} with data.llm_capacity.facts.regimes.regimes as known
	regimes.clause("A", "RES-006") == {} with data.llm_capacity.facts.regimes.regimes as known
	regimes.clause("B", "RES-005") == {} with data.llm_capacity.facts.regimes.regimes as known
	regimes.clause("C", "RES-005") == {} with data.llm_capacity.facts.regimes.regimes as known
}

test_sites_are_options_and_what_they_spill_to if {
	options := [{"id": "a", "spill": null}, {"id": "b", "spill": {"provider": "aws"}}, {"id": "c"}]
	regimes.sites == {[0, "option"], [1, "option"], [2, "option"], [1, "spill target"]} with input as {"options": options}
}

test_a_site_by_its_role if {
	option := {"id": "b", "spill": {"provider": "aws"}}
	regimes.site(option, "option") == option
	regimes.site(option, "spill target") == {"provider": "aws"}
	regimes.pointer(3, "option", "provider") == "/options/3/provider"
	regimes.pointer(3, "spill target", "provider") == "/options/3/spill/provider"
}

test_only_a_workload_known_to_be_uncritical_is_spared if {
	regimes.spares({"applies_to": "critical"}, {"critical": false})
	every workload in [{"critical": true}, {"critical": null}, {}] {
		not regimes.spares({"applies_to": "critical"}, workload)
	}
	every demand in [{"applies_to": "all"}, {}] {
		not regimes.spares(demand, {"critical": false})
	}
}

test_a_limit_by_classification if {
	table := {"restricted": ["iaas"]}
	regimes.limit(table, {"classification": "restricted"}) == ["iaas"]
	not regimes.limit(table, {"classification": "public"})
	regimes.limit(table, {"classification": "secret"}) == []
	regimes.limit(table, {}) == []
}
