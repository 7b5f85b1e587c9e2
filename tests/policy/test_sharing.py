"""Options that the rules cannot tell apart are asked about once, and nobody can notice."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from planner.catalog.rows import CONCERNS
from planner.declared.terms import Agreement
from planner.errors import PolicyUnavailable
from planner.policy.answer import Answer, read_answer
from planner.policy.bundle import policies_folder, read_bundle
from planner.policy.document import Terms
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.policy.reads import Fields, Reads
from planner.policy.sharing import Question, share
from planner.policy.templates import Member, Template
from planner.policy.verdicts import Finding, OptionVerdict
from planner.policy.waivers import NO_WAIVERS, WaiverBook
from tests.policy.conftest import NOW
from tests.policy.waiving import book

TREE = policies_folder() / "llm_capacity"


class Alone:
    """The same engine, asked about every option on its own."""

    def __init__(self, engine: PolicyEngine) -> None:
        self.ask = engine.ask


class Counting:
    """The same engine, which keeps the parts of what it is asked."""

    def __init__(self, engine: PolicyEngine) -> None:
        self.reads = engine.reads
        self._engine = engine
        self.parts: list[Mapping[str, Any]] = []

    def ask(self, document: Mapping[str, Any]) -> Answer:
        self.parts += document["parts"]
        return self._engine.ask(document)


def parts(question: Question) -> dict[str, Mapping[str, Any]]:
    """Return what each rule is asked."""
    return {rule: part for part in question.document["parts"] for rule in part["rules"]}


PLACES = st.fixed_dictionaries(
    {
        "scope": st.sampled_from(["country", "zone", "global"]),
        "jurisdictions": st.sampled_from([("AU",), ("AU", "NZ"), None]),
        "operator_class": st.sampled_from(["managed_service", "iaas"]),
        "provider": st.sampled_from(["azure", "aws"]),
        "partition": st.sampled_from(["public", "us_gov"]),
        "key_custody": st.sampled_from(["provider_managed", "customer_managed"]),
    }
)
SHAPES = st.fixed_dictionaries(
    {
        "workload": st.sampled_from(["chat", "mail", "batch", "stray"]),
        "place": PLACES,
        "kind": st.sampled_from(["payg", "provisioned", "self_hosted"]),
        "model": st.sampled_from(["gpt-4.1-mini", "o1"]),
        "spill": st.none() | PLACES,
        "region": st.sampled_from(["australiaeast", "o1"]),
        "pinned": st.sampled_from([False, False, False, True]),
        "known": st.booleans(),
        "absent": st.sampled_from([None, None, None, "scope", "spill", "workload", "pinned"]),
        "absent_of_spill": st.sampled_from([None, None, "scope", "partition"]),
    }
)
AGREEMENTS = st.builds(
    Agreement,
    kind=st.sampled_from(["transfer_tool", "control_evidence", "offshoring_notice"]),
    provider=st.sampled_from([None, "azure"]),
    workload=st.sampled_from([None, "chat", "mail"]),
    countries=st.sampled_from([(), ("NZ",), ("AU", "NZ")]),
    date=st.just(dt.date(2026, 6, 1)),
    ref=st.just("register 7"),
)
TERMS = st.builds(
    Terms,
    regimes=st.lists(
        st.sampled_from(["EU_GDPR", "AU_APRA_CPS_230", "AU_APRA_CPS_234", "US_FEDRAMP", "unknown"]),
        unique=True,
        max_size=3,
    ).map(tuple),
    agreements=st.lists(AGREEMENTS, max_size=2).map(tuple),
)
WAIVED = st.sampled_from(
    [
        NO_WAIVERS,
        book(subject="chat", scope={"stack": "prod", "model": "o1"}),
        book(subject="o1", scope={"stack": "prod", "region": "o1"}),
    ]
)


@pytest.fixture(scope="module")
def reads() -> Reads:
    found = Reads.of_manifest((TREE / "manifest/data.json").read_bytes())
    assert found is not None
    return found


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(shapes=st.lists(SHAPES, max_size=14), terms=TERMS, waivers=WAIVED)
def test_same_verdicts_and_findings_as_one_by_one(
    shapes: list[dict[str, Any]],
    terms: Terms,
    waivers: WaiverBook,
    engine: PolicyEngine,
    make: SimpleNamespace,
) -> None:
    evaluation = {"suite": "s", "score": 0.5, "threshold": 0.6, "date": NOW.date(), "ref": "r"}
    models = ({"name": "gpt-4.1-mini", "evaluation": evaluation}, {"name": "o1"})
    workloads = [
        make.workload(name="chat"),
        make.workload(name="mail", models=models, critical=True),
        make.workload(name="batch", tier="batch", classification="restricted"),
    ]
    options, facts = [], {}
    for number, shape in enumerate(shapes):
        spill = shape["spill"] and make.spill(**shape["spill"])
        same = {key: shape[key] for key in ("workload", "kind", "model", "region", "pinned")}
        option = make.option(id=f"o{number}", spill=spill, **shape["place"], **same)
        options.append(option)
        place = {"place": "region", "countries": ["AU"]} if shape["known"] else {"place": "unknown"}
        row = {"role": "option", "countries": None, "as_of": None, **place}
        facts[option.id] = {concern: [row] for concern in CONCERNS}
    document = make.question(options, *workloads, beyond_inference=facts, terms=terms)
    for row, shape in zip(document["options"], shapes, strict=True):
        if row["spill"] is not None:
            row["spill"] = {k: v for k, v in row["spill"].items() if k != shape["absent_of_spill"]}
        row.pop(shape["absent"], None)
    text = json.dumps(document)
    alone = gate_options(Alone(engine), document, options, waivers)
    assert gate_options(engine, document, options, waivers) == alone
    assert json.dumps(document) == text


def test_equal_options_are_asked_about_once(engine: PolicyEngine, make: SimpleNamespace) -> None:
    workloads = [make.workload(name=f"w{number}") for number in range(5)]
    options = [
        make.option(
            id=f"{row.name}/{term}", workload=row.name, term_months=term, jurisdictions=("US",)
        )
        for row in workloads
        for term in range(4)
    ]
    counting = Counting(engine)
    verdicts = gate_options(counting, make.question(options, *workloads), options)
    assert {len(part["options"]) for part in counting.parts} == {1}
    for number, option in enumerate(options):
        (found,) = verdicts[option.id].findings
        assert found.subject == option.id
        assert found.message.startswith(f"{option.id} may be processed in US")
        assert found.evidence == f"/options/{number}/jurisdictions"


def test_a_rule_is_asked_about_what_it_can_tell_apart(make: SimpleNamespace, reads: Reads) -> None:
    options = [
        make.option(id=f"{model} {country}", model=model, jurisdictions=(country,))
        for model in ("gpt-4.1-mini", "o1", "o3")
        for country in ("AU", "NZ")
    ]
    asked = parts(share(make.question(options), reads))
    assert {id: len(asked[id]["options"]) for id in ("MOD-001", "RES-001", "TIER-001")} == {
        "MOD-001": 3,
        "RES-001": 2,
        "TIER-001": 1,
    }


def test_the_parts_hold_every_rule_and_nothing_else_does(
    make: SimpleNamespace, reads: Reads
) -> None:
    question = share(make.question([make.option(id=name) for name in "ab"]), reads).document
    assert (question["options"], question["workloads"]) == ([], {})
    named = [rule for part in question["parts"] for rule in part["rules"]]
    assert sorted(named) == sorted(read_bundle().rules_of("options"))


def test_a_name_counts_where_an_agreement_names_it(make: SimpleNamespace, reads: Reads) -> None:
    workloads = [make.workload(name=name) for name in ("chat", "mail", "post")]
    options = [make.option(id=row.name, workload=row.name) for row in workloads]
    agreement = Agreement(kind="transfer_tool", workload="mail", date=dt.date(2026, 6, 1), ref="r")
    document = make.question(options, *workloads, terms=Terms(agreements=(agreement,)))
    asked = parts(share(document, reads))
    assert len(asked["RES-005"]["workloads"]) == 2
    assert "mail" in asked["RES-005"]["workloads"]
    assert len(asked["RES-001"]["workloads"]) == 1


def finding(**changes: Any) -> Finding:
    fields = {
        "rule_id": "MOD-001", "title": "t", "severity": "low", "verdict": "deny",
        "raw_verdict": "deny", "message": "m", "remedy": "r",
        "citation": {"document": "d", "clause": "c"}, "waivable_by": (), "subject": "a",
        "observed": 1, "expected": 2, "evidence": "/options/0",
    }  # fmt: skip
    return Finding.model_validate(fields | changes)


def test_findings_name_the_right_option(make: SimpleNamespace, reads: Reads) -> None:
    options = [make.option(id=f"o{number}", jurisdictions=("US",)) for number in range(12)]
    question = share(make.question([make.option(id="other"), *options]), reads)
    asked = parts(question)["RES-001"]["options"][1]
    found = finding(
        rule_id="RES-001",
        message=f"{asked['id']} of {asked['workload']}",
        subject=asked["id"],
        observed=[asked["id"]],
        expected={asked["workload"]: 1},
        evidence="/options/1/x",
    )
    spread = {
        member.id: [template.of(member) for group in alike for template in group.templates]
        for member, alike in question.spread([found])
    }
    assert list(spread) == ["other", *(option.id for option in options)]
    assert spread.pop("other") == []
    (own,) = spread["o11"]
    assert (own.message, own.observed, own.expected) == ("o11 of chat", ["o11"], {"chat": 1})
    assert (own.subject, own.evidence) == ("o11", "/options/12/x")


def test_an_options_own_finding_is_a_finding_like_any_other() -> None:
    found = finding(subject="asked", message="asked of work", observed={"asked": ["work"]})
    own = Template(found, Member("asked", 0, "work")).of(Member("mine", 7, "job"))
    changes = {"subject": "mine", "message": "mine of job", "observed": {"mine": ["job"]}}
    expected = found.model_copy(update={**changes, "evidence": "/options/7"})
    assert own == expected
    assert own.model_dump_json() == expected.model_dump_json()
    assert own.model_fields_set == found.model_fields_set
    assert own.model_copy(update={"verdict": "warn"}).message == "mine of job"
    assert pickle.loads(pickle.dumps(own)) == own
    with pytest.raises(ValidationError, match="frozen"):
        setattr(own, "message", "other")  # noqa: B010
    assert found.subject == "asked"


def test_a_rule_that_answers_about_another_rules_options_blocks(
    make: SimpleNamespace, reads: Reads
) -> None:
    question = share(make.question([make.option()]), reads)
    other = parts(question)["MOD-001"]["options"][0]["id"]
    with pytest.raises(PolicyUnavailable, match=r"RES-001 has a finding on option-.*not asked"):
        list(question.spread([finding(rule_id="RES-001", subject=other)]))
    with pytest.raises(PolicyUnavailable, match="XXX-001 has a finding"):
        list(question.spread([finding(rule_id="XXX-001", subject=other)]))
    ids = [option["id"] for part in question.document["parts"] for option in part["options"]]
    rules = sorted(read_bundle().rules_of("options"))
    row = finding(rule_id="RES-001", subject=other).model_dump(mode="json")
    del row["waiver"]
    result = {
        "ready": True, "stage": "options", "nonce": "n", "rule_ids": rules,
        "rules_evaluated": len(rules), "findings": [row],
        "options": {id: "deny" if id == other else "allow" for id in ids},
    }  # fmt: skip
    with pytest.raises(PolicyUnavailable, match=f"unknown options: {other}"):
        read_answer({"result": result}, question.document, "n", None, rules)
    row["rule_id"] = "MOD-001"
    answer = read_answer({"result": result}, question.document, "n", None, rules)
    assert answer.options[other] == "deny"


def test_pinned_options_are_compared_as_they_are(make: SimpleNamespace, reads: Reads) -> None:
    options = [make.option(id=f"o{number}", pinned=True) for number in range(3)]
    document = make.question([*options, *(make.option(id=name) for name in "ab")])
    asked = parts(share(document, reads))
    assert asked["TIER-001"]["options"][:3] == document["options"][:3]
    assert [row["pinned"] for row in asked["TIER-001"]["options"]] == [True, True, True, False]
    assert asked["TIER-001"]["workloads"]["chat"] == document["workloads"]["chat"]
    assert len(asked["RES-001"]["options"]) == 1


def test_null_and_absent_are_not_alike(make: SimpleNamespace, reads: Reads) -> None:
    document = make.question([make.option(id=name) for name in "abc"])
    del document["options"][1]["spill"]
    document["options"][2]["spill"] = {}
    asked = parts(share(document, reads))["RES-003"]["options"]
    assert [row.get("spill", "absent") for row in asked] == [None, "absent", {}]


def test_an_option_of_no_known_workload_is_asked_about_as_it_is(
    make: SimpleNamespace, reads: Reads
) -> None:
    document = make.question([make.option(id=name) for name in "ab"])
    document["workloads"]["None"] = document["workloads"].pop("chat")
    del document["options"][1]["workload"]
    for part in share(document, reads).document["parts"]:
        assert part["options"] == document["options"]
        assert part["workloads"] == {}


def test_a_rule_cannot_read_what_the_manifest_leaves_out(
    make: SimpleNamespace, reads: Reads
) -> None:
    document = make.question([make.option(id=name, spill=make.spill()) for name in "ab"])
    question = share(document, reads).document
    for fields, part in zip(reads.rules, question["parts"], strict=True):
        (asked,) = part["options"]
        assert set(asked) == {"id", "workload", *fields.option}
        if "spill" in fields.option:
            assert set(asked["spill"]) == set(fields.spill)
        (workload,) = part["workloads"].values()
        assert set(workload) == set(fields.workload)


def test_a_rule_that_does_not_say_what_it_reads_is_asked_about_every_option(
    make: SimpleNamespace,
) -> None:
    reads = Reads({Fields(): ("A-001",), Fields(whole="all"): ("A-002",)})
    document = make.question([make.option(id=name) for name in "ab"])
    asked = parts(share(document, reads))
    assert asked["A-002"]["options"] == document["options"]
    assert asked["A-002"]["workloads"] == document["workloads"]
    assert len(asked["A-001"]["options"]) == 1


def test_findings_are_written_out_when_they_are_read(
    engine: PolicyEngine, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    original = Template.of

    def of(self: Template, member: Member) -> Finding:
        written.append(member.id)
        return original(self, member)

    monkeypatch.setattr(Template, "of", of)
    options = [make.option(id=name, jurisdictions=("US",)) for name in "ab"]
    document = make.question(options)
    verdicts = gate_options(engine, document, options)
    assert {row.verdict for row in verdicts.values()} == {"deny"}
    assert written == []
    assert verdicts["b"].findings is verdicts["b"].findings
    assert written == ["b"]
    written.clear()
    elsewhere = book(rule="TPP-001", subject="a")
    gate_options(engine, document, options, elsewhere)
    assert written == ["a"], "only what a live waiver names is looked at one by one"


def test_a_verdict_is_a_value() -> None:
    mine = OptionVerdict("a", "deny", (finding(),))
    assert mine == OptionVerdict(option_id="a", verdict="deny", findings=lambda: (finding(),))
    assert hash(mine) == hash(OptionVerdict("a", "deny", (finding(),)))
    for other in (
        OptionVerdict("b", "deny", (finding(),)),
        OptionVerdict("a", "warn", (finding(),)),
        OptionVerdict("a", "deny", ()),
        "a",
    ):
        assert mine != other
    for name in ("option_id", "verdict", "findings"):
        with pytest.raises(AttributeError):
            setattr(mine, name, None)
    assert repr(OptionVerdict("a", "allow", ())) == (
        "OptionVerdict(option_id='a', verdict='allow', findings=())"
    )


def test_a_central_server_is_asked_about_every_option() -> None:
    assert PolicyEngine(url="http://127.0.0.1:1").reads is None


def test_no_word_on_reads_no_sharing(make: SimpleNamespace) -> None:
    document = make.question([make.option(id=name) for name in "ab"])
    assert share(document, None).document is document
