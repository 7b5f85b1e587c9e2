package llm_capacity.rules.resources.as_planned_test

import data.llm_capacity.rules.resources.as_planned
import data.llm_capacity_test.fixtures
import data.llm_capacity_test.resources

on(question) := found if {
	found := as_planned.findings with input as question
}

denies(question) if {
	found := on(question)
	fixtures.verdicts(found) == {"deny"}
	fixtures.well_formed(found, "RSC-001")
}

test_allows_what_the_plan_has if on(resources.asking([resources.row])) == set()

test_allows_what_nobody_governs if {
	on(resources.beside({
		"type": "kubernetes:core:ConfigMap", "identity": "llm/other", "asks": ["cpu"], "runs": [],
	})) == set()
	on(resources.beside({
		"type": "aws:s3/bucket:Bucket", "identity": "b", "asks": ["nvidia.com/gpu"], "runs": ["vllm"], "opaque": true,
	})) == set()
}

test_allows_other_programs_on_a_cluster if {
	on(resources.beside({"identity": "llm/web", "asks": ["cpu", "memory"], "runs": ["registry.example/web:1"]})) == set()
}

test_denies_a_server_beside_the_plan if {
	found := on(resources.beside({"identity": "llm/shadow", "subject": "shadow"}))
	fixtures.said(found) == {{
		"verdict": "deny",
		"subject": "shadow",
		"message": "shadow is beside the plan: the plan has no such resource",
		"observed": {"type": "kubernetes:apps:Deployment", "identity": "llm/shadow"},
		"expected": "a resource that the plan emits",
		"evidence": "/resources/1",
	}}
	fixtures.well_formed(found, "RSC-001")
}

test_denies_whatever_asks_for_an_accelerator if {
	denies(resources.beside({"identity": "x", "runs": [], "asks": ["amd.com/gpu"]}))
	denies(resources.beside({"identity": "x", "type": "kubernetes:ray.io:RayCluster", "runs": []}))
	denies(resources.beside({"identity": "x", "asks": [], "runs": ["registry.example/VLLM-openai:v1"]}))
	denies(resources.beside({"identity": "x", "asks": [], "runs": [], "opaque": true}))
}

test_denies_a_listed_type_whatever_it_runs if {
	denies(resources.beside({
		"type": "azure-native:cognitiveservices:Deployment", "identity": "main/x", "asks": [], "runs": [],
	}))
	denies(resources.beside({"type": "kubernetes:apps:DeploymentPatch", "identity": "llm/chat", "asks": [], "runs": []}))
}

test_one_name_of_two_types_is_two_things if {
	denies(resources.beside({"type": "kubernetes:apps:StatefulSet"}))
}

test_denies_an_edited_value_by_field if {
	question := resources.changed({"fields": object.union(resources.fields, {"spec.replicas": 3})})
	found := on(question)
	fixtures.said(found) == {{
		"verdict": "deny",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "kubernetes:apps/v1:Deployment::gpu-chat is not what the plan decided: spec.replicas",
		"observed": {"spec.replicas": 3},
		"expected": {"spec.replicas": 2},
		"evidence": "/resources/0/fields",
	}}
	fixtures.well_formed(found, "RSC-001")
}

test_denies_a_value_more_or_less_than_planned if {
	more := on(resources.changed({"fields": object.union(resources.fields, {"spec.paused": true})}))
	{found.expected | some found in more} == {{"spec.paused": "<missing>"}}
	fewer := on(resources.changed_fields(object.remove(resources.fields, ["spec.replicas"])))
	{found.observed | some found in fewer} == {{"spec.replicas": "<missing>"}}
}

test_compares_what_the_plan_has_though_its_type_is_not_listed if {
	question := object.union(
		resources.asking([object.union(resources.row, {
			"type": "kubernetes:core:Service", "asks": [], "runs": [], "fields": {"spec.type": "LoadBalancer"},
		})]),
		{"planned": [object.union(resources.planned, {
			"type": "kubernetes:core:Service", "fields": {"spec.type": "ClusterIP"},
		})]},
	)
	denies(question)
}

test_names_all_fields_in_order if {
	found := on(resources.changed({"fields": object.union(resources.fields, {"spec.replicas": 3, "a": 1})}))
	{item.message | some item in found} == {"kubernetes:apps/v1:Deployment::gpu-chat is not what the plan decided: a, spec.replicas"}
}

test_never_shows_what_may_be_a_secret if {
	every field, value in {
		"spec.template.spec.containers[vllm].env[MODE].value": "x",
		"spec.template.spec.containers[vllm].args --api-key": "x",
		"data.note": "hf_0123456789012345678901234567890123",
	} {
		found := on(resources.changed({"fields": object.union(resources.fields, {field: value})}))
		{item.observed | some item in found} == {{field: "a value that is not shown"}}
	}
}

