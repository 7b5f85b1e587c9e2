# METADATA
# title: Decisions of a plan
# description: Finding what was decided about a workload that something else names.
package llm_capacity.lib.decisions

# METADATA
# description: |
#   The decisions about a workload; one empty decision where none names it, so that
#   whatever rests on its fields is not shown.
about(workload) := found if {
	found := [decision |
		some decision in input.decisions
		decision.workload == workload
	]
	count(found) > 0
}

else := [{}]
