# Inputs of the rules' tests: one compliant option and one compliant decision.
package llm_capacity_test.fixtures

workload := {
	"name": "chat",
	"tier": "interactive",
	"critical": false,
	"classification": "confidential",
	"residency": {"jurisdictions": ["AU"], "countries": ["AU"]},
}

option := {
	"id": "chat/payg",
	"workload": "chat",
	"kind": "payg",
	"model": "gpt-4.1-mini",
	"provider": "azure",
	"region": "australiaeast",
	"deployment_type": "Standard",
	"scope": "country",
	"jurisdictions": ["AU"],
	"operator_class": "managed_service",
	"account": "main",
	"hardware": null,
	"term_months": 0,
	"spill": null,
	"pinned": false,
	"partition": "public",
	"key_custody": "customer_managed",
	"evaluation": {
		"suite": "support-answers",
		"score": 0.91,
		"threshold": 0.85,
		"date": "2026-10-01",
		"ref": "eval/2026-10/support",
	},
	"deployment_key": null,
	"beyond_inference": {concern: [{
		"role": "option",
		"place": "region",
		"countries": ["AU"],
		"as_of": "2026-11-29",
	}] |
		some concern in data.llm_capacity.facts.beyond_inference.concerns
	},
}

spill := {
	"provider": "azure",
	"account": "main",
	"region": "australiaeast",
	"deployment_type": "Standard",
	"scope": "country",
	"jurisdictions": ["AU"],
	"operator_class": "managed_service",
	"partition": "public",
	"key_custody": "customer_managed",
}

decision := {
	"workload": "chat",
	"owner": "support team",
	"signed_off_by": "customer data owner",
	"data_asset": "customer questions",
	"tier": "interactive",
	"classification": "confidential",
	"residency": {"jurisdictions": ["AU"], "countries": ["AU"]},
	"baseline": null,
	"critical": true,
	"tokens_per_month": 1000000,
	"register_id": "VR-0142",
	"option": object.remove(option, ["deployment_key", "beyond_inference", "evaluation"]),
	"deployment_key": "azure/main/chat",
	"total_usd_per_month": 1000,
	"term_months": 0,
	"horizon_months": 12,
	"retires_on": null,
	"successor": null,
	"exit_plan": {
		"tested_on": "2026-09-01",
		"alternative": "Qwen/Qwen3-32B on own nodes",
		"stressed": true,
	},
	"latency_basis": "measured",
	"capacity_confirmed": true,
}

# What both questions say of the run.
terms := {
	"as_of": "2026-12-01",
	"operation": "preview",
	"regimes": [],
	"agreements": [],
}

server := {
	"name": "chat",
	"workload": "chat",
	"cluster": "gpu",
	"image": "vllm/vllm-openai:v0.33.0",
	"image_digest": "sha256:0000000000000000000000000000000000000000000000000000000000000001",
	"model": "Qwen/Qwen3-32B",
	"model_source": "claim",
	"model_revision": "0000000000000000000000000000000000000001",
}

pool := {
	"name": "interactive-gpu",
	"cluster": "gpu",
	"region": "australiaeast",
	"country": "AU",
	"tier": "interactive",
	"workloads": ["chat"],
}

egress := {"cluster": "gpu", "workload": "chat", "host": "registry.example", "purpose": "images"}

purchase := {
	"workload": "chat",
	"order_digest": "sha256:0000000000000000000000000000000000000000000000000000000000000002",
	"units": 50,
	"term_months": 12,
	"usd_per_month": 10000,
	"bought_by": "person",
	"signed": true,
}

plan := object.union(terms, {
	"stage": "plan",
	"baseline": null,
	"budget_usd_per_month": 5000,
	"total_usd_per_month": 1000,
	"decisions": [decision],
	"servers": [server],
	"pools": [pool],
	"egress": [egress],
	"purchases": [purchase],
})

# A question with other terms: another operation, regimes, agreements or date.
under(question, change) := object.union(question, change)

# The question about one option of one workload, each changed or with keys taken away.
asking(option_change, workload_change) := object.union(terms, {
	"stage": "options",
	"workloads": {"chat": object.union(workload, workload_change)},
	"options": [object.union(option, option_change)],
})

asking_without(option_keys, workload_keys) := object.union(terms, {
	"stage": "options",
	"workloads": {"chat": object.remove(workload, workload_keys)},
	"options": [object.remove(option, option_keys)],
})

planning(change) := object.union(plan, {"decisions": [object.union(decision, change)]})

planning_without(keys) := object.union(plan, {"decisions": [object.remove(decision, keys)]})

# What a reader sees of findings, word for word.
said(findings) := {object.filter(found, ["verdict", "subject", "message", "observed", "expected", "evidence"]) |
	some found in findings
}

verdicts(findings) := {found.verdict | some found in findings}

# Every field that the caller insists on is there, and says something.
well_formed(findings, id) if {
	count(findings) > 0
	every found in findings {
		found.rule_id == id
		found.severity in {"low", "medium", "high", "critical"}
		count(found.title) > 0
		count(found.remedy) > 0
		count(found.citation.document) > 0
		count(found.citation.clause) > 0
		is_array(found.waivable_by)
		count(found.message) > 0
		count(found.subject) > 0
		startswith(found.evidence, "/")
		found.verdict == found.raw_verdict
		not "<missing>" in {found.title, found.remedy, found.severity, found.citation}
		object.keys(found) == {
			"rule_id", "title", "severity", "remedy", "citation", "waivable_by", "verdict", "raw_verdict",
			"subject", "message", "observed", "expected", "evidence",
		}
	}
}
