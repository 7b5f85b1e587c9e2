package llm_capacity_test.supply.egress

import data.llm_capacity.lib.classifications
import data.llm_capacity.rules.supply.egress as subject
import data.llm_capacity_test.fixtures

hosts := {
	"registry.example": {"countries": [], "purposes": ["images", "logs"]},
	"watch.example": {"countries": ["AU"], "purposes": ["telemetry", "logs", "other"]},
	"far.watch.example": {"countries": ["US"], "purposes": ["telemetry"]},
}

# A row of egress changed, of a workload with a classification.
reaching(change, classification) := fixtures.under(
	fixtures.planning({"classification": classification}),
	{"egress": [object.union(fixtures.egress, change)]},
)

test_allows_what_is_fetched_from_an_admitted_host if {
	every host in ["registry.example", "eu.registry.example", "a.b.registry.example"] {
		count(subject.findings) == 0 with input as reaching({"host": host}, "restricted")
			with data.llm_capacity.facts.egress_hosts.hosts as hosts
	}
	count(subject.findings) == 0 with input as fixtures.under(fixtures.plan, {"egress": []})
}

test_allows_what_leaves_inside_the_residency if {
	every purpose in ["telemetry", "logs", "other"] {
		count(subject.findings) == 0 with input as reaching({"host": "watch.example", "purpose": purpose}, "restricted")
			with data.llm_capacity.facts.egress_hosts.hosts as hosts
	}
}

test_denies_a_host_that_is_not_listed if {
	every host in ["other.example", "evilregistry.example", "registry.example.org", "example", "", 7] {
		every purpose in ["images", "weights", "telemetry"] {
			every classification in ["confidential", "restricted", "secret", null] {
				found := subject.findings with input as reaching({"host": host, "purpose": purpose}, classification)
					with data.llm_capacity.facts.egress_hosts.hosts as hosts
				fixtures.verdicts(found) == {"deny"}
				fixtures.well_formed(found, "EGR-001")
			}
		}
	}
}

test_warns_for_less_sensitive_data if {
	every classification in ["public", "internal"] {
		every purpose in ["images", "weights", "telemetry"] {
			found := subject.findings with input as reaching({"host": "other.example", "purpose": purpose}, classification)
				with data.llm_capacity.facts.egress_hosts.hosts as hosts
			fixtures.verdicts(found) == {"warn"}
			fixtures.well_formed(found, "EGR-001")
		}
	}
}

test_denies_another_purpose_than_the_listed_ones if {
	every purpose in ["weights", "telemetry", "whatever", null] {
		found := subject.findings with input as reaching({"purpose": purpose}, "confidential")
			with data.llm_capacity.facts.egress_hosts.hosts as hosts
		fixtures.verdicts(found) == {"deny"}
	}
}

test_denies_what_leaves_the_residency if {
	found := subject.findings with input as reaching({"host": "far.watch.example", "purpose": "telemetry"}, "confidential")
		with data.llm_capacity.facts.egress_hosts.hosts as hosts
	fixtures.verdicts(found) == {"deny"}
	everywhere := subject.findings with input as reaching({"host": "registry.example", "purpose": "logs"}, "confidential")
		with data.llm_capacity.facts.egress_hosts.hosts as hosts
	fixtures.verdicts(everywhere) == {"deny"}
}

test_the_nearest_domain_counts if {
	plan := reaching({"host": "a.far.watch.example", "purpose": "logs"}, "confidential")
	found := subject.findings with input as plan with data.llm_capacity.facts.egress_hosts.hosts as hosts
	{one.expected.admitted_for | some one in found} == {["telemetry"]}
	near := reaching({"host": "near.watch.example", "purpose": "logs"}, "confidential")
	count(subject.findings) == 0 with input as near with data.llm_capacity.facts.egress_hosts.hosts as hosts
}

test_an_unknown_workload_denies if {
	found := subject.findings with input as reaching({"workload": "other", "host": "other.example"}, "public")
		with data.llm_capacity.facts.egress_hosts.hosts as hosts
	fixtures.verdicts(found) == {"deny"}
	leaving := subject.findings with input as reaching({"workload": "other", "host": "watch.example", "purpose": "logs"}, "public")
		with data.llm_capacity.facts.egress_hosts.hosts as hosts
	fixtures.verdicts(leaving) == {"deny"}
}

