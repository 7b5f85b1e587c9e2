"""Properties of waivers over any findings: one of them changes, and only as far as it may."""

from __future__ import annotations

import datetime as dt
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.policy.verdicts import Citation, Finding
from planner.policy.waivers import (
    VerifiedWaiver,
    WaiverBook,
    apply_waivers,
    begins,
    liveness,
    used,
)
from tests.policy.waiving import NOW, waiver

RULE_ROLES = {"MOD-001": "ai_risk", "EXI-001": "compliance", "RES-001": "ai_risk"}
MODELS = ("gpt-5.9", "gpt-5.8")
REGIONS = ("eastus", "westus")

subjects = [
    (f"{workload}/{model}/{region}", {"workload": workload, "model": model, "region": region})
    for workload in ("chat", "search")
    for model in MODELS
    for region in REGIONS
]
FACTS: dict[str, dict[str, Any]] = {name: {"stack": "prod", **facts} for name, facts in subjects}


def finding(rule: str, subject: str, verdict: Any) -> Finding:
    return Finding(
        rule_id=rule,
        title=rule,
        severity="critical" if rule.startswith("RES-") else "high",
        verdict=verdict,
        raw_verdict=verdict,
        message="m",
        remedy="r",
        citation=Citation(document="d", clause="c"),
        waivable_by=(RULE_ROLES[rule],),
        subject=subject,
        observed=None,
        expected=None,
        evidence="/options/0",
    )


keys = st.tuples(st.sampled_from(sorted(RULE_ROLES)), st.sampled_from(sorted(FACTS)))
findings = st.dictionaries(keys, st.sampled_from(["deny", "warn", "unavailable"]), max_size=24).map(
    lambda rows: [finding(rule, subject, verdict) for (rule, subject), verdict in rows.items()]
)
moments = st.datetimes(dt.datetime(2026, 11, 1), dt.datetime(2027, 2, 1), timezones=st.just(dt.UTC))


@st.composite
def waivers(draw: Any) -> VerifiedWaiver:
    rule, subject = draw(keys)
    facts = FACTS[subject]
    narrowed = draw(st.sets(st.sampled_from(["model", "region"]), min_size=1))
    return waiver(
        id=f"WVR-{draw(st.integers(1, 999))}",
        rule=rule,
        subject=draw(st.sampled_from([subject, facts["workload"], "other"])),
        scope={
            "stack": draw(st.sampled_from(["prod", "prod", "prod", "dev"])),
            **{key: facts[key] for key in narrowed},
        },
        approval={
            "role": draw(st.sampled_from(["ai_risk", "compliance"])),
            "verified_by": draw(st.sampled_from(["signature", "review"])),
            "at": draw(moments),
        },
    )


def applied(rows: list[Finding], *book: VerifiedWaiver) -> tuple[Finding, ...]:
    return apply_waivers(rows, WaiverBook(waivers=book), NOW, FACTS.__getitem__)


def covers(own: VerifiedWaiver, found: Finding) -> bool:
    """Say in other words than the code's whether a waiver is of a finding."""
    facts = FACTS[found.subject]
    named = own.subject == found.subject or own.subject == facts["workload"]
    inside = set(own.scope.items()) <= set(facts.items())
    owned = own.approval.role == RULE_ROLES[found.rule_id]
    return own.rule == found.rule_id and named and inside and owned


@given(rows=findings, own=waivers())
def test_a_waiver_changes_the_denials_it_names_and_nothing_else(
    rows: list[Finding], own: VerifiedWaiver
) -> None:
    live = own.granted <= NOW < own.expires and own.approval.at <= NOW
    for before, after in zip(rows, applied(rows, own), strict=True):
        waivable = before.raw_verdict == "deny" and not before.rule_id.startswith("RES-")
        if live and waivable and covers(own, before):
            changed = {"verdict": "warn", "waiver": used(own)}
            assert after == before.model_copy(update=changed)
        else:
            assert after == before


@given(rows=findings, at=st.integers(0, 23))
def test_adding_a_waiver_for_one_finding_changes_exactly_that_one(
    rows: list[Finding], at: int
) -> None:
    denied = [row for row in rows if row.verdict == "deny" and not row.rule_id.startswith("RES-")]
    if not denied:
        return
    target = denied[at % len(denied)]
    facts = FACTS[target.subject]
    own = waiver(
        rule=target.rule_id,
        subject=target.subject,
        scope={"stack": "prod", "model": facts["model"]},
        approval={
            "role": RULE_ROLES[target.rule_id], "verified_by": "review", "at": NOW,
        },
    )  # fmt: skip
    after = applied(rows, own)
    differing = [(b, a) for b, a in zip(rows, after, strict=True) if a != b]
    assert differing == [
        (target, target.model_copy(update={"verdict": "warn", "waiver": used(own)}))
    ]


@given(rows=findings, book=st.lists(waivers(), max_size=4))
def test_no_waiver_touches_what_is_unavailable_or_the_raw_verdict(
    rows: list[Finding], book: list[VerifiedWaiver]
) -> None:
    for before, after in zip(rows, applied(rows, *book), strict=True):
        assert after.raw_verdict == before.raw_verdict
        if before.verdict in ("unavailable", "warn"):
            assert after == before


@given(rows=findings, book=st.lists(waivers(), max_size=4), more=waivers())
def test_another_waiver_never_takes_one_away(
    rows: list[Finding], book: list[VerifiedWaiver], more: VerifiedWaiver
) -> None:
    fewer, all_of_them = applied(rows, *book), applied(rows, *book, more)
    for one, other in zip(fewer, all_of_them, strict=True):
        assert one == other or one.waiver is None


@given(own=waivers(), at=moments)
def test_a_waiver_lives_once_from_its_beginning_to_its_expiry(
    own: VerifiedWaiver, at: dt.datetime
) -> None:
    state = liveness(own, at)
    assert (state == "live") == (own.granted <= at < own.expires and own.approval.at <= at)
    if begins(own) < own.expires:
        tick = dt.timedelta(microseconds=1)
        assert liveness(own, begins(own) - tick) == "not yet granted"
        assert liveness(own, begins(own)) == liveness(own, own.expires - tick) == "live"
        assert liveness(own, own.expires) == "expired"
