"""Options that the rules cannot tell apart are asked about once, and nobody can notice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.mutation_ast import Source, calls
from planner.catalog.rows import CONCERNS
from planner.policy.answer import Answer
from planner.policy.bundle import policies_folder
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options
from planner.policy.sharing import Reads, share
from planner.policy.verdicts import Finding
from tests.policy.rego_lint import nodes, steps

TREE = policies_folder() / "llm_capacity"


class Alone:
    """The same engine, asked about every option on its own."""

    def __init__(self, engine: PolicyEngine) -> None:
        self.ask = engine.ask


class Counting:
    """The same engine, which counts the options that it is asked about."""

    def __init__(self, engine: PolicyEngine) -> None:
        self.reads = engine.reads
        self._engine = engine
        self.asked: list[Mapping[str, Any]] = []

    def ask(self, document: Mapping[str, Any]) -> Answer:
        self.asked += document["options"]
        return self._engine.ask(document)


PLACES = st.sampled_from(
    [("country", ("AU",)), ("zone", None), ("global", None), ("zone", ("AU", "NZ"))]
)
SHAPES = st.fixed_dictionaries(
    {
        "workload": st.sampled_from(["chat", "mail", "batch", "stray"]),
        "place": PLACES,
        "kind": st.sampled_from(["payg", "provisioned", "self_hosted"]),
        "model": st.sampled_from(["gpt-4.1-mini", "o1"]),
        "operator_class": st.sampled_from(["managed_service", "iaas"]),
        "spill": st.none() | PLACES,
        "region": st.sampled_from(["australiaeast", "o1"]),
        "pinned": st.sampled_from([False, False, False, True]),
        "known": st.booleans(),
        "absent": st.sampled_from([None, None, None, "scope", "spill", "workload", "pinned"]),
    }
)


@pytest.fixture(scope="module")
def reads() -> Reads:
    found = Reads.of_manifest((TREE / "manifest/data.json").read_bytes())
    assert found is not None
    return found


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(shapes=st.lists(SHAPES, max_size=14))
def test_same_verdicts_and_findings_as_one_by_one(
    shapes: list[dict[str, Any]], engine: PolicyEngine, make: SimpleNamespace
) -> None:
    workloads = [
        make.workload(name="chat"),
        make.workload(name="mail"),
        make.workload(name="batch", tier="batch", classification="restricted"),
    ]
    options, facts, absent = [], {}, {}
    for number, shape in enumerate(shapes):
        places = dict(zip(("scope", "jurisdictions"), shape["place"], strict=True))
        spill = shape["spill"] and make.spill(
            scope=shape["spill"][0], jurisdictions=shape["spill"][1]
        )
        same = {key: shape[key] for key in ("kind", "model", "operator_class", "region", "pinned")}
        option = make.option(
            id=f"o{number}", workload=shape["workload"], spill=spill, **places, **same
        )
        options.append(option)
        absent[option.id] = shape["absent"]
        place = {"place": "region", "countries": ["AU"]} if shape["known"] else {"place": "unknown"}
        row = {"role": "option", "countries": None, "as_of": None, **place}
        facts[option.id] = {concern: [row] for concern in CONCERNS}
    document = make.question(options, *workloads, beyond_inference=facts)
    for row in document["options"]:
        row.pop(absent[row["id"]], None)
    text = json.dumps(document)
    assert gate_options(engine, document, options) == gate_options(Alone(engine), document, options)
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
    assert len(counting.asked) == 1
    for number, option in enumerate(options):
        (found,) = verdicts[option.id].findings
        assert found.subject == option.id
        assert found.message.startswith(f"{option.id} may be processed in US")
        assert found.evidence == f"/options/{number}/jurisdictions"


def test_findings_name_the_right_option(make: SimpleNamespace, reads: Reads) -> None:
    options = [make.option(id=f"o{number}", jurisdictions=("US",)) for number in range(12)]
    document = make.question([make.option(id="other"), *options])
    question = share(document, reads)
    assert len(question.document["options"]) == 2
    asked = question.document["options"][1]
    found = Finding(
        rule_id="A-001", title="t", severity="low", verdict="deny", raw_verdict="deny",
        message=f"{asked['id']} of {asked['workload']}", remedy="r",
        citation={"document": "d", "clause": "c"}, waivable_by=(),
            subject=asked["id"],
        observed=[asked["id"]], expected={asked["workload"]: 1}, evidence="/options/1/x",
    )  # fmt: skip
    spread = question.spread([found])
    assert list(spread) == [option.id for option in options]
    own = spread["o11"][0]
    assert (own.message, own.observed, own.expected) == ("o11 of chat", ["o11"], {"chat": 1})
    assert own.evidence == "/options/12/x"


def test_pinned_options_are_asked_about_as_they_are(make: SimpleNamespace, reads: Reads) -> None:
    options = [make.option(id=f"o{number}", pinned=True) for number in range(3)]
    document = make.question(options)
    assert share(document, reads).document["options"] == document["options"]


def test_a_rule_cannot_read_what_the_manifest_leaves_out(
    make: SimpleNamespace, reads: Reads
) -> None:
    document = make.question([make.option(id=name, spill=make.spill()) for name in "ab"])
    (asked,) = share(document, reads).document["options"]
    assert set(asked) == {"id", "workload", "pinned", *reads.option}
    assert set(asked["spill"]) == set(reads.spill)
    (workload,) = share(document, reads).document["workloads"].values()
    assert set(workload) == set(reads.workload)


def test_a_central_server_is_asked_about_every_option() -> None:
    assert PolicyEngine(url="http://127.0.0.1:1").reads is None


def test_no_manifest_entry_no_sharing(make: SimpleNamespace) -> None:
    assert Reads.of_manifest(b'{"rules": []}') is None
    document = make.question([make.option(id=name) for name in "ab"])
    assert share(document, None).document is document


@pytest.mark.usefixtures("opa")
def test_the_manifest_names_every_field_that_rules_read(reads: Reads) -> None:
    """Fields by the variables that hold options, spill targets, places and workloads."""
    named = {"option": reads.option, "spill": reads.spill, "workload": reads.workload}
    named["place"] = tuple(set(reads.option) & set(reads.spill))
    always = {"id", "workload", "pinned", "deployment_key"}
    options = [path for path in TREE.rglob("*.rego") if "stages: [options" in path.read_text()]
    assert len(options) == 7
    libraries = [path for path in (TREE / "lib").glob("*.rego") if "_test" not in path.name]
    for path in [*options, *libraries]:
        for holder, field in fields_read(Source(path)):
            assert (
                holder not in named
                or field in {*named[holder], *always}
                or (holder == "workload" and (path.stem, field) == ("tiers", "tier"))
            ), f"{path.name} reads {holder}.{field}: add it to `reads` in the manifest"


def fields_read(source: Source) -> set[tuple[str, str]]:
    """Return variable and field of ``option.x``, ``document.value(option, "x")`` and such."""
    found = set()
    for node in nodes(source.rules):
        if steps(node) and steps(node)[0]["type"] == "string":
            found.add((str(node["value"][0]["value"]), steps(node)[0]["value"]))
    for name, _, arguments in calls(source.rules):
        if name not in {"document.value", "document.missing", "object.get"}:
            continue
        holder = arguments[0]
        holder_name = str(holder["value"]) if holder["type"] == "var" else ""
        if holder["type"] == "call":
            holder_name = "workload"
        wanted = arguments[1]["value"] if arguments[1]["type"] == "array" else [arguments[1]]
        found |= {(holder_name, str(key["value"])) for key in wanted if key["type"] == "string"}
    return found
