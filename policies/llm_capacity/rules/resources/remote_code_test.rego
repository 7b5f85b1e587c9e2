package llm_capacity.rules.resources.remote_code_test

import data.llm_capacity.rules.resources.remote_code
import data.llm_capacity_test.fixtures
import data.llm_capacity_test.resources

on(question) := found if {
	found := remote_code.findings with input as question
}

denies(change) if {
	found := on(resources.with_text(change))
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "TRC-001")
}

allows(change) if on(resources.with_text(change)) == set()

test_allows_servers_that_trust_nothing if {
	allows({})
	allows({"place": "args", "name": null, "text": "serve"})
	allows({"place": "args", "name": "--max-model-len", "text": "8192"})
}

test_allows_a_refusal_of_trust if {
	allows({"place": "args", "name": "--no-trust-remote-code", "text": ""})
	allows({"place": "args", "name": null, "text": "vllm serve m --no-trust-remote-code"})
	allows({"place": "args", "name": "--trust-remote-code", "text": "False"})
	allows({"place": "config", "name": "config.yaml", "text": "trust_remote_code: false\nseed: 1"})
	allows({"name": "TRUST_REMOTE_CODE", "text": "0"})
}

test_denies_trust_by_flag if {
	found := on(resources.with_text({"place": "args", "name": "--trust-remote-code", "text": "", "path": "args --trust-remote-code"}))
	fixtures.verdicts(found) == {"deny"}
	fixtures.said(found) == {{
		"verdict": "deny",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "args --trust-remote-code lets the server run code that comes with a model",
		"observed": {"path": "args --trust-remote-code"},
		"expected": "no trust in remote code",
		"evidence": "/resources/0/texts/0",
	}}
	denies({"place": "args", "name": "--trust-remote-code#2", "text": "true"})
}

test_denies_trust_inside_of_a_text if {
	denies({"place": "args", "name": null, "text": "exec vllm serve m --trust_remote_code --port 1"})
	denies({"place": "args", "name": null, "text": "exec vllm serve m --trust-remote-code"})
	denies({"place": "config", "name": "config.yaml", "text": "trust_remote_code: true"})
	denies({"place": "config", "name": "config.yaml", "text": "{\"trust-remote-code\": \"yes\"}"})
	denies({"name": "TRUST_REMOTE_CODE", "text": "1"})
	denies({"name": "HF_TRUST_REMOTE_CODE", "text": "1"})
}

test_one_refusal_does_not_hide_another_mention if {
	denies({"place": "args", "name": null, "text": "--no-trust-remote-code --trust-remote-code"})
	denies({"place": "args", "name": null, "text": "piano-trust-remote-code"})
}

test_unavailable_where_an_argument_cannot_be_read if {
	change := {"place": "args", "name": "--x", "text": null, "state": "unknown", "path": "args --x"}
	fixtures.said(on(resources.with_text(change))) == {{
		"verdict": "unavailable",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "It is not known whether args --x lets the server run code that comes with a model",
		"observed": {"path": "args --x", "state": "unknown"},
		"expected": "a text that can be read before the change",
		"evidence": "/resources/0/texts/0",
	}}
	fixtures.verdicts(on(resources.with_text(object.union(change, {"state": "secret"})))) == {"unavailable"}
	allows(object.union(change, {"place": "env"}))
}

test_an_unreadable_argument_of_what_serves_nothing_is_allowed if {
	change := {"texts": [object.union(resources.text, {"place": "args", "text": null, "state": "unknown"})]}
	on(resources.changed(object.union(change, {"asks": [], "runs": []}))) == set()
}

test_only_clusters_run_servers if {
	change := {"texts": [object.union(resources.text, {"name": "TRUST_REMOTE_CODE", "text": "1"})]}
	on(resources.changed(object.union(change, {"type": "aws:s3/bucket:Bucket"}))) == set()
}

test_an_unreadable_argument_off_the_clusters_is_allowed if {
	change := {"texts": [object.union(resources.text, {"place": "args", "text": null, "state": "unknown"})]}
	on(resources.changed(object.union(change, {"type": "aws:s3/bucket:Bucket"}))) == set()
}

test_denies_missing_texts if {
	found := on(resources.asking([object.remove(resources.row, ["texts"])]))
	fixtures.verdicts(found) == {"deny"}
	fixtures.said(found) == {{
		"verdict": "deny",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "kubernetes:apps/v1:Deployment::gpu-chat does not state its texts, so the rule cannot be shown to hold",
		"observed": "<missing>",
		"expected": "a value for its texts",
		"evidence": "/resources/0/texts",
	}}
}

test_denies_missing_fields_of_a_text if {
	every field in ["place", "name", "text"] {
		found := on(resources.changed({"texts": [object.remove(resources.text, [field])]}))
		some item in found
		item.verdict == "deny"
		item.subject == "kubernetes:apps/v1:Deployment::gpu-chat"
		item.expected == sprintf("a value for the %v of a text", [field])
		item.evidence == sprintf("/resources/0/texts/0/%v", [field])
	}
}
