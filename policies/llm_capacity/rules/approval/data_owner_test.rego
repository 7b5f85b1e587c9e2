package llm_capacity_test.approval.data_owner

import data.llm_capacity.lib.classifications
import data.llm_capacity.rules.approval.data_owner as subject
import data.llm_capacity_test.fixtures

register := {"case files": {"owner": "Case data owner", "minimum_classification": "confidential", "source": "register"}}

listed(change) := fixtures.planning(object.union(
	{"data_asset": "Case  Files", "signed_off_by": "case data  owner "},
	change,
))

test_allows_a_sign_off_by_somebody_else if {
	count(subject.findings) == 0 with input as fixtures.planning({})
}

test_allows_the_registers_owner if {
	every classification in ["confidential", "restricted"] {
		count(subject.findings) == 0 with input as listed({"classification": classification})
			with data.llm_capacity.facts.data_assets.assets as register
	}
}

test_denies_the_workloads_own_owner if {
	every name in ["support team", "Support  Team", " SUPPORT TEAM "] {
		found := subject.findings with input as fixtures.planning({"signed_off_by": name})
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "CLS-001")
	}
}

test_denies_another_signature_than_the_registers_owner if {
	found := subject.findings with input as listed({"signed_off_by": "somebody else"})
		with data.llm_capacity.facts.data_assets.assets as register
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "CLS-001")
}

test_denies_less_than_the_registers_classification if {
	every classification in ["internal", "public"] {
		found := subject.findings with input as listed({"classification": classification})
			with data.llm_capacity.facts.data_assets.assets as register
		fixtures.verdicts(found) == {"deny"}
	}
}

test_denies_an_unknown_classification_of_a_listed_asset if {
	found := subject.findings with input as listed({"classification": "secret"})
		with data.llm_capacity.facts.data_assets.assets as register
	fixtures.verdicts(found) == {"deny"}
}

test_asks_nothing_more_of_an_asset_outside_of_the_register if {
	count(subject.findings) == 0 with input as listed({"data_asset": "other files", "classification": "public"})
		with data.llm_capacity.facts.data_assets.assets as register
}

test_missing_fields_deny if {
	every field in ["owner", "signed_off_by", "data_asset"] {
		found := subject.findings with input as fixtures.planning_without([field])
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "CLS-001")
		every value in ["", "  ", null, 7] {
			blank := subject.findings with input as fixtures.planning({field: value})
			fixtures.verdicts(blank) == {"deny"}
		}
	}
	found := subject.findings with input as object.union(fixtures.plan, {"decisions": [object.remove(listed({}).decisions[0], ["classification", "signed_off_by"])]})
		with data.llm_capacity.facts.data_assets.assets as register
	count(found) == 3
	fixtures.well_formed(found, "CLS-001")
}

test_missing_decisions_deny if {
	every plan in [
		object.remove(fixtures.plan, ["decisions"]),
		fixtures.under(fixtures.plan, {"decisions": null}),
		fixtures.under(fixtures.plan, {"decisions": {"chat": fixtures.decision}}),
	] {
		found := subject.findings with input as plan
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "CLS-001")
	}
	bare := subject.findings with input as object.remove(fixtures.plan, ["decisions"])
	fixtures.said(bare) == {{"evidence": "/decisions", "expected": "a value for its decisions", "message": "stack does not state its decisions, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"}}
}

test_every_row_is_complete if {
	every name, row in data.llm_capacity.facts.data_assets.assets {
		count(name) > 0
		count(row.owner) > 0
		classifications.rank(row.minimum_classification)
		count(row.source) > 0
	}
}

# Word for word: what a reader sees.
test_words_about_the_own_owner if {
	found := subject.findings with input as fixtures.planning({"signed_off_by": "Support team"})
	fixtures.said(found) == {{"evidence": "/decisions/0/signed_off_by", "expected": "the owner of the data asset, who is not the owner of the workload", "message": "The classification of chat is signed off by its own owner, support team", "observed": {"signed_off_by": "Support team"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_another_signature if {
	found := subject.findings with input as listed({"signed_off_by": "somebody else"})
		with data.llm_capacity.facts.data_assets.assets as register
	fixtures.said(found) == {{"evidence": "/decisions/0/signed_off_by", "expected": {"signed_off_by": "Case data owner"}, "message": "Case  Files is signed off by somebody else; the register names Case data owner as its owner", "observed": {"signed_off_by": "somebody else"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_too_low_a_classification if {
	found := subject.findings with input as listed({"classification": "internal"})
		with data.llm_capacity.facts.data_assets.assets as register
	fixtures.said(found) == {{"evidence": "/decisions/0/classification", "expected": {"minimum_classification": "confidential"}, "message": "Case  Files is classified internal; the register asks for confidential at least", "observed": {"classification": "internal"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_a_missing_signature if {
	found := subject.findings with input as fixtures.planning_without(["signed_off_by"])
	fixtures.said(found) == {{"evidence": "/decisions/0/signed_off_by", "expected": "a value for its signed_off_by", "message": "chat does not state its signed_off_by, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
}
