package llm_capacity.rules.resources.plain_secrets_test

import data.llm_capacity.lib.secrets
import data.llm_capacity.rules.resources.plain_secrets
import data.llm_capacity_test.fixtures
import data.llm_capacity_test.resources

on(question) := found if {
	found := plain_secrets.findings with input as question
}

denies(change) if {
	found := on(resources.with_text(change))
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "SEC-001")
	not contains(sprintf("%v", [found]), "open-sesame")
}

allows(change) if on(resources.with_text(change)) == set()

test_allows_plain_settings if {
	allows({})
	allows({"name": "MAX_TOKENS", "text": "8192"})
	allows({"place": "property", "name": "key", "text": "llm-capacity.dev/workload"})
}

test_allows_a_reference_and_an_empty_value if {
	allows({"name": "API_KEY", "text": ""})
	allows({"name": "API_KEY", "text": "$(MOUNTED_KEY)"})
	allows({"place": "args", "name": "--api-key", "text": "$(API_KEY)"})
	denies({"place": "args", "name": "--api-key", "text": "x$(API_KEY)"})
}

test_denies_a_named_value_without_showing_it if {
	found := on(resources.with_text({"name": "HF_TOKEN", "text": "open-sesame", "path": "env[HF_TOKEN].value"}))
	fixtures.said(found) == {{
		"verdict": "deny",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "env[HF_TOKEN].value holds what is named HF_TOKEN in plain text",
		"observed": {"path": "env[HF_TOKEN].value", "value": "not shown"},
		"expected": "a reference to a Kubernetes Secret",
		"evidence": "/resources/0/texts/0",
	}}
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "SEC-001")
}

test_denies_by_name_wherever_a_setting_stands if {
	every place in ["env", "args", "config"] {
		denies({"place": place, "name": "DB_PASSWORD", "text": "open-sesame"})
	}
	allows({"place": "property", "name": "password", "text": "open-sesame"})
}

test_names_of_secrets if {
	every name in ["API_KEY", "apiToken", "client_secret", "Password", "passwd", "PASSPHRASE", "credentials"] {
		secrets.named(name)
	}
	every name in ["TOKENIZERS_PARALLELISM", "KEYED", "max_tokens", "HOME", null] {
		not secrets.named(name)
	}
}

test_forms_of_secrets if {
	every text, form in {
		"-----BEGIN RSA PRIVATE KEY-----": "a private key",
		"AKIAABCDEFGHIJKLMNOP": "an AWS access key",
		"AccountKey=0123456789012345678901234567890123456789": "an Azure storage or service bus key",
		"AIza01234567890123456789012345678901234": "a Google API key",
		"{\"private_key\": 1}": "a Google service account's key",
		"hf_012345678901234567890123456789": "a Hugging Face token",
		"sk-01234567890123456789": "an API key that begins with sk-",
		"ghp_012345678901234567890123456789012345": "a GitHub token",
		"pul-0123456789012345678901234567890123456789": "a Pulumi access token",
		"eyJ01234567.eyJ01234567.s": "a JSON web token",
		"Authorization: Bearer 0123456789abcdef": "a bearer token",
		"postgres://user:open-sesame@db/x": "a password in an address",
	} {
		secrets.form(text) == form
	}
	every text in ["vllm", "sha256:0001", "hf_short", "https://host:8000/path", null] {
		not secrets.form(text)
	}
}

test_denies_a_form_in_any_text if {
	every place in ["env", "args", "config", "property", "secret"] {
		denies({"place": place, "name": null, "text": "hf_0123456789012345678901234567890123"})
	}
}

test_denies_a_secret_object_whose_values_are_not_marked if {
	denies({"place": "secret", "name": "note", "text": "open-sesame"})
	allows({"place": "secret", "name": "note", "text": ""})
	allows({"place": "secret", "name": "token", "text": null, "state": "secret"})
}

test_denies_a_marked_secret_that_a_pod_would_show if {
	found := on(resources.with_text({"text": null, "state": "secret", "path": "env[X].value"}))
	fixtures.said(found) == {{
		"verdict": "deny",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "env[X].value is a secret that the cluster would hold in plain text",
		"observed": {"path": "env[X].value", "value": "not shown"},
		"expected": "a reference to a Kubernetes Secret",
		"evidence": "/resources/0/texts/0",
	}}
	every place in ["env", "args", "config"] {
		denies({"place": place, "text": null, "state": "secret"})
	}
	allows({"place": "property", "text": null, "state": "secret"})
}

test_unavailable_where_a_text_is_not_known if {
	found := on(resources.with_text({"text": null, "state": "unknown", "path": "env[X].value"}))
	fixtures.said(found) == {{
		"verdict": "unavailable",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "It is not known whether env[X].value is a secret",
		"observed": {"path": "env[X].value", "state": "unknown"},
		"expected": "a text that is known before the change",
		"evidence": "/resources/0/texts/0",
	}}
	every place in ["env", "args", "config"] {
		fixtures.verdicts(on(resources.with_text({"place": place, "text": null, "state": "unknown"}))) == {"unavailable"}
	}
	allows({"place": "property", "text": null, "state": "unknown"})
}

test_one_finding_for_a_marked_secret_under_a_telling_name if {
	found := on(resources.with_text({"name": "API_KEY", "text": null, "state": "secret"}))
	count(found) == 1
}

test_says_what_a_secret_object_holds if {
	found := on(resources.with_text({"place": "secret", "name": "note", "text": "open-sesame", "path": "data.note"}))
	{item.message | some item in found} == {"data.note holds a value of a Secret in plain text"}
}

test_what_is_neither_governed_nor_on_a_cluster_is_not_looked_into if {
	change := {"texts": [object.union(resources.text, {"name": "A_KEY", "text": "open-sesame"})]}
	on(resources.changed(object.union(change, {"type": "aws:s3/bucket:Bucket"}))) == set()
	every kind in ["kubernetes:core:ConfigMap", "azure-native:cognitiveservices:Account"] {
		fixtures.verdicts(on(resources.changed(object.union(change, {"type": kind, "asks": [], "runs": []})))) == {"deny"}
	}
}

test_hidden_texts_of_what_is_not_looked_into_are_allowed if {
	every state in ["secret", "unknown"] {
		change := {"texts": [object.union(resources.text, {"text": null, "state": state})]}
		on(resources.changed(object.union(change, {"type": "aws:s3/bucket:Bucket"}))) == set()
	}
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
	every field in ["place", "name", "state", "text"] {
		found := on(resources.changed({"texts": [object.remove(resources.text, [field])]}))
		some item in found
		item.verdict == "deny"
		item.subject == "kubernetes:apps/v1:Deployment::gpu-chat"
		item.expected == sprintf("a value for the %v of a text", [field])
		item.evidence == sprintf("/resources/0/texts/0/%v", [field])
	}
}
