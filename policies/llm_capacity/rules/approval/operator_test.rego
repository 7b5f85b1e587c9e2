package llm_capacity_test.approval.operator

import data.llm_capacity.rules.approval.operator as subject
import data.llm_capacity_test.fixtures

profiles := {
	"CLASSES": {
		"title": "Limits classes",
		"clauses": {"OPR-001": {"document": "Act", "clause": "1"}},
		"operator_classes": {"restricted": ["iaas", "own_metal"]},
	},
	"COUNTRIES": {
		"title": "Limits countries",
		"clauses": {"OPR-001": {"document": "Act", "clause": "2"}},
		"operator_countries": {"restricted": {"denied": ["US"]}, "confidential": {"denied": ["CN"]}},
	},
	"OTHER": {"title": "Says nothing of operators", "clauses": {}},
}

restricted := {"classification": "restricted"}

answered(question, names) := found if {
	found := subject.findings with input as fixtures.under(question, {"regimes": names})
		with data.llm_capacity.facts.regimes.regimes as profiles
}

test_allows_what_the_regime_admits if {
	count(answered(fixtures.asking({"operator_class": "iaas"}, restricted), ["CLASSES"])) == 0
	count(answered(fixtures.asking({}, {}), ["CLASSES", "COUNTRIES"])) == 0
	count(answered(fixtures.asking({"operator_class": "own_metal"}, restricted), ["COUNTRIES"])) == 0
}

test_allows_any_operator_without_a_regime_that_minds if {
	count(answered(fixtures.asking({}, restricted), [])) == 0
	count(answered(fixtures.asking({}, restricted), ["OTHER"])) == 0
	count(answered(fixtures.asking({}, {"classification": "public"}), ["CLASSES", "COUNTRIES"])) == 0
}

test_denies_another_class if {
	found := answered(fixtures.asking({}, restricted), ["CLASSES"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "OPR-001")
	{one.citation.clause | some one in found} == {"1"}
}

test_denies_a_country if {
	every class in ["managed_service", "iaas"] {
		found := answered(fixtures.asking({"operator_class": class}, restricted), ["COUNTRIES"])
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "OPR-001")
		{one.citation.clause | some one in found} == {"2"}
	}
}

test_denies_a_spill if {
	question := fixtures.asking({"operator_class": "own_metal", "spill": fixtures.spill}, restricted)
	found := answered(question, ["CLASSES", "COUNTRIES"])
	fixtures.verdicts(found) == {"deny"}
	{one.evidence | some one in found} == {"/options/0/spill/operator_class", "/options/0/spill/provider"}
}

test_denies_an_unknown_classification if {
	every workload in [{"classification": "secret"}, {"classification": null}] {
		found := answered(fixtures.asking({}, workload), ["CLASSES", "COUNTRIES"])
		fixtures.verdicts(found) == {"deny"}
		{one.expected.regime | some one in found} == {"CLASSES", "COUNTRIES"}
	}
}

test_missing_fields_deny if {
	class := answered(json.remove(fixtures.asking({}, restricted), ["/options/0/operator_class"]), ["CLASSES"])
	fixtures.verdicts(class) == {"deny"}
	fixtures.well_formed(class, "OPR-001")
	nobody := answered(json.remove(fixtures.asking({}, restricted), ["/options/0/operator_class"]), ["COUNTRIES"])
	fixtures.verdicts(nobody) == {"deny"}
	classification := answered(fixtures.asking_without([], ["classification"]), ["CLASSES"])
	fixtures.verdicts(classification) == {"deny"}
}

test_unknown_operators_are_unavailable if {
	every question in [
		fixtures.asking({"provider": "somebody"}, restricted),
		fixtures.asking_without(["provider"], []),
	] {
		found := answered(question, ["COUNTRIES"])
		fixtures.verdicts(found) == {"unavailable"}
		fixtures.well_formed(found, "OPR-001")
		{one.citation.clause | some one in found} == {"2"}
	}
	count(answered(fixtures.asking({"provider": "somebody", "operator_class": "own_metal"}, restricted), ["COUNTRIES"])) == 0
	count(answered(fixtures.asking({"provider": "somebody"}, {"classification": "public"}), ["COUNTRIES"])) == 0
}

test_the_shipped_operators_are_of_the_united_states if {
	every provider in ["aws", "azure", "gcp"] {
		found := answered(fixtures.asking({"provider": provider}, restricted), ["COUNTRIES"])
		{one.observed.operator_country | some one in found} == {"US"}
	}
}

# Word for word: what a reader sees.
test_words_about_a_class if {
	found := answered(fixtures.asking({}, restricted), ["CLASSES"])
	fixtures.said(found) == {{"evidence": "/options/0/operator_class", "expected": {"operator_classes": ["iaas", "own_metal"], "regime": "CLASSES"}, "message": "chat/payg would have restricted data processed by an operator of class managed_service (option); CLASSES admits only iaas, own_metal", "observed": {"operator_class": "managed_service", "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_a_country if {
	found := answered(fixtures.asking({}, restricted), ["COUNTRIES"])
	fixtures.said(found) == {{"evidence": "/options/0/provider", "expected": {"operator_countries": {"denied": ["US"]}, "regime": "COUNTRIES"}, "message": "chat/payg would have restricted data processed by azure of US (option), which COUNTRIES does not admit", "observed": {"operator_country": "US", "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_an_unknown_operator if {
	found := answered(fixtures.asking({"provider": "somebody"}, restricted), ["COUNTRIES"])
	fixtures.said(found) == {{"evidence": "/options/0/provider", "expected": {"operators": ["aws", "azure", "gcp"], "regime": "COUNTRIES"}, "message": "chat/payg has somebody as operator (option), whose country policy data does not know", "observed": {"provider": "somebody", "role": "option"}, "subject": "chat/payg", "verdict": "unavailable"}}
}
