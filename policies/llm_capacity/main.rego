# METADATA
# title: The answer to a question about options or about a plan
# description: |
#   Runs every rule of the stage asked for. The caller compares `rule_ids` with the
#   manifest and `options` with what it asked about; a missing answer is never a pass.
package llm_capacity.main

import data.llm_capacity.lib.verdicts

# METADATA
# title: Answer
# description: |
#   Undefined unless the question names a stage and carries a nonce, which comes back
#   so that the answer is known to belong to this question.
# entrypoint: true
answer := {
	"ready": true,
	"stage": input.stage,
	"nonce": input.nonce,
	"proof": proof,
	"rules_evaluated": count(evaluated),
	"rule_ids": sort(evaluated),
	"findings": sort(findings),
	"options": options,
}

# Only the local server holds a session key; a central one is known by its certificate.
default proof := ""

proof := crypto.hmac.sha256(input.nonce, data.llm_capacity_session.key)

# Two rules with one id conflict here, which strict built-in errors turn into a refusal.
packages[id] := [category, name] if {
	some category, name
	id := data.llm_capacity.rules[category][name].rule.rule_id
}

# A question in parts is asked of the rules that the parts name, and of no other. Two parts
# for one rule conflict, as two rules with one id do.
asked[id] := object.union(input, {"options": part.options, "workloads": part.workloads}) if {
	some part in input.parts
	some id in part.rules
}

evaluated contains id if {
	some id, [category, name] in packages
	named(id)
	input.stage in data.llm_capacity.rules[category][name].rule.stages
}

named(_) if not input.parts

named(id) if asked[id]

findings contains found if {
	not input.parts
	some id in evaluated
	[category, name] := packages[id]
	some found in data.llm_capacity.rules[category][name].findings
}

findings contains found if {
	some id in evaluated
	[category, name] := packages[id]
	question := asked[id]
	some found in data.llm_capacity.rules[category][name].findings with input as question
}

verdicts_by_subject[subject] contains found.verdict if {
	some found in findings
	subject := found.subject
}

options[id] := verdicts.worst(object.get(verdicts_by_subject, id, set())) if {
	some id in subjects
}

subjects contains option.id if some option in input.options

subjects contains option.id if {
	some part in input.parts
	some option in part.options
}
