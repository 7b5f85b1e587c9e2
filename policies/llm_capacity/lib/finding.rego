# METADATA
# title: Findings
# description: |
#   Builds every finding from the METADATA of the rule that raises it, so that no
#   rule repeats its id, severity, remedy or citation. A rule without METADATA gives
#   fields that the caller refuses, never a silently missing finding.
package llm_capacity.lib.finding

import data.llm_capacity.lib.document

# METADATA
# description: What METADATA says about a rule; the nearest annotation with an id wins.
rule(chain) := {
	"rule_id": object.get(custom, "id", document.absent),
	"title": object.get(annotations, "title", document.absent),
	"severity": object.get(custom, "severity", document.absent),
	"remedy": object.get(custom, "remedy", document.absent),
	"citation": object.get(custom, "citation", document.absent),
	"waivable_by": object.get(custom, "waivable_by", document.absent),
	"stages": object.get(custom, "stages", []),
} if {
	annotations := annotated(chain)
	custom := object.get(annotations, "custom", {})
}

# METADATA
# description: |
#   A finding. `facts` holds subject, message, observed, expected and evidence, the
#   JSON pointer into the input. A `citation` in it, as a regime's clause, takes the
#   place of the rule's own.
make(chain, verdict, facts) := object.union(described(chain, verdict), facts)

# METADATA
# description: What every finding of a rule with one verdict has in common; OPA remembers it.
described(chain, verdict) := object.union(
	object.remove(rule(chain), ["stages"]),
	{"verdict": verdict, "raw_verdict": verdict},
)

# METADATA
# description: The denial for a field that the input leaves out.
missing(chain, subject, field, pointer) := make(chain, "deny", {
	"subject": subject,
	"message": sprintf("%v does not state %v, so the rule cannot be shown to hold", [subject, field]),
	"observed": document.absent,
	"expected": sprintf("a value for %v", [field]),
	"evidence": pointer,
})

# METADATA
# description: The nearest annotation that carries an id; an empty one if none does.
annotated(chain) := with_id[0] if {
	with_id := [link.annotations |
		some link in chain
		link.annotations.custom.id
	]
}

else := {}