test_missing_fields_deny if {
	every field in ["host", "purpose", "workload"] {
		plan := fixtures.under(fixtures.plan, {"egress": [object.remove(fixtures.egress, [field])]})
		found := subject.findings with input as plan with data.llm_capacity.facts.egress_hosts.hosts as hosts
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "EGR-001")
		sprintf("a value for the %v of its egress", [field]) in {one.expected | some one in found}
	}
	every plan in [
		object.remove(fixtures.plan, ["egress"]),
		fixtures.under(fixtures.plan, {"egress": null}),
		fixtures.under(fixtures.plan, {"egress": {"chat": fixtures.egress}}),
	] {
		found := subject.findings with input as plan with data.llm_capacity.facts.egress_hosts.hosts as hosts
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "EGR-001")
	}
}

test_every_row_is_complete if {
	facts := data.llm_capacity.facts.egress_hosts
	object.keys(facts.verdicts) == {name | some name in classifications.order}
	every name, row in facts.hosts {
		regex.match(`^[a-z0-9.-]+\.[a-z]+$`, name)
		is_array(row.countries)
		{purpose | some purpose in row.purposes} - {"images", "weights", "telemetry", "logs", "other"} == set()
		count(row.purposes) > 0
		count(row.source) > 0
		regex.match(`^\d{4}-\d{2}-\d{2}$`, row.as_of)
	}
}

test_public_registries_are_listed if {
	every host, purpose in {"docker.io": "images", "westeurope.data.mcr.microsoft.com": "images", "huggingface.co": "weights"} {
		count(subject.findings) == 0 with input as reaching({"host": host, "purpose": purpose}, "restricted")
	}
	every host, purpose in {"docker.io": "weights", "huggingface.co": "telemetry"} {
		count(subject.findings) == 1 with input as reaching({"host": host, "purpose": purpose}, "restricted")
	}
}

# Word for word: what a reader sees.
test_words_about_a_host_abroad if {
	found := subject.findings with input as reaching({"host": "far.watch.example", "purpose": "telemetry"}, "internal")
		with data.llm_capacity.facts.egress_hosts.hosts as hosts
	fixtures.said(found) == {{"evidence": "/egress/0/host", "expected": {"admitted_for": ["telemetry"], "countries": ["US"], "residency": ["AU"]}, "message": "chat reaches far.watch.example for telemetry, which is not admitted for its internal data", "observed": {"host": "far.watch.example", "purpose": "telemetry"}, "subject": "chat", "verdict": "warn"}}
}

test_words_about_a_host_that_is_not_listed if {
	found := subject.findings with input as reaching({"host": "other.example"}, "confidential")
		with data.llm_capacity.facts.egress_hosts.hosts as hosts
	fixtures.said(found) == {{"evidence": "/egress/0/host", "expected": {"admitted_for": "<missing>", "countries": "<missing>", "residency": ["AU"]}, "message": "chat reaches other.example for images, which is not admitted for its confidential data", "observed": {"host": "other.example", "purpose": "images"}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_missing_fields if {
	plan := fixtures.under(fixtures.plan, {"egress": [object.remove(fixtures.egress, ["host"])]})
	found := subject.findings with input as plan with data.llm_capacity.facts.egress_hosts.hosts as hosts
	fixtures.said(found) == {
		{"evidence": "/egress/0", "expected": "a value for the host of its egress", "message": "chat does not state the host of its egress, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"},
		{"evidence": "/egress/0/host", "expected": {"admitted_for": "<missing>", "countries": "<missing>", "residency": ["AU"]}, "message": "chat reaches <missing> for images, which is not admitted for its confidential data", "observed": {"host": "<missing>", "purpose": "images"}, "subject": "chat", "verdict": "deny"},
	}
	bare := subject.findings with input as object.remove(fixtures.plan, ["egress"])
	fixtures.said(bare) == {{"evidence": "/egress", "expected": "a value for its egress", "message": "stack does not state its egress, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"}}
}
