# Inputs of the tests of rules about resources: one server, as planned and as registered.
package llm_capacity_test.resources

import data.llm_capacity_test.fixtures

fields := {
	"provider.clusterIdentifier": "gpu",
	"spec.replicas": 2,
	"spec.template.spec.containers[vllm].image": "registry.example/vllm@sha256:0001",
}

planned := {
	"type": "kubernetes:apps:Deployment",
	"identity": "llm/chat",
	"subject": "kubernetes:apps/v1:Deployment::chat",
	"workload": "chat",
	"fields": fields,
	"free": [],
	"optional": [],
	"scope": {"model": "Qwen/Qwen3-32B"},
}

row := {
	"type": "kubernetes:apps:Deployment",
	"identity": "llm/chat",
	"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
	"workload": "chat",
	"fields": fields,
	"urn": "urn:pulumi:prod::llm-capacity::kubernetes:apps/v1:Deployment::gpu-chat",
	"unknown": [],
	"asks": ["cpu", "nvidia.com/gpu"],
	"runs": ["registry.example/vllm@sha256:0001", "serve"],
	"opaque": false,
	"texts": [],
}

text := {
	"path": "spec.template.spec.containers[vllm].env[HOME].value",
	"place": "env",
	"name": "HOME",
	"text": "/home/llm",
	"state": "plain",
}

# A question about these rows, with the one planned row.
asking(rows) := object.union(fixtures.terms, {
	"stage": "resources",
	"complete": true,
	"planned": [planned],
	"resources": rows,
})

# About the one row, changed.
changed(change) := asking([object.union(row, change)])

# About the one row beside others that the plan has not.
beside(change) := asking([row, object.union(row, change)])

# About the planned row, changed.
wanting(change) := object.union(asking([row]), {"planned": [object.union(planned, change)]})

# About one text of the row, changed.
with_text(change) := changed({"texts": [object.union(text, change)]})

# About the one row, with exactly these fields.
changed_fields(exactly) := asking([object.union(object.remove(row, ["fields"]), {"fields": exactly})])
