# METADATA
# title: Input document
# description: |
#   Reading the input so that an absent field can never make a denial vanish: a plain
#   reference to it is undefined and takes the whole finding with it.
package llm_capacity.lib.document

absent := "<missing>"

# METADATA
# description: The value of a key, or the marker `absent`; works on any type of container.
value(container, key) := found if found := container[key]

else := absent

# METADATA
# description: The keys that the container lacks.
missing(container, keys) := {key |
	some key in keys
	value(container, key) == absent
}

# METADATA
# description: The workload that an option or a decision is for; an empty one if unknown.
workload_of(option) := found if found := input.workloads[option.workload]

else := {}

# METADATA
# description: Values as readable text, whatever their type.
list(values) := concat(", ", [sprintf("%v", [item]) | some item in values]) if {
	is_array(values)
	count(values) > 0
}

else := "nothing"
