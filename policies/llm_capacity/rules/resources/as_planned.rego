# METADATA
# title: What is registered is what the plan decided
# description: |
#   Every governed resource is one of the plan's, with the plan's own values. What was
#   added beside the plan or edited after it was never sized, priced or gated.
# schemas:
#   - input: schema.resources.input
# custom:
#   id: RSC-001
#   severity: critical
#   stages: [resources]
#   waivable_by: []
#   remedy: Declare the workload or the change in the stack's files and plan again; remove what is registered beside the plan.
#   citation:
#     document: NIST SP 800-53 Rev. 5
#     clause: CM-3, configuration change control; CM-5, access restrictions for change
package llm_capacity.rules.resources.as_planned

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.governed
import data.llm_capacity.lib.secrets

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v is beside the plan: the plan has no such resource", [document.value(row, "subject")]),
	"observed": {"type": document.value(row, "type"), "identity": document.value(row, "identity")},
	"expected": "a resource that the plan emits",
	"evidence": sprintf("/resources/%d", [index]),
}) if {
	some index, row in input.resources
	governed.holds(row)
	is_string(row.identity)
	not is_planned(row)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v is not what the plan decided: %v", [
		document.value(row, "subject"),
		document.list(sort(differing)),
	]),
	"observed": {field: shown(field, document.value(row.fields, field)) | some field in differing},
	"expected": {field: document.value(wanted.fields, field) | some field in differing},
	"evidence": sprintf("/resources/%d/fields", [index]),
}) if {
	some index, row in input.resources
	some wanted in planned(row)
	differing := differences(row, wanted)
	count(differing) > 0
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v and %v are one thing: what the one sets the other undoes", [
		document.value(row, "subject"),
		document.value(other, "subject"),
	]),
	"observed": {"identity": document.value(row, "identity")},
	"expected": "one resource for each thing",
	"evidence": sprintf("/resources/%d", [index]),
}) if {
	some index, row in input.resources
	some place, other in input.resources
	place > index
	same(row, other)
	is_planned(row)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v cannot be compared with the plan: its name is not known before the change", [
		document.value(row, "subject"),
	]),
	"observed": {"unknown": document.value(row, "unknown")},
	"expected": "a name that is known before the change",
	"evidence": sprintf("/resources/%d/identity", [index]),
}) if {
	some index, row in input.resources
	governed.holds(row)
	row.identity == null
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v cannot be compared with the plan: not known before the change are %v", [
		document.value(row, "subject"),
		document.list(hidden),
	]),
	"observed": {"unknown": hidden},
	"expected": "the plan's own values, which are known before the change",
	"evidence": sprintf("/resources/%d/unknown", [index]),
}) if {
	some index, row in input.resources
	some wanted in planned(row)
	hidden := [field | some field in row.unknown; not free(field, wanted)]
	count(hidden) > 0
}

findings contains finding.make(rego.metadata.chain(), "warn", {
	"subject": document.value(wanted, "subject"),
	"message": sprintf("%v is in the plan and not in the stack", [document.value(wanted, "subject")]),
	"observed": "no such resource",
	"expected": {"type": document.value(wanted, "type"), "identity": document.value(wanted, "identity")},
	"evidence": sprintf("/planned/%d", [index]),
}) if {
	input.complete == true
	some index, wanted in input.planned
	not is_there(wanted)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(row, "subject"),
	sprintf("its %v", [field]),
	sprintf("/%v/%d/%v", [list, index, field]),
) if {
	some list, fields in {
		"resources": ["type", "identity", "fields", "unknown", "asks", "runs", "opaque"],
		"planned": ["type", "identity", "fields", "free", "optional"],
	}
	some index, row in document.value(input, list)
	some field in document.missing(row, fields)
}

findings contains finding.missing(rego.metadata.chain(), "stack", field, sprintf("/%v", [field])) if {
	some field in document.missing(input, ["complete", "planned", "resources"])
}

is_planned(row) if count(planned(row)) > 0

is_there(wanted) if {
	some row in input.resources
	same(row, wanted)
}

planned(row) := {wanted |
	some wanted in input.planned
	same(row, wanted)
}

same(row, other) if {
	row.type == other.type
	row.identity == other.identity
}

differences(row, wanted) := {field |
	some field in (object.keys(row.fields) | object.keys(wanted.fields))
	document.value(row.fields, field) != document.value(wanted.fields, field)
	not field in row.unknown
	not free(field, wanted)
	not left_out(field, row, wanted)
}

# What the provider leaves out where it is the default; stated, it has to be the plan's.
left_out(field, row, wanted) if {
	field in wanted.optional
	document.value(row.fields, field) == document.absent
}

free(field, wanted) if field in wanted.free

# What is not the plan's own may be a secret: then it is named, never shown.
shown(field, observed) := "a value that is not shown" if may_be_secret(field, observed)

else := observed

may_be_secret(field, _) if contains(field, ".env[")

may_be_secret(field, _) if secrets.named(field)

may_be_secret(_, observed) if secrets.form(observed)
