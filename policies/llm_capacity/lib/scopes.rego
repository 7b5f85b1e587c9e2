# METADATA
# title: Processing scopes
# description: The order of scopes, narrowest first.
package llm_capacity.lib.scopes

order := ["region", "country", "zone", "global"]

# METADATA
# description: Position of a scope in the order; undefined for an unknown scope.
rank(scope) := position if {
	some position, name in order
	name == scope
}

# METADATA
# description: True only when both scopes are known and the first is no wider.
within(inner, outer) if rank(inner) <= rank(outer)
