package llm_capacity_test.approval.agreement

import data.llm_capacity.rules.approval.agreement as subject
import data.llm_capacity_test.fixtures

profiles := {
	"HEALTH": {
		"title": "Health data",
		"clauses": {"AGR-001": {"document": "Act", "clause": "9"}},
		"agreements": [{
			"kind": "baa",
			"operator_classes": ["iaas", "managed_service"],
			"classifications": ["confidential", "restricted"],
			"applies_to": "all",
		}],
	},
	"BANK": {"title": "The bank's supervisor", "clauses": {}, "agreements": [
		{"kind": "notice", "applies_to": "critical"},
		{"kind": "audit", "operator_classes": ["iaas"], "applies_to": "all"},
	]},
	"OTHER": {"title": "Says nothing of agreements", "clauses": {}},
}

paper := {"kind": "baa", "provider": "azure", "countries": [], "workload": null, "date": "2026-01-01", "ref": "R"}

answered(question, names, papers) := found if {
	found := subject.findings with input as fixtures.under(question, {"regimes": names, "agreements": papers})
		with data.llm_capacity.facts.regimes.regimes as profiles
}

test_allows_with_the_agreement if {
	count(answered(fixtures.asking({"spill": fixtures.spill}, {}), ["HEALTH"], [paper])) == 0
	named := object.union(paper, {"countries": ["AU"], "workload": "chat"})
	count(answered(fixtures.asking({}, {}), ["HEALTH"], [named])) == 0
}

test_allows_what_no_regime_asks_about if {
	count(answered(fixtures.asking({}, {}), [], [])) == 0
	count(answered(fixtures.asking({}, {}), ["OTHER"], [])) == 0
	count(answered(fixtures.asking({"operator_class": "own_metal"}, {}), ["HEALTH"], [])) == 0
	count(answered(fixtures.asking({}, {"classification": "internal"}), ["HEALTH"], [])) == 0
	count(answered(fixtures.asking({}, {"critical": false}), ["BANK"], [])) == 0
}

test_denies_without_the_agreement if {
	found := answered(fixtures.asking({}, {}), ["HEALTH"], [])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "AGR-001")
	{one.citation | some one in found} == {{"document": "Act", "clause": "9"}}
}

test_denies_with_an_agreement_about_something_else if {
	every change in [{"kind": "notice"}, {"provider": "aws"}, {"countries": ["US"]}, {"workload": "mail"}, {"date": "2027-01-01"}] {
		count(answered(fixtures.asking({}, {}), ["HEALTH"], [object.union(paper, change)])) == 1
	}
}

test_denies_a_spill_without_the_agreement if {
	question := fixtures.asking({"operator_class": "own_metal", "spill": fixtures.spill}, {})
	found := answered(question, ["HEALTH"], [])
	fixtures.verdicts(found) == {"deny"}
	{one.observed.role | some one in found} == {"spill target"}
}

test_what_a_demand_leaves_out_limits_nothing if {
	found := answered(fixtures.asking({"operator_class": "own_metal"}, {"critical": true, "classification": "public"}), ["BANK"], [])
	{one.expected.agreement | some one in found} == {"notice"}
}

test_each_demand_is_asked_for if {
	found := answered(fixtures.asking({"operator_class": "iaas"}, {"critical": true}), ["BANK", "HEALTH"], [])
	{one.expected.agreement | some one in found} == {"notice", "audit", "baa"}
}

test_missing_fields_deny if {
	every found in [
		answered(fixtures.asking_without(["operator_class"], []), ["HEALTH"], []),
		answered(fixtures.asking_without(["provider"], []), ["HEALTH"], [paper]),
		answered(fixtures.asking_without([], ["classification"]), ["HEALTH"], []),
		answered(fixtures.asking_without([], ["critical"]), ["BANK"], []),
		answered(object.remove(fixtures.asking({}, {}), ["agreements"]), ["HEALTH"], null),
	] {
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "AGR-001")
	}
}

test_unknown_classes_count_as_named if {
	every class in ["broker", null] {
		count(answered(fixtures.asking({"operator_class": class}, {}), ["HEALTH"], [])) == 1
	}
	count(answered(fixtures.asking({}, {"classification": "secret"}), ["HEALTH"], [])) == 1
}

test_unknown_countries_need_an_agreement_about_all if {
	question := fixtures.asking({"jurisdictions": null}, {})
	count(answered(question, ["HEALTH"], [paper])) == 0
	count(answered(question, ["HEALTH"], [object.union(paper, {"countries": ["AU"]})])) == 1
}

test_a_demand_without_a_kind_is_never_met if {
	nameless := {"HEALTH": {"title": "Health data", "clauses": {}, "agreements": [{"applies_to": "all"}]}}
	question := fixtures.under(fixtures.asking({}, {}), {"regimes": ["HEALTH"], "agreements": [paper]})
	found := subject.findings with input as question with data.llm_capacity.facts.regimes.regimes as nameless
	fixtures.verdicts(found) == {"deny"}
}

# Word for word: what a reader sees.
test_words_about_no_agreement if {
	found := answered(fixtures.asking({}, {}), ["HEALTH"], [])
	fixtures.said(found) == {{"evidence": "/agreements", "expected": {"agreement": "baa", "regime": "HEALTH"}, "message": "chat/payg needs an agreement of kind baa with azure (option) under HEALTH, and none is on file that covers it", "observed": {"jurisdictions": ["AU"], "operator_class": "managed_service", "provider": "azure", "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}
