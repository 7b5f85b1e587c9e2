# METADATA
# title: What surrounds inference stays inside the residency
# description: |
#   Data at rest, abuse monitoring, telemetry, support access and batch files each have a
#   place of their own. Policy data says for each classification what an unknown place and
#   a place outside the residency mean; a classification that it does not list counts as
#   the strictest.
# schemas:
#   - input: schema.options.input
# custom:
#   id: RES-004
#   severity: high
#   stages: [options]
#   waivable_by: []
#   remedy: Choose an option whose places are published and inside the residency, obtain the provider's written statement and add it to the catalog, or serve the workload on own machines.
#   citation:
#     document: Regulation (EU) 2022/2554 (DORA)
#     clause: Article 30(2)(b), locations of processing, including the storage location
package llm_capacity.rules.residency.beyond_inference

import data.llm_capacity.facts.beyond_inference as facts
import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), verdict, {
	"subject": document.value(option, "id"),
	"message": sprintf("%v: nobody names where this lives: %v", [
		document.value(option, "id"),
		document.list(unnamed),
	]),
	"observed": {"unknown": unnamed, "facts": document.value(option, "beyond_inference")},
	"expected": {
		"known_places_of": facts.concerns,
		"classification": document.value(document.workload_of(option), "classification"),
	},
	"evidence": sprintf("/options/%d/beyond_inference", [index]),
}) if {
	some index, option in input.options
	verdict := meaning(document.workload_of(option), "unknown")
	verdict != "allow"
	document.value(option, "beyond_inference") != document.absent
	unnamed := sort({concern |
		some concern in facts.concerns
		not told(option, concern)
	})
	count(unnamed) > 0
}

findings contains finding.make(rego.metadata.chain(), verdict, {
	"subject": document.value(option, "id"),
	"message": sprintf("%v: this lives outside of the residency %v: %v", [
		document.value(option, "id"),
		document.list(jurisdictions.declared(workload)),
		document.list(leaving),
	]),
	"observed": {"outside": leaving, "facts": document.value(option, "beyond_inference")},
	"expected": {
		"residency": jurisdictions.declared(workload),
		"countries": sort(jurisdictions.admitted(workload)),
	},
	"evidence": sprintf("/options/%d/beyond_inference", [index]),
}) if {
	some index, option in input.options
	workload := document.workload_of(option)
	verdict := meaning(workload, "outside")
	verdict != "allow"
	leaving := sort({concern |
		some concern in facts.concerns
		some fact in option.beyond_inference[concern]
		leaves(fact, workload)
	})
	count(leaving) > 0
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(option, "id"),
	"where data lives beyond inference (null for not known)",
	sprintf("/options/%d/beyond_inference", [index]),
) if {
	some index, option in input.options
	document.value(option, "beyond_inference") == document.absent
	meaning(document.workload_of(option), "unknown") != "allow"
}

# Only a listed classification is treated as less than the strictest.
meaning(workload, trouble) := verdict if {
	verdict := facts.verdicts[workload.classification][trouble]
}

else := {"unknown": "unavailable", "outside": "deny"}[trouble]

# The option itself has a place for the concern, and so has its spill target if any.
told(option, concern) if all_named(option.beyond_inference[concern], roles(option))

# Asked of facts rather than options: many options share theirs, and OPA remembers.
all_named(stated, wanted) if {
	count(wanted - {fact.role | some fact in stated}) == 0
	every fact in stated {
		names_a_place(fact)
	}
}

roles(option) := {"option", "spill target"} if is_object(document.value(option, "spill"))

else := {"option"}

# "none" says that there is nothing to keep, "anywhere" that there is no bound.
names_a_place(fact) if fact.place in {"none", "anywhere"}

names_a_place(fact) if {
	fact.place in {"region", "geography", "processing"}
	is_array(fact.countries)
	count(fact.countries) > 0
}

leaves(fact, _) if fact.place == "anywhere"

leaves(fact, workload) if {
	names_a_place(fact)
	count(jurisdictions.outside(fact.countries, workload)) > 0
}
