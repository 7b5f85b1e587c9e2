package llm_capacity_test.decisions

import data.llm_capacity.lib.decisions

chat := {"workload": "chat", "tier": "batch"}

test_decisions_about_a_workload if {
	plan := {"decisions": [{"workload": "notes"}, chat, {"tier": "batch"}]}
	decisions.about("chat") == [chat] with input as plan
	decisions.about("other") == [{}] with input as plan
	decisions.about("<missing>") == [{}] with input as plan
	decisions.about("chat") == [{}] with input as {}
}