test_allows_any_value_of_a_free_field if {
	question := object.union(
		resources.changed({"fields": object.union(resources.fields, {"spec.replicas": 9})}),
		{"planned": [object.union(resources.planned, {"free": ["spec.replicas"]})]},
	)
	on(question) == set()
}

test_allows_an_optional_field_to_be_left_out_only if {
	planned := object.union(resources.planned, {"optional": ["spec.replicas"]})
	without := resources.changed_fields(object.remove(resources.fields, ["spec.replicas"]))
	on(object.union(without, {"planned": [planned]})) == set()
	other := resources.changed_fields(object.union(resources.fields, {"spec.replicas": 3}))
	denies(object.union(other, {"planned": [planned]}))
}

test_denies_one_thing_twice if {
	found := on(resources.beside({"subject": "again"}))
	fixtures.said(found) == {{
		"verdict": "deny",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "kubernetes:apps/v1:Deployment::gpu-chat and again are one thing: what the one sets the other undoes",
		"observed": {"identity": "llm/chat"},
		"expected": "one resource for each thing",
		"evidence": "/resources/0",
	}}
}

test_a_thing_twice_that_nobody_governs_is_allowed if {
	other := object.union(resources.row, {"type": "kubernetes:core:ConfigMap", "asks": [], "runs": []})
	on(resources.asking([resources.row, other, other])) == set()
}

test_unavailable_where_a_name_is_not_known if {
	found := on(resources.beside({"identity": null, "subject": "named later", "unknown": ["metadata.name"]}))
	fixtures.said(found) == {{
		"verdict": "unavailable",
		"subject": "named later",
		"message": "named later cannot be compared with the plan: its name is not known before the change",
		"observed": {"unknown": ["metadata.name"]},
		"expected": "a name that is known before the change",
		"evidence": "/resources/1/identity",
	}}
	on(resources.beside({
		"identity": null, "type": "kubernetes:core:ConfigMap", "asks": [], "runs": [],
	})) == set()
}

test_unavailable_where_a_value_is_not_known if {
	without := object.union(object.remove(resources.row, ["fields"]), {
		"fields": object.remove(resources.fields, ["spec.replicas"]),
		"unknown": ["spec.replicas"],
	})
	question := resources.asking([without])
	found := on(question)
	fixtures.said(found) == {{
		"verdict": "unavailable",
		"subject": "kubernetes:apps/v1:Deployment::gpu-chat",
		"message": "kubernetes:apps/v1:Deployment::gpu-chat cannot be compared with the plan: not known before the change are spec.replicas",
		"observed": {"unknown": ["spec.replicas"]},
		"expected": "the plan's own values, which are known before the change",
		"evidence": "/resources/0/unknown",
	}}
	on(object.union(question, {"planned": [object.union(resources.planned, {"free": ["spec.replicas"]})]})) == set()
}

test_warns_of_what_is_missing_from_the_whole_stack if {
	found := on(resources.asking([]))
	fixtures.verdicts(found) == {"warn"}
	fixtures.said(found) == {{
		"verdict": "warn",
		"subject": "kubernetes:apps/v1:Deployment::chat",
		"message": "kubernetes:apps/v1:Deployment::chat is in the plan and not in the stack",
		"observed": "no such resource",
		"expected": {"type": "kubernetes:apps:Deployment", "identity": "llm/chat"},
		"evidence": "/planned/0",
	}}
	on(object.union(resources.asking([]), {"complete": false})) == set()
	other := object.union(resources.row, {"identity": "llm/web", "asks": [], "runs": []})
	fixtures.verdicts(on(resources.asking([other]))) == {"warn"}
}

test_denies_missing_fields_of_rows if {
	every field in ["type", "identity", "fields", "unknown", "asks", "runs", "opaque"] {
		found := on(resources.asking([object.remove(resources.row, [field])]))
		some item in found
		item.verdict == "deny"
		item.evidence == sprintf("/resources/0/%v", [field])
		item.message == sprintf(
			"kubernetes:apps/v1:Deployment::gpu-chat does not state its %v, so the rule cannot be shown to hold",
			[field],
		)
	}
	every field in ["type", "identity", "fields", "free", "optional"] {
		found := on(object.union(resources.asking([resources.row]), {"planned": [object.remove(resources.planned, [field])]}))
		some item in found
		item.verdict == "deny"
		item.evidence == sprintf("/planned/0/%v", [field])
	}
}

test_denies_missing_lists if {
	every field in ["complete", "planned", "resources"] {
		found := on(object.remove(resources.asking([resources.row]), [field]))
		some item in found
		item.verdict == "deny"
		item.subject == "stack"
		item.evidence == sprintf("/%v", [field])
	}
}
