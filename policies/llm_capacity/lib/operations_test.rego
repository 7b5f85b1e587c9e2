package llm_capacity_test.operations

import data.llm_capacity.lib.operations

test_only_a_preview_warns if {
	operations.unfinished == "warn" with input as {"operation": "preview"}
	every operation in ["update", "destroy", "Preview", null, true] {
		operations.unfinished == "deny" with input as {"operation": operation}
	}
	operations.unfinished == "deny" with input as {}
}
