# METADATA
# title: Classifications
# description: The order of data classifications, least sensitive first.
package llm_capacity.lib.classifications

order := ["public", "internal", "confidential", "restricted"]

# METADATA
# description: Position of a classification; undefined for an unknown one.
rank(classification) := position if {
	some position, name in order
	name == classification
}

# METADATA
# description: True only when both are known and the first is no more sensitive.
within(classification, limit) if rank(classification) <= rank(limit)
