# METADATA
# title: Images and weights are pinned
# description: |
#   Every server states the digest of its image and the revision of its weights. A tag or
#   a branch can mean something else tomorrow.
# schemas:
#   - input: schema.plan.input
# custom:
#   id: PIN-001
#   severity: high
#   stages: [plan]
#   waivable_by: [security]
#   remedy: Give serving.image_digest as the registry reports it (sha256 and 64 hexadecimal digits) and the revision of the model's source (the 40 digits of a commit).
#   citation:
#     document: NIST SP 800-190
#     clause: Section 4.1.5, use of untrusted images
package llm_capacity.rules.supply.pinned

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.operations

rule := finding.rule(rego.metadata.chain())

pins := {
	"image_digest": {
		"of": "image",
		"words": "sha256: and 64 hexadecimal digits",
		"pattern": `^sha256:[0-9a-f]{64}$`,
	},
	"model_revision": {
		"of": "model",
		"words": "the 40 hexadecimal digits of a commit",
		"pattern": `^[0-9a-f]{40}$`,
	},
}

findings contains finding.make(rego.metadata.chain(), operations.unfinished, {
	"subject": document.value(server, "workload"),
	"message": sprintf("%v would run %v, which no %v pins", [
		document.value(server, "workload"),
		document.value(server, pin.of),
		field,
	]),
	"observed": {field: document.value(server, field)},
	"expected": pin.words,
	"evidence": sprintf("/servers/%d/%v", [index, field]),
}) if {
	some index, server in input.servers
	some field, pin in pins
	not pinned(server, field)
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(server, "workload"),
	sprintf("the %v of its server", [field]),
	sprintf("/servers/%d/%v", [index, field]),
) if {
	some index, server in input.servers
	some field in document.missing(server, object.keys(pins))
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its servers", "/servers") if {
	not is_array(document.value(input, "servers"))
}

findings contains finding.missing(rego.metadata.chain(), "stack", "its operation", "/operation") if {
	document.value(input, "operation") == document.absent
}

pinned(server, field) if {
	is_string(server[field])
	regex.match(pins[field].pattern, server[field])
}
