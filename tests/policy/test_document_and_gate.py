"""The questions are plain, and every option gets a verdict of its own."""

from __future__ import annotations

import datetime as dt
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

from planner.errors import PolicyUnavailable
from planner.policy.answer import worst
from planner.policy.document import digest, plain
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options, gate_plan


def test_the_residency_carries_its_expansion(make: SimpleNamespace) -> None:
    workload = make.workload(jurisdictions=("EEA", "GB"))
    document = make.question([], workload)
    residency = document["workloads"]["chat"]["residency"]
    assert residency["jurisdictions"] == ["EEA", "GB"]
    assert len(residency["countries"]) == 31
    assert {"NO", "GB"} <= set(residency["countries"])


def test_nothing_private_is_sent(make: SimpleNamespace) -> None:
    text = json.dumps(make.question([make.option()]))
    for private in ("tickets", "data owner", "tokens_per_minute", "owner"):
        assert private not in text


def test_a_misspelt_key_is_no_absent_fact(make: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="unknown keys of a decision: exitplan"):
        make.plan(make.decision(exitplan=None))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (10.0, 10),
        (0.1 + 0.2, 0.3),
        (True, True),
        (None, None),
        ((1, (2.5,)), [1, [2.5]]),
        ({3: {"b", "a"}}, {"3": ["a", "b"]}),
        (dt.date(2027, 4, 14), "2027-04-14"),
    ],
)
def test_plain(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="policy engine"):
        plain({"a": [value]})


def test_no_json_type_is_refused() -> None:
    with pytest.raises(TypeError, match="object cannot be put"):
        plain(object())


def test_the_digest_does_not_depend_on_order() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


def test_worst_of() -> None:
    assert worst([]) == "allow"
    assert worst(["warn", "allow"]) == "warn"
    assert worst(["warn", "deny"]) == "deny"
    assert worst(["unavailable", "deny", "allow"]) == "unavailable"


def test_every_option_has_a_verdict_in_the_order_asked(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    options = [
        make.option(id="z"),
        make.option(id="b", jurisdictions=("US",)),
        make.option(id="a", scope="zone", jurisdictions=None, model="unlisted"),
    ]
    verdicts = gate_options(engine, make.question(options), options)
    assert {id: row.verdict for id, row in verdicts.items()} == {
        "z": "allow",
        "b": "deny",
        "a": "unavailable",
    }
    assert list(verdicts) == ["z", "b", "a"]
    assert verdicts["z"].findings == ()
    rules = [found.rule_id for found in verdicts["a"].findings]
    assert rules == ["RES-002", "MOD-001", "EVA-001"]


def test_no_options_no_verdicts(engine: PolicyEngine, make: SimpleNamespace) -> None:
    assert gate_options(engine, make.question([]), []) == {}


def test_two_options_with_one_id(engine: PolicyEngine, make: SimpleNamespace) -> None:
    options = [make.option(), make.option(jurisdictions=("US",))]
    with pytest.raises(PolicyUnavailable, match="share an id"):
        gate_options(engine, make.question(options), options)


def test_a_document_about_other_options(engine: PolicyEngine, make: SimpleNamespace) -> None:
    with pytest.raises(PolicyUnavailable, match="other options"):
        gate_options(engine, make.question([make.option(id="x")]), [make.option()])


def test_a_plan_without_findings_passes(engine: PolicyEngine, make: SimpleNamespace) -> None:
    assert gate_plan(engine, make.plan()) == ()


def test_plan_findings_come_worst_first(engine: PolicyEngine, make: SimpleNamespace) -> None:
    decisions = [
        make.decision(
            option=make.option(kind="provisioned"),
            capacity_confirmed=False,
            latency_basis="unverified",
            retires_on="2027-04-14",
        ),
        make.decision(workload="nightly", tier="batch", total_usd_per_month=None),
    ]
    findings = gate_plan(engine, make.plan(*decisions))
    assert [(found.verdict, found.rule_id, found.subject) for found in findings] == [
        ("unavailable", "BUD-001", "nightly"),
        ("deny", "LAT-001", "chat"),
        ("deny", "LIF-001", "chat"),
        ("deny", "TIER-001", "chat"),
        ("deny", "TIER-001", "nightly"),
        ("warn", "CAP-001", "chat"),
        ("warn", "CON-001", "stack"),
    ]


def test_the_same_question_has_the_same_findings(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    document = make.question([make.option(id=f"o{i}", jurisdictions=("US",)) for i in range(5)])
    assert engine.ask(document).findings == engine.ask(document).findings


def test_a_thousand_options_in_one_question(engine: PolicyEngine, make: SimpleNamespace) -> None:
    options = [
        make.option(
            id=f"o{i}",
            scope="global" if i % 3 == 0 else "country",
            jurisdictions=("AU", "US") if i % 3 == 0 else ("AU",),
            spill=make.spill(),
        )
        for i in range(1000)
    ]
    document = make.question(options)
    start = time.monotonic()
    verdicts = gate_options(engine, document, options)
    assert time.monotonic() - start < 8
    assert sum(row.verdict == "deny" for row in verdicts.values()) == 334
