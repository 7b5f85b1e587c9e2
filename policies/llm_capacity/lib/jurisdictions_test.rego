package llm_capacity_test.jurisdictions

import data.llm_capacity.lib.jurisdictions
import data.llm_capacity_test.fixtures

of_names(names) := {"residency": {"jurisdictions": names, "countries": ["AU", "Australia", "AUS", "au"]}}

test_a_place_is_inside_only_when_it_names_countries if {
	jurisdictions.inside({"jurisdictions": ["AU"]}, fixtures.workload)
	every codes in [[], null, ["AU", "NZ"], "AU", {"AU"}] {
		not jurisdictions.inside({"jurisdictions": codes}, fixtures.workload)
	}
	not jurisdictions.inside({}, fixtures.workload)
}

test_only_a_list_names_countries if {
	jurisdictions.listed({"jurisdictions": ["AU"]})
	every codes in [[], null, "AU", {"AU"}] {
		not jurisdictions.listed({"jurisdictions": codes})
	}
}

test_unknown_below_the_global_scope if {
	jurisdictions.unknown({})
	jurisdictions.unknown({"scope": "zone", "jurisdictions": []})
	not jurisdictions.unknown({"scope": "global", "jurisdictions": null})
	not jurisdictions.unknown({"scope": "zone", "jurisdictions": ["AU"]})
}

test_only_codes_of_two_letters_stand_for_themselves if {
	jurisdictions.admitted(of_names(["AU"])) == {"AU"}
	every name in ["Australia", "AUS", "au", "XAUX"] {
		jurisdictions.admitted(of_names([name])) == set()
	}
}

test_no_codes_outside_of_what_is_no_list if {
	jurisdictions.outside(["AU", "NZ"], fixtures.workload) == {"NZ"}
	not jurisdictions.outside({"NZ"}, fixtures.workload)
}
