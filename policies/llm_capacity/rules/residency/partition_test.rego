package llm_capacity_test.residency.partition

import data.llm_capacity.rules.residency.partition as subject
import data.llm_capacity_test.fixtures

profiles := {
	"GOV": {
		"title": "Government clouds",
		"clauses": {"RES-006": {"document": "Act", "clause": "8"}},
		"partitions": ["us_gov", "us_secret"],
	},
	"OTHER": {"title": "Says nothing of partitions", "clauses": {}},
}

answered(question, names) := found if {
	found := subject.findings with input as fixtures.under(question, {"regimes": names})
		with data.llm_capacity.facts.regimes.regimes as profiles
}

test_allows_an_admitted_partition if {
	spill := object.union(fixtures.spill, {"partition": "us_secret"})
	question := fixtures.asking({"partition": "us_gov", "spill": spill}, {})
	count(answered(question, ["GOV"])) == 0
}

test_allows_any_partition_without_a_regime_that_minds if {
	count(answered(fixtures.asking({}, {}), [])) == 0
	count(answered(fixtures.asking({}, {}), ["OTHER"])) == 0
}

test_denies_another_partition if {
	found := answered(fixtures.asking({}, {}), ["GOV", "OTHER"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-006")
	{one.citation | some one in found} == {{"document": "Act", "clause": "8"}}
}

test_denies_a_spill_to_another_partition if {
	found := answered(fixtures.asking({"partition": "us_gov", "spill": fixtures.spill}, {}), ["GOV"])
	fixtures.verdicts(found) == {"deny"}
	{one.evidence | some one in found} == {"/options/0/spill/partition"}
}

test_missing_partition_denies if {
	found := answered(fixtures.asking_without(["partition"], []), ["GOV"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RES-006")
}

test_unknown_partition_denies if {
	found := answered(fixtures.asking({"partition": null}, {}), ["GOV"])
	fixtures.verdicts(found) == {"deny"}
}

# Word for word: what a reader sees.
test_words_about_another_partition if {
	found := answered(fixtures.asking({}, {}), ["GOV"])
	fixtures.said(found) == {{"evidence": "/options/0/partition", "expected": {"partitions": ["us_gov", "us_secret"], "regime": "GOV"}, "message": "chat/payg lies in the partition public (option); GOV admits only us_gov, us_secret", "observed": {"partition": "public", "role": "option"}, "subject": "chat/payg", "verdict": "deny"}}
}
