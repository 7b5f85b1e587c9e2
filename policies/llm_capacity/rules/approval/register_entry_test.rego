package llm_capacity_test.approval.register_entry

import data.llm_capacity.rules.approval.register_entry as subject
import data.llm_capacity_test.fixtures

clause := {"document": "D", "clause": "7"}

asking(word) := {
	"A": {"register_entry": word, "clauses": {"REG-001": clause}},
	"B": {"clauses": {}},
}

under(change) := fixtures.under(fixtures.planning(change), {"regimes": ["A", "B"]})

served_by(class) := under({"register_id": null, "option": object.union(fixtures.option, {"operator_class": class})})

test_allows_an_entry if {
	every word in ["critical", "third_party", "all"] {
		count(subject.findings) == 0 with input as under({}) with data.llm_capacity.facts.regimes.regimes as asking(word)
	}
}

test_allows_no_entry_where_nothing_asks if {
	count(subject.findings) == 0 with input as fixtures.planning({"register_id": null})
		with data.llm_capacity.facts.regimes.regimes as asking("all")
	count(subject.findings) == 0 with input as fixtures.under(fixtures.planning({"register_id": null}), {"regimes": ["B"]})
		with data.llm_capacity.facts.regimes.regimes as asking("all")
}

test_denies_no_entry if {
	every word in ["critical", "third_party", "all", "whatever"] {
		every entry in [null, "", " ", 7] {
			found := subject.findings with input as under({"register_id": entry}) with data.llm_capacity.facts.regimes.regimes as asking(word)
			fixtures.verdicts(found) == {"deny"}
			fixtures.well_formed(found, "REG-001")
		}
	}
}

test_critical_asks_about_critical_workloads_only if {
	uncritical := under({"critical": false, "register_id": null})
	count(subject.findings) == 0 with input as uncritical with data.llm_capacity.facts.regimes.regimes as asking("critical")
	every word in ["third_party", "all", "whatever"] {
		count(subject.findings) == 1 with input as uncritical with data.llm_capacity.facts.regimes.regimes as asking(word)
	}
}

test_third_party_spares_own_machines_only if {
	count(subject.findings) == 0 with input as served_by("own_metal") with data.llm_capacity.facts.regimes.regimes as asking("third_party")
	every word in ["critical", "all", "whatever"] {
		count(subject.findings) == 1 with input as served_by("own_metal") with data.llm_capacity.facts.regimes.regimes as asking(word)
	}
	every class in ["iaas", "managed_service", "surprise", null] {
		count(subject.findings) == 1 with input as served_by(class) with data.llm_capacity.facts.regimes.regimes as asking("third_party")
	}
}

test_what_is_unknown_is_asked if {
	every critical in [null, "no"] {
		plan := under({"critical": critical, "register_id": null})
		count(subject.findings) == 1 with input as plan with data.llm_capacity.facts.regimes.regimes as asking("critical")
	}
	every key in ["critical", "option"] {
		bare := object.remove(object.union(fixtures.decision, {"register_id": null}), [key])
		plan := object.union(under({}), {"decisions": [bare]})
		word := {"critical": "critical", "option": "third_party"}[key]
		count(subject.findings) == 1 with input as plan with data.llm_capacity.facts.regimes.regimes as asking(word)
	}
}

test_missing_entry_denies_without_any_regime if {
	found := subject.findings with input as fixtures.planning_without(["register_id"])
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "REG-001")
}

test_every_regime_is_asked_by_itself if {
	both := {"A": {"register_entry": "all", "clauses": {"REG-001": clause}}, "B": {"register_entry": "critical", "clauses": {}}}
	found := subject.findings with input as under({"register_id": null}) with data.llm_capacity.facts.regimes.regimes as both
	{one.citation | some one in found} == {clause, {"document": "Regulation (EU) 2022/2554 (DORA)", "clause": "Article 28(3), register of information"}}
}

# Word for word: what a reader sees.
test_words_about_no_entry if {
	found := subject.findings with input as under({"register_id": null}) with data.llm_capacity.facts.regimes.regimes as asking("critical")
	fixtures.said(found) == {{"evidence": "/decisions/0/register_id", "expected": "an entry, as A asks of arrangements: critical", "message": "What serves chat has no entry in the register of third-party arrangements, which A asks for", "observed": {"register_id": null}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_a_missing_entry if {
	found := subject.findings with input as fixtures.planning_without(["register_id"])
	fixtures.said(found) == {{"evidence": "/decisions/0/register_id", "expected": "a value for its register_id", "message": "chat does not state its register_id, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
}
