package llm_capacity_test.approval.key_custody

import data.llm_capacity.rules.approval.key_custody as subject
import data.llm_capacity_test.fixtures

profiles := {
	"KEYS": {
		"title": "Asks for keys",
		"clauses": {"KEY-001": {"document": "Act", "clause": "3"}},
		"key_custody": {"confidential": ["customer_held", "customer_managed"], "restricted": ["customer_held"]},
	},
	"OTHER": {"title": "Says nothing of keys", "clauses": {}},
}

provider_managed := {"key_custody": "provider_managed"}

answered(question, names) := found if {
	found := subject.findings with input as fixtures.under(question, {"regimes": names})
		with data.llm_capacity.facts.regimes.regimes as profiles
}

test_allows_keys_as_asked if {
	count(answered(fixtures.asking({"spill": fixtures.spill}, {}), ["KEYS"])) == 0
}

test_allows_any_keys_without_a_regime_that_minds if {
	count(answered(fixtures.asking(provider_managed, {}), [])) == 0
	count(answered(fixtures.asking(provider_managed, {}), ["OTHER"])) == 0
	count(answered(fixtures.asking(provider_managed, {"classification": "internal"}), ["KEYS"])) == 0
}

test_denies_other_keys if {
	found := answered(fixtures.asking(provider_managed, {}), ["KEYS", "OTHER"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "KEY-001")
	{one.citation.clause | some one in found} == {"3"}
	count(answered(fixtures.asking({}, {"classification": "restricted"}), ["KEYS"])) == 1
}

test_denies_a_spill_with_other_keys if {
	spill := object.union(fixtures.spill, provider_managed)
	found := answered(fixtures.asking({"spill": spill}, {}), ["KEYS"])
	fixtures.verdicts(found) == {"deny"}
	{one.evidence | some one in found} == {"/options/0/spill/key_custody"}
}

test_missing_custody_denies if {
	found := answered(fixtures.asking_without(["key_custody"], []), ["KEYS"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "KEY-001")
}

test_unknown_custody_or_classification_denies if {
	count(answered(fixtures.asking({"key_custody": null}, {}), ["KEYS"])) == 1
	count(answered(fixtures.asking({}, {"classification": "secret"}), ["KEYS"])) == 1
	count(answered(fixtures.asking_without([], ["classification"]), ["KEYS"])) == 1
}

# Word for word: what a reader sees.
test_words_about_other_keys if {
	found := answered(fixtures.asking(provider_managed, {}), ["KEYS"])
	fixtures.said(found) == {{"evidence": "/options/0/key_custody", "expected": {"key_custody": ["customer_held", "customer_managed"], "regime": "KEYS"}, "message": "chat/payg would keep confidential data under keys that are provider_managed (option); KEYS admits only customer_held, customer_managed", "observed": {"key_custody": "provider_managed", "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}
