package llm_capacity_test.main

import data.llm_capacity.lib.finding
import data.llm_capacity.lib.verdicts
import data.llm_capacity.main
import data.llm_capacity_test.fixtures

asked(change) := object.union(fixtures.asking(change, {}), {"nonce": "n"})

of_stage(stage) := {row.id |
	some row in data.llm_capacity.manifest.rules
	stage in row.stages
}

test_answers_for_every_option if {
	answer := main.answer with input as asked({})
	answer.ready == true
	answer.nonce == "n"
	answer.stage == "options"
	answer.options == {"chat/payg": "allow"}
	answer.findings == []
}

test_evaluates_what_the_manifest_lists if {
	answer := main.answer with input as asked({})
	{id | some id in answer.rule_ids} == of_stage("options")
	answer.rules_evaluated == count(of_stage("options"))
	plan := main.answer with input as object.union(fixtures.planning({}), {"nonce": "n"})
	{id | some id in plan.rule_ids} == of_stage("plan")
	plan.options == {}
}

test_one_finding_decides_its_option if {
	answer := main.answer with input as asked({"jurisdictions": ["US"]})
	answer.options == {"chat/payg": "deny"}
	{found.rule_id | some found in answer.findings} == {"RES-001"}
}

test_the_worst_finding_wins if {
	answer := main.answer with input as asked({"jurisdictions": null, "model": "unlisted"})
	answer.options == {"chat/payg": "unavailable"}
}

test_no_answer_without_stage_or_nonce if {
	not main.answer with input as fixtures.asking({}, {})
	not main.answer with input as object.remove(asked({}), ["stage"])
}

test_an_unknown_stage_evaluates_nothing if {
	answer := main.answer with input as object.union(asked({}), {"stage": "later"})
	answer.rules_evaluated == 0
}

test_the_proof_needs_the_session_key if {
	plain := main.answer with input as asked({})
	plain.proof == ""
	keyed := main.answer with input as asked({}) with data.llm_capacity_session.key as "k"
	keyed.proof == crypto.hmac.sha256("n", "k")
}

test_order_of_verdicts if {
	verdicts.worst(set()) == "allow"
	verdicts.worst({"allow", "warn"}) == "warn"
	verdicts.worst({"deny", "warn"}) == "deny"
	verdicts.worst({"deny", "unavailable"}) == "unavailable"
	verdicts.worst({"surprise"}) == "unavailable"
}

test_a_rule_without_metadata_gives_fields_that_nobody_accepts if {
	found := finding.make([], "deny", {})
	found.rule_id == "<missing>"
	found.severity == "<missing>"
}
