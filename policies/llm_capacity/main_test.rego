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

# A question in parts, each for the rules that it names.
in_parts(parts) := object.union(
	object.remove(asked({}), ["options", "workloads"]),
	{"options": [], "workloads": {}, "parts": parts},
)

part(rules, id, change) := {
	"rules": rules,
	"workloads": {"chat": fixtures.workload},
	"options": [object.union(object.union(fixtures.option, {"id": id}), change)],
}

test_each_rule_is_asked_its_own_part if {
	abroad := {"jurisdictions": ["US"], "model": "unlisted"}
	answer := main.answer with input as in_parts([
		part(["RES-001"], "a", abroad),
		part(["MOD-001", "TPP-001"], "b", abroad),
		part(["RES-002"], "c", abroad),
	])
	[[found.rule_id, found.subject] | some found in answer.findings] == [["RES-001", "a"], ["MOD-001", "b"]]
	answer.options == {"a": "deny", "b": "deny", "c": "allow"}
	answer.rule_ids == ["MOD-001", "RES-001", "RES-002", "TPP-001"]
	answer.rules_evaluated == 4
}

test_a_part_keeps_what_the_question_has_in_common if {
	question := in_parts([part(["EVA-001"], "a", {})])
	early := main.answer with input as question
	early.options == {"a": "allow"}
	late := main.answer with input as object.union(question, {"as_of": "2029-12-01"})
	late.options == {"a": "warn"}
}

test_beside_parts_nothing_is_asked if {
	abroad := fixtures.asking({"jurisdictions": ["US"]}, {})
	question := object.union(in_parts([part(["RES-001"], "a", {})]), object.filter(abroad, ["options", "workloads"]))
	answer := main.answer with input as question
	answer.findings == []
}

test_no_part_no_rule if {
	answer := main.answer with input as in_parts([])
	answer.rules_evaluated == 0
	answer.options == {}
}

test_a_part_evaluates_no_rule_of_another_stage if {
	answer := main.answer with input as in_parts([part(["BUD-001", "RES-001"], "a", {})])
	answer.rule_ids == ["RES-001"]
}

test_a_part_without_options_or_workloads_evaluates_nothing if {
	every key in ["options", "workloads"] {
		whole := part(["RES-001"], "a", {})
		answer := main.answer with input as in_parts([object.remove(whole, [key])])
		answer.rules_evaluated == 0
	}
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
