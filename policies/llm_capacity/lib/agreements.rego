# METADATA
# title: Agreements
# description: Whether a stack declares the paper that a regime asks for.
package llm_capacity.lib.agreements

import data.llm_capacity.lib.dates
import data.llm_capacity.lib.jurisdictions

# METADATA
# description: |
#   True when an agreement of the kind, made by the day asked for, covers provider, workload
#   and every one of the countries. It covers all providers or workloads where it names none.
on_file(kind, provider, workload, countries) if {
	some agreement in input.agreements
	agreement.kind == kind
	agreement.provider in {null, provider}
	agreement.workload in {null, workload}
	dates.nanoseconds(agreement.date) <= dates.nanoseconds(input.as_of)
	covers(agreement.countries, countries)
}

# METADATA
# description: |
#   True when every one of the countries is among those named, or none is named. What is
#   no list of countries is covered only by an agreement that names none.
covers([], _)

covers(names, countries) if {
	is_array(countries)
	count(countries) > 0
	named := {code |
		some name in names
		some code in jurisdictions.members(name)
	}
	every country in countries {
		country in named
	}
}
