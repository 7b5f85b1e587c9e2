# METADATA
# title: No server runs code that came with a model
# description: |
#   No command, argument, variable or configuration allows a server to execute code that
#   is downloaded with a model: it would run beside the prompts and past every review.
# schemas:
#   - input: schema.resources.input
# custom:
#   id: TRC-001
#   severity: critical
#   stages: [resources]
#   waivable_by: [security]
#   remedy: Use a model whose architecture the server has itself, or review the model's code and build it into the image.
#   citation:
#     document: OWASP Top 10 for LLM Applications 2025
#     clause: LLM03:2025, supply chain
package llm_capacity.rules.resources.remote_code

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.governed

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "deny", {
	"subject": document.value(row, "subject"),
	"message": sprintf("%v lets the server run code that comes with a model", [document.value(text, "path")]),
	"observed": {"path": document.value(text, "path")},
	"expected": "no trust in remote code",
	"evidence": sprintf("/resources/%d/texts/%d", [index, place]),
}) if {
	some index, row in input.resources
	governed.on_kubernetes(row)
	some place, text in row.texts
	trusts(text)
}

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(row, "subject"),
	"message": sprintf("It is not known whether %v lets the server run code that comes with a model", [
		document.value(text, "path"),
	]),
	"observed": {"path": document.value(text, "path"), "state": document.value(text, "state")},
	"expected": "a text that can be read before the change",
	"evidence": sprintf("/resources/%d/texts/%d", [index, place]),
}) if {
	some index, row in input.resources
	governed.on_kubernetes(row)
	governed.serves(row)
	some place, text in row.texts
	text.place == "args"
	text.text == null
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
	some field in document.missing(text, ["place", "name", "text"])
}

# A name counts unless what it is set to says no; so does every mention that is not a refusal.
trusts(text) if {
	mentioned(text.name)
	not says_no(text)
}

trusts(text) if mentioned(text.text)

mentioned(words) if {
	some spelling in ["trust-remote-code", "trust_remote_code"]
	parts := split(lower(sprintf("%v", [words])), spelling)
	some place, after in parts
	before := parts[place - 1]
	not regex.match(`(^|[^a-z0-9])no[-_]$`, before)
	not regex.match(`^['"]?\s*[:=]\s*['"]?(false|0|no|off)\b`, after)
}

says_no(text) if regex.match(`(?i)^(false|0|no|off)$`, sprintf("%v", [text.text]))
