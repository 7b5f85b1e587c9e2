package llm_capacity_test.lifecycle.exit_plan

import data.llm_capacity.rules.lifecycle.exit_plan as subject
import data.llm_capacity_test.fixtures

test_allows_a_critical_workload_with_a_plan if {
	count(subject.findings) == 0 with input as fixtures.planning({})
}

test_allows_an_uncritical_workload_without if {
	count(subject.findings) == 0 with input as fixtures.planning({"critical": false, "exit_plan": null})
}

test_denies_a_critical_workload_without if {
	found := subject.findings with input as fixtures.planning({"exit_plan": null})
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "EXI-001")
}

test_denies_a_plan_without_a_test_date if {
	plan := json.remove(fixtures.planning({}), ["/decisions/0/exit_plan/tested_on"])
	found := subject.findings with input as plan
	fixtures.verdicts(found) == {"deny"}
}

test_missing_fields_deny if {
	every field in ["critical", "exit_plan"] {
		found := subject.findings with input as fixtures.planning_without([field])
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "EXI-001")
	}
}

test_unknown_criticality_is_unavailable if {
	found := subject.findings with input as fixtures.planning({"critical": null})
	fixtures.verdicts(found) == {"unavailable"}
	fixtures.well_formed(found, "EXI-001")
}
