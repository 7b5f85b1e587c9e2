# METADATA
# title: Operations
# description: |
#   What follows a pass: nothing but a report, or a change. What may still be finished
#   before a change warns at a preview and denies at everything else.
package llm_capacity.lib.operations

# METADATA
# description: The verdict on what must be finished before anything changes.
unfinished := "warn" if {
	input.operation == "preview"
}

else := "deny"
