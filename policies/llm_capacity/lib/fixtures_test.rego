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
}

decision := {
	"workload": "chat",
	"tier": "interactive",
	"classification": "confidential",
	"critical": true,
	"option": object.remove(option, ["deployment_key", "beyond_inference"]),
	"deployment_key": "azure/main/chat",
	"total_usd_per_month": 1000,
	"term_months": 0,
	"horizon_months": 12,
	"retires_on": null,
	"successor": null,
	"exit_plan": {"tested_on": "2026-09-01", "alternative": "Qwen/Qwen3-32B on own nodes"},
	"latency_basis": "measured",
	"capacity_confirmed": true,
}

# The question about one option of one workload, each changed or with keys taken away.
asking(option_change, workload_change) := {
	"stage": "options",
	"workloads": {"chat": object.union(workload, workload_change)},
	"options": [object.union(option, option_change)],
}

asking_without(option_keys, workload_keys) := {
	"stage": "options",
	"workloads": {"chat": object.remove(workload, workload_keys)},
	"options": [object.remove(option, option_keys)],
}

planning(change) := {
	"stage": "plan",
	"as_of": "2026-12-01",
	"budget_usd_per_month": 5000,
	"total_usd_per_month": 1000,
	"decisions": [object.union(decision, change)],
}

planning_without(keys) := {
	"stage": "plan",
	"as_of": "2026-12-01",
	"budget_usd_per_month": 5000,
	"total_usd_per_month": 1000,
	"decisions": [object.remove(decision, keys)],
}

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
		count(found.message) > 0
		count(found.subject) > 0
		startswith(found.evidence, "/")
		found.verdict == found.raw_verdict
		not "<missing>" in {found.title, found.remedy, found.severity, found.citation}
		object.keys(found) == {
			"rule_id", "title", "severity", "remedy", "citation", "verdict", "raw_verdict",
			"subject", "message", "observed", "expected", "evidence",
		}
	}
}
