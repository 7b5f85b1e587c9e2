# METADATA
# title: The countries of processing are known
# description: |
#   A zone without a published member list, or an option without any list, cannot be
#   shown to respect a residency. Not known is neither allowed nor denied: the option
#   drops out.
# schemas:
#   - input: schema.options.input
# custom:
#   id: RES-002
#   severity: critical
#   stages: [options]
#   waivable_by: []
#   remedy: Use a deployment type whose countries are published, or add the dated member list with its source to the catalog.
#   citation:
#     document: Regulation (EU) 2022/2554 (DORA)
#     clause: Article 30(2)(b), locations where data is to be processed
package llm_capacity.rules.residency.unknown_jurisdiction

import data.llm_capacity.lib.document
import data.llm_capacity.lib.finding
import data.llm_capacity.lib.jurisdictions

rule := finding.rule(rego.metadata.chain())

findings contains finding.make(rego.metadata.chain(), "unavailable", {
	"subject": document.value(option, "id"),
	"message": sprintf("%v may be processed in countries that nobody names (scope %v)", [
		document.value(option, "id"),
		document.value(option, "scope"),
	]),
	"observed": {
		"scope": document.value(option, "scope"),
		"jurisdictions": document.value(option, "jurisdictions"),
	},
	"expected": "a list of ISO country codes",
	"evidence": sprintf("/options/%d/jurisdictions", [index]),
}) if {
	some index, option in input.options
	jurisdictions.unknown(option)
}
