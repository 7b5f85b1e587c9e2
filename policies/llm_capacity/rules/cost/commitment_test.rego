package llm_capacity_test.cost.commitment

import data.llm_capacity.rules.cost.commitment as subject
import data.llm_capacity_test.fixtures

buying(change, operation) := fixtures.under(fixtures.plan, {
	"operation": operation,
	"purchases": [object.union(fixtures.purchase, change)],
})

test_allows_what_is_signed_or_hourly if {
	every operation in ["preview", "update"] {
		count(subject.findings) == 0 with input as buying({}, operation)
		count(subject.findings) == 0 with input as buying({"signed": false, "term_months": 0}, operation)
		count(subject.findings) == 0 with input as fixtures.under(fixtures.plan, {"operation": operation, "purchases": []})
	}
}

test_an_unsigned_commitment_warns_at_a_preview if {
	found := subject.findings with input as buying({"signed": false}, "preview")
	fixtures.verdicts(found) == {"warn"}
	fixtures.well_formed(found, "COM-001")
}

test_an_unsigned_commitment_is_denied_before_a_change if {
	every operation in ["update", "destroy", null] {
		every signed in [false, null, "yes", 1] {
			found := subject.findings with input as buying({"signed": signed}, operation)
			fixtures.verdicts(found) == {"deny"}
			fixtures.well_formed(found, "COM-001")
		}
	}
}

test_whoever_buys_needs_the_signature if {
	found := subject.findings with input as buying({"signed": false, "bought_by": "program"}, "update")
	fixtures.verdicts(found) == {"deny"}
}

test_the_shortest_term_counts if {
	found := subject.findings with input as buying({"signed": false, "term_months": 1, "usd_per_month": 0}, "update")
	fixtures.verdicts(found) == {"deny"}
}

test_an_unknown_term_or_price_needs_the_signature if {
	every change in [{"term_months": null}, {"term_months": "12"}, {"usd_per_month": null}, {"usd_per_month": "10"}] {
		found := subject.findings with input as buying(object.union({"signed": false}, change), "update")
			with data.llm_capacity.facts.commitments.free_below_usd_over_term as 1000000
		fixtures.verdicts(found) == {"deny"}
	}
}

test_small_sums_are_free_where_policy_data_says_so if {
	plan := buying({"signed": false, "term_months": 12, "usd_per_month": 10}, "update")
	count(subject.findings) == 0 with input as plan with data.llm_capacity.facts.commitments.free_below_usd_over_term as 120.5
	count(subject.findings) == 1 with input as plan with data.llm_capacity.facts.commitments.free_below_usd_over_term as 120
	nothing := buying({"signed": false, "term_months": 12, "usd_per_month": 0}, "update")
	count(subject.findings) == 0 with input as nothing with data.llm_capacity.facts.commitments.free_below_usd_over_term as 1
}

test_no_sum_is_below_nothing if {
	every change in [{"term_months": -12}, {"usd_per_month": -10}] {
		found := subject.findings with input as buying(object.union({"signed": false}, change), "update")
		fixtures.verdicts(found) == {"deny"}
	}
}

test_missing_fields_deny if {
	every field in ["signed", "term_months", "usd_per_month"] {
		found := subject.findings with input as fixtures.under(fixtures.plan, {"purchases": [object.remove(fixtures.purchase, [field])]})
		"deny" in fixtures.verdicts(found)
		fixtures.well_formed(found, "COM-001")
	}
	every plan in [
		object.remove(fixtures.plan, ["purchases"]),
		object.remove(fixtures.plan, ["operation"]),
		fixtures.under(fixtures.plan, {"purchases": null}),
		fixtures.under(fixtures.plan, {"purchases": {"chat": fixtures.purchase}}),
	] {
		found := subject.findings with input as plan
		fixtures.verdicts(found) == {"deny"}
		fixtures.well_formed(found, "COM-001")
	}
}

test_the_limit_of_policy_data if {
	data.llm_capacity.facts.commitments.free_below_usd_over_term == 0
	count(data.llm_capacity.facts.commitments.source) > 0
}

# Word for word: what a reader sees.
test_words_about_an_unsigned_commitment if {
	found := subject.findings with input as buying({"signed": false}, "update")
	fixtures.said(found) == {{"evidence": "/purchases/0/signed", "expected": {"signed": true}, "message": "chat would be bound for 12 months at USD 10000 a month, and nobody has signed", "observed": {"order_digest": fixtures.purchase.order_digest, "signed": false}, "subject": "chat", "verdict": "deny"}}
}

test_words_about_missing_fields if {
	found := subject.findings with input as fixtures.under(fixtures.plan, {"purchases": [object.remove(fixtures.purchase, ["usd_per_month"])]})
	fixtures.said(found) == {{"evidence": "/purchases/0", "expected": "a value for the usd_per_month of its purchase", "message": "chat does not state the usd_per_month of its purchase, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "chat", "verdict": "deny"}}
	bare := subject.findings with input as object.remove(fixtures.plan, ["purchases", "operation"])
	fixtures.said(bare) == {
		{"evidence": "/purchases", "expected": "a value for its purchases", "message": "stack does not state its purchases, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
		{"evidence": "/operation", "expected": "a value for its operation", "message": "stack does not state its operation, so the rule cannot be shown to hold", "observed": "<missing>", "subject": "stack", "verdict": "deny"},
	}
}
