# METADATA
# title: Verdicts
# description: Four verdicts, from best to worst.
package llm_capacity.lib.verdicts

order := ["allow", "warn", "deny", "unavailable"]

# METADATA
# description: The worst of a collection; allow when it is empty.
worst(verdicts) := order[max({0} | {rank(verdict) | some verdict in verdicts})]

# METADATA
# description: A verdict outside the order counts as the worst there is.
rank(verdict) := position if {
	some position, name in order
	name == verdict
}

else := 3
