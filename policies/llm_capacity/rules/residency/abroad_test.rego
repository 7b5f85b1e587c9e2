package llm_capacity_test.residency.abroad

import data.llm_capacity.rules.residency.abroad as subject
import data.llm_capacity_test.fixtures

profiles := {
	"LAND": {
		"title": "The law of the land",
		"clauses": {"RES-005": {"document": "Act", "clause": "7"}},
		"abroad": {
			"home": ["EEA", "AU"],
			"applies_to": "all",
			"by_classification": {"public": "allow", "confidential": "transfer_tool", "restricted": "deny"},
		},
	},
	"BANK": {
		"title": "The bank's supervisor",
		"clauses": {},
		"abroad": {"home": ["AU"], "applies_to": "critical", "by_classification": {"confidential": "notice"}},
	},
	"OTHER": {"title": "Says nothing of places", "clauses": {}},
}

paper := {"kind": "transfer_tool", "provider": null, "countries": [], "workload": null, "date": "2026-01-01", "ref": "R"}

land := {"regimes": ["LAND"]}

us := {"jurisdictions": ["US"]}

answered(question, change) := found if {
	found := subject.findings with input as fixtures.under(question, change)
		with data.llm_capacity.facts.regimes.regimes as profiles
}

test_allows_home if {
	count(answered(fixtures.asking({}, {}), land)) == 0
	count(answered(fixtures.asking({"jurisdictions": ["AU", "DE", "NO"]}, {}), land)) == 0
	count(answered(fixtures.asking({"spill": fixtures.spill}, {}), land)) == 0
}

test_allows_abroad_without_a_regime_that_minds if {
	count(answered(fixtures.asking(us, {}), {})) == 0
	count(answered(fixtures.asking(us, {}), {"regimes": ["OTHER"]})) == 0
	count(answered(fixtures.asking(us, {"classification": "public"}), land)) == 0
}

test_denies_abroad_without_the_agreement if {
	found := answered(fixtures.asking({"jurisdictions": ["AU", "US", "GB"]}, {}), land)
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-005")
	{one.citation | some one in found} == {{"document": "Act", "clause": "7"}}
}

test_allows_abroad_with_the_agreement if {
	count(answered(fixtures.asking(us, {}), object.union(land, {"agreements": [paper]}))) == 0
	named := object.union(paper, {"provider": "azure", "countries": ["US"], "workload": "chat"})
	count(answered(fixtures.asking(us, {}), object.union(land, {"agreements": [named]}))) == 0
}

test_denies_with_an_agreement_about_something_else if {
	every change in [{"kind": "notice"}, {"provider": "aws"}, {"countries": ["GB"]}, {"workload": "mail"}, {"date": "2026-12-02"}] {
		papers := {"agreements": [object.union(paper, change)]}
		found := answered(fixtures.asking(us, {}), object.union(land, papers))
		fixtures.verdicts(found) == {"deny"}
	}
}

test_denies_what_the_regime_denies_with_any_agreement if {
	papers := {"agreements": [paper, object.union(paper, {"kind": "deny"})]}
	found := answered(fixtures.asking(us, {"classification": "internal"}), object.union(land, papers))
	{one.expected.abroad | some one in found} == {"deny"}
	count(answered(fixtures.asking(us, {"classification": "restricted"}), object.union(land, {"agreements": [paper]}))) == 1
}

test_denies_a_spill_abroad if {
	spill := object.union(fixtures.spill, {"jurisdictions": ["US"], "provider": "aws"})
	found := answered(fixtures.asking({"spill": spill}, {}), land)
	fixtures.verdicts(found) == {"deny"}
	{one.evidence | some one in found} == {"/options/0/spill/jurisdictions"}
	azure := object.union(paper, {"provider": "azure"})
	count(answered(fixtures.asking({"spill": spill}, {}), object.union(land, {"agreements": [azure]}))) == 1
	aws := object.union(paper, {"provider": "aws"})
	count(answered(fixtures.asking({"spill": spill}, {}), object.union(land, {"agreements": [aws]}))) == 0
}

