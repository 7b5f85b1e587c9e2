package llm_capacity_test.supply.pinned

import data.llm_capacity.rules.supply.pinned as subject
import data.llm_capacity_test.fixtures

digits := "0123456789abcdef0123456789abcdef01234567"

digest := sprintf("sha256:%v0123456789abcdef01234567", [digits])

# The plan with one server changed, before an operation.
running(change, operation) := fixtures.under(fixtures.plan, {
	"operation": operation,
	"servers": [object.union(fixtures.server, change)],
})

test_allows_pinned_servers_and_none if {
	every operation in ["preview", "update", "destroy"] {
		count(subject.findings) == 0 with input as running({"image_digest": digest, "model_revision": digits}, operation)
		count(subject.findings) == 0 with input as fixtures.under(fixtures.plan, {"operation": operation, "servers": []})
	}
}

test_an_unpinned_server_warns_at_a_preview if {
	every change in [{"image_digest": null}, {"model_revision": null}] {
		found := subject.findings with input as running(change, "preview")
		fixtures.verdicts(found) == {"warn"}
		fixtures.well_formed(found, "PIN-001")
		count(found) == 1
	}
}

test_an_unpinned_server_is_denied_before_a_change if {
	every operation in ["update", "destroy", "", null] {
		found := subject.findings with input as running({"image_digest": null}, operation)
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "PIN-001")
	}
}

test_only_whole_digests_pin if {
	every text in [
		"", 7, digits,
		trim_prefix(digest, "sha256:"),
		upper(digest),
		concat("", [digest, "0"]),
		concat("", [" ", digest]),
		"sha256:abc",
		"v0.33.0",
	] {
		found := subject.findings with input as running({"image_digest": text}, "update")
		fixtures.verdicts(found) == {"deny"}
	}
	every text in ["", 7, digest, upper(digits), concat("", [digits, "0"]), concat("", ["0", digits]), "main"] {
		found := subject.findings with input as running({"model_revision": text}, "update")
		fixtures.verdicts(found) == {"deny"}
	}
}

test_every_server_is_asked if {
	plan := fixtures.under(fixtures.plan, {"servers": [fixtures.server, object.union(fixtures.server, {"workload": "notes", "image_digest": null})]})
	found := subject.findings with input as plan
	{[one.subject, one.evidence] | some one in found} == {["notes", "/servers/1/image_digest"]}
}

test_missing_fields_deny_at_a_preview if {
	every field in ["image_digest", "model_revision"] {
		found := subject.findings with input as fixtures.under(fixtures.plan, {"servers": [object.remove(fixtures.server, [field])]})
		fixtures.verdicts(found) == {"warn", "deny"}
		fixtures.well_formed(found, "PIN-001")
	}
	every plan in [
		object.remove(fixtures.plan, ["servers"]),
		object.remove(fixtures.plan, ["operation"]),
		fixtures.under(fixtures.plan, {"servers": null}),
		fixtures.under(fixtures.plan, {"servers": {"chat": fixtures.server}}),
	] {
		found := subject.findings with input as plan
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "PIN-001")
	}
}

test_unknown_servers_deny if {
	found := subject.findings with input as fixtures.under(fixtures.plan, {"servers": ["chat"]})
	"deny" in fixtures.verdicts(found)
	fixtures.well_formed(found, "PIN-001")
}

# Word for word: what a reader sees.
test_words_about_an_image if {
	found := subject.findings with input as running({"image_digest": null}, "update")
	fixtures.said(found) == {{"evidence": "/servers/0/image_digest", "expected": "sha256: and 64 hexadecimal digits", "message": "chat would run vllm/vllm-openai:v0.33.0, which no image_digest pins", "observed": {"image_digest": null}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_weights if {
	found := subject.findings with input as running({"model_revision": "main"}, "preview")
	fixtures.said(found) == {{"evidence": "/servers/0/model_revision", "expected": "the 40 hexadecimal digits of a commit", "message": "chat would run Qwen/Qwen3-32B, which no model_revision pins", "observed": {"model_revision": "main"}, "subject": "chat", "verdict": "warn"}}
}

test_words_about_missing_fields if {
	found := subject.findings with input as fixtures.under(fixtures.plan, {"operation": "update", "servers": [object.remove(fixtures.server, ["image_digest"])]})
	fixtures.said(found) == {
		{"evidence": "/servers/0/image_digest", "expected": "sha256: and 64 hexadecimal digits", "message": "chat would run vllm/vllm-openai:v0.33.0, which no image_digest pins", "observed": {"image_digest": "<missing>"}, "subject": "chat", "verdict": "deny"},
		{"evidence": "/servers/0/image_digest", "expected": "a value for the image_digest of its server", "message": "chat does not state the image_digest of its server, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
	}
	bare := subject.findings with input as object.remove(fixtures.plan, ["servers", "operation"])
	fixtures.said(bare) == {
		{"evidence": "/servers", "expected": "a value for its servers", "message": "stack does not state its servers, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
		{"evidence": "/operation", "expected": "a value for its operation", "message": "stack does not state its operation, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
	}
}
