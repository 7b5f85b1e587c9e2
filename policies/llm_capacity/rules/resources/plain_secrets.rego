# METADATA
# title: No secret stands in plain text
# description: |
#   No text of a governed resource or of an object on a cluster looks like a secret, and no
#   secret is copied into a pod's definition or a ConfigMap, where whoever may read these
#   can read it. A finding names the place and never the value.
# schemas:
#   - input: schema.resources.input
# custom:
#   id: SEC-001
#   severity: critical
#   stages: [resources]
#   waivable_by: [security]
#   remedy: Keep the value in a Kubernetes Secret set from pulumi config set --secret and refer to it with secretKeyRef; replace a key that was written down.
#   citation:
#     document: OWASP Top 10 for LLM Applications 2025
#     clause: "LLM02:2025, sensitive information disclosure; NIST SP 800-53 Rev. 5, IA-5(7), no embedded unencrypted static authenticators"
package llm_capacity.rules.resources.plain_secrets

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.governed
import data.llm_capacity.lib.secrets

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v holds %v in plain text", [document.value(text, "path"), what]),
	"observed": {"path": document.value(text, "path"), "value": "not shown"},
	"expected": "a reference to a Kubernetes Secret",
	"evidence": sprintf("/resources/%d/texts/%d", [index, place]),
}) if {
	some index, row in input.resources
	in_scope(row)
	some place, text in row.texts
	what := plain_secret(text)
}

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v is a secret that the cluster would hold in plain text", [document.value(text, "path")]),
	"observed": {"path": document.value(text, "path"), "value": "not shown"},
	"expected": "a reference to a Kubernetes Secret",
	"evidence": sprintf("/resources/%d/texts/%d", [index, place]),
}) if {
	some index, row in input.resources
	in_scope(row)
	some place, text in row.texts
	text.state == "secret"
	text.place in {"env", "args", "config"}
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(row, "subject"),
	"message": sprintf("It is not known whether %v is a secret", [document.value(text, "path")]),
	"observed": {"path": document.value(text, "path"), "state": document.value(text, "state")},
	"expected": "a text that is known before the change",
	"evidence": sprintf("/resources/%d/texts/%d", [index, place]),
}) if {
	some index, row in input.resources
	in_scope(row)
	some place, text in row.texts
	text.place in {"env", "args", "config"}
	not text.state in {"plain", "secret"}
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(row, "subject"),
	"its texts",
	sprintf("/resources/%d/texts", [index]),
) if {
	some index, row in input.resources
	document.value(row, "texts") == document.absent
}

findings contains finding.missing(
	rego.metadata.chain(),
	document.value(row, "subject"),
	sprintf("the %v of a text", [field]),
	sprintf("/resources/%d/texts/%d/%v", [index, place, field]),
) if {
	some index, row in input.resources
	some place, text in row.texts
	some field in document.missing(text, ["place", "name", "state", "text"])
}

in_scope(row) if governed.holds(row)

in_scope(row) if governed.on_kubernetes(row)

plain_secret(text) := found if found := secrets.form(text.text)

else := sprintf("what is named %v", [text.name]) if {
	text.place in {"env", "args", "config"}
	secrets.named(text.name)
	is_string(text.text)
	not refers_elsewhere(text)
}

else := "a value of a Secret" if {
	text.place == "secret"
	is_string(text.text)
	text.text != ""
}

refers_elsewhere(text) if secrets.refers(text.text)
