package llm_capacity_test.resources_stage

import data.llm_capacity.main
import data.llm_capacity_test.resources

test_evaluates_what_the_manifest_lists_at_the_stage if {
	answer := main.answer with input as object.union(resources.asking([resources.row]), {"nonce": "n"})
	listed := {row.id |
		some row in data.llm_capacity.manifest.rules
		"resources" in row.stages
	}
	{id | some id in answer.rule_ids} == listed
	answer.rules_evaluated == count(listed)
	answer.findings == []
	answer.options == {}
}