test_everywhere_is_abroad if {
	anywhere := {"scope": "global", "jurisdictions": null}
	found := answered(fixtures.asking(anywhere, {}), land)
	{one.observed.abroad | some one in found} == {["any region of the provider"]}
	count(answered(fixtures.asking(anywhere, {}), object.union(land, {"agreements": [paper]}))) == 0
	named := object.union(paper, {"countries": ["US"]})
	count(answered(fixtures.asking(anywhere, {}), object.union(land, {"agreements": [named]}))) == 1
}

test_unknown_countries_are_denied_with_any_agreement if {
	every codes in [null, [], "AU"] {
		found := answered(fixtures.asking({"jurisdictions": codes}, {}), object.union(land, {"agreements": [paper]}))
		fixtures.verdicts(found) == {"deny"}
		{one.observed.abroad | some one in found} == {["countries that nobody names"]}
	}
}

test_only_critical_workloads_where_the_regime_says_so if {
	bank := {"regimes": ["BANK"]}
	count(answered(fixtures.asking(us, {"critical": false}), bank)) == 0
	count(answered(fixtures.asking(us, {"critical": true}), bank)) == 1
	count(answered(fixtures.asking(us, {"critical": null}), bank)) == 1
	count(answered(fixtures.asking_without(["jurisdictions"], ["critical"]), bank)) == 1
}

test_every_regime_speaks_for_itself if {
	found := answered(fixtures.asking(us, {"critical": true}), {"regimes": ["LAND", "BANK"]})
	{one.expected.regime | some one in found} == {"LAND", "BANK"}
}

test_missing_fields_deny if {
	countries := answered(fixtures.asking_without(["jurisdictions"], []), land)
	fixtures.verdicts(countries) == {"deny"}
	fixtures.well_formed(countries, "RES-005")
	workload := answered(json.remove(fixtures.asking(us, {}), ["/options/0/workload"]), land)
	fixtures.verdicts(workload) == {"deny"}
	provider := answered(json.remove(fixtures.asking(us, {}), ["/options/0/provider"]), land)
	fixtures.verdicts(provider) == {"deny"}
	everywhere := fixtures.asking({"scope": "global", "jurisdictions": null}, {})
	scope := answered(json.remove(everywhere, ["/options/0/scope"]), land)
	{one.observed.abroad | some one in scope} == {["countries that nobody names"]}
}

test_missing_classification_denies_abroad if {
	question := json.remove(fixtures.asking(us, {}), ["/workloads/chat/classification"])
	found := answered(question, object.union(land, {"agreements": [paper]}))
	fixtures.verdicts(found) == {"deny"}
}

test_unknown_regimes_are_unavailable if {
	found := answered(fixtures.asking({}, {}), {"regimes": ["LAND", "SEA", "SKY"]})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "RES-005")
	{one.observed.regime | some one in found} == {"SEA", "SKY"}
	none := answered(object.remove(fixtures.asking({}, {}), ["regimes"]), {})
	fixtures.verdicts(none) == {"unavailable"}
}

# Word for word: what a reader sees.
test_words_about_an_agreement if {
	found := answered(fixtures.asking({"jurisdictions": ["US", "AU", "GB"]}, {}), land)
	fixtures.said(found) == {{"evidence": "/options/0/jurisdictions", "expected": {"abroad": "transfer_tool", "home": ["EEA", "AU"], "regime": "LAND"}, "message": "chat/payg would have confidential data processed in GB, US (option), which LAND admits only with an agreement of kind transfer_tool", "observed": {"abroad": ["GB", "US"], "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_a_denial if {
	found := answered(fixtures.asking(us, {"classification": "restricted"}), land)
	fixtures.said(found) == {{"evidence": "/options/0/jurisdictions", "expected": {"abroad": "deny", "home": ["EEA", "AU"], "regime": "LAND"}, "message": "chat/payg would have restricted data processed in US (option), which LAND does not admit", "observed": {"abroad": ["US"], "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}

test_words_about_an_unknown_regime if {
	found := answered(fixtures.asking({}, {}), {"regimes": ["SEA"]})
	fixtures.said(found) == {{"evidence": "/regimes", "expected": "names of regimes in policy data", "message": "The stack is under SEA, which policy data does not know, so nothing can be said of chat/payg", "observed": {"regime": "SEA"}, "subject": "chat/payg", "verdict": "unavailable"}}
}
