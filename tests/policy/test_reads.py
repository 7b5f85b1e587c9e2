"""The manifest says of each rule what it reads, and it reads nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from benchmarks.mutation_ast import Node, Source, calls
from planner.errors import PolicyUnavailable
from planner.policy.bundle import policies_folder
from planner.policy.reads import Fields, Reads
from tests.policy.rego_lint import name_of, nodes, steps

TREE = policies_folder() / "llm_capacity"
MANIFEST = json.loads((TREE / "manifest/data.json").read_text())
ROWS = {row["id"]: row for row in MANIFEST["rules"] if "options" in row["stages"]}
Read = tuple[str, str]


@cache
def sources() -> dict[str, Source]:
    """Return the rules by their ids, and the libraries by the names that they go by."""
    found = {}
    for path in [*(TREE / "rules").rglob("*.rego"), *(TREE / "lib").glob("*.rego")]:
        if not path.name.endswith("_test.rego"):
            source = Source(path)
            found[source.annotations[0].get("custom", {}).get("id", path.stem)] = source
    return found


def reads_of(node: Node | list[Node]) -> Iterator[Read]:
    """Yield holder and field of ``option.x``, ``document.value(option, "x")`` and such."""
    for row in nodes(node):
        if steps(row) and steps(row)[0]["type"] == "string":
            yield str(row["value"][0]["value"]), str(steps(row)[0]["value"])
            if steps(row)[0]["value"] == "spill" and len(steps(row)) > 1:
                yield "spill", str(steps(row)[1]["value"])
    for name, _, arguments in calls(node):
        if name in {"document.value", "document.missing", "object.get"}:
            keys = arguments[1]["value"] if arguments[1]["type"] == "array" else [arguments[1]]
            for key in keys:
                # Whether a workload is named at all is not which one.
                whether = name == "document.missing" and key["value"] == "workload"
                if key["type"] == "string" and not whether:
                    yield holder(arguments[0]), str(key["value"])


def holder(argument: Node) -> str:
    """Return what an argument is: a variable, or what a library's function returns."""
    if argument["type"] == "call":
        function = str(argument["value"][0]["value"][-1]["value"])
        return {"workload_of": "workload", "site": "place"}.get(function, function)
    last = steps(argument)[-1:] or [argument]
    return str(last[0]["value"])


def names(node: Node | list[Node]) -> set[tuple[str, str]]:
    """Return the libraries' functions and rules that are referred to: library and name."""
    return {
        (str(row["value"][0]["value"]), str(steps(row)[0]["value"]))
        for row in nodes(node)
        if steps(row) and steps(row)[0]["type"] == "string"
    }


@cache
def all_reads(id: str) -> set[Read]:
    """Return what a rule reads itself and through every library's rule that it reaches."""
    library: dict[tuple[str, str], list[Node]] = {}
    for name, source in sources().items():
        for rule in source.rules if source.path.parent.name == "lib" else ():
            library.setdefault((name, name_of(rule)), []).append(rule)
    found: set[Read] = set()
    reached: set[tuple[str, str]] = set()
    pending = [("", node) for node in sources()[id].rules]
    while pending:
        own, node = pending.pop()
        # Every rule finds an option's workload; that is no reading of its name.
        found |= {read for read in reads_of(node) if own != "document" or read[1] != "workload"}
        local = {(own, str(row["value"])) for row in nodes(node) if row.get("type") == "var"}
        for key in (names(node) | local) & set(library) - reached:
            reached.add(key)
            pending += [(key[0], rule) for rule in library[key]]
    return found


@pytest.mark.usefixtures("opa")
@pytest.mark.parametrize("id", sorted(ROWS))
def test_the_manifest_names_every_field_that_a_rule_reads(id: str) -> None:
    """Fields by the variables that hold options, spill targets, places and workloads."""
    stated = Fields.of_row(ROWS[id])
    named = {
        "option": {*stated.option, "id"},
        "spill": {*stated.spill},
        "workload": {*stated.workload},
    }
    named["place"] = (
        named["option"] & named["spill"] if "spill" in stated.option else named["option"]
    )
    if stated.whole == "pinned":
        named["option"] |= {"deployment_key"}
        named["workload"] |= {"tier"}
    for what, field in all_reads(id):
        assert field in named.get(what, {field}), f"{id} reads {field} of {what}: add it to `reads`"


@pytest.mark.usefixtures("opa")
@pytest.mark.parametrize("id", sorted(ROWS))
def test_the_manifest_names_nothing_that_a_rule_does_not_read(id: str) -> None:
    """A field too many does no harm but for the time it takes."""
    stated = Fields.of_row(ROWS[id])
    read = {field for _, field in all_reads(id)}
    assert {*stated.option, *stated.spill, *stated.workload} <= read


def manifest(*rows: Mapping[str, object]) -> bytes:
    return json.dumps({"rules": rows}).encode()


NOTHING: dict[str, list[str]] = {"option": [], "spill": [], "workload": []}


def test_rules_that_read_the_same_are_asked_together() -> None:
    rows = [
        {"id": id, "stages": stages, "reads": {**NOTHING, "option": option}}
        for id, stages, option in [
            ("A-001", ["options"], ["model"]),
            ("A-002", ["options", "plan"], ["model"]),
            ("A-003", ["options"], ["kind"]),
            ("A-004", ["plan"], ["kind"]),
        ]
    ]
    reads = Reads.of_manifest(manifest(*rows))
    assert reads is not None
    assert list(reads.rules.values()) == [("A-001", "A-002"), ("A-003",)]


def test_a_rule_that_does_not_say_what_it_reads_sees_every_option_whole() -> None:
    silent = {"id": "A-002", "stages": ["options"]}
    stated = {"id": "A-001", "stages": ["options"], "reads": NOTHING}
    reads = Reads.of_manifest(manifest(stated, silent))
    assert reads is not None
    assert reads.rules == {Fields(): ("A-001",), Fields(whole="all"): ("A-002",)}
    assert Reads.of_manifest(manifest(silent)) is None
    assert Reads.of_manifest(manifest()) is None


@pytest.mark.parametrize(
    "reads",
    [
        {"option": ["model"]},
        {**NOTHING, "options": ["model"]},
        {**NOTHING, "whole": "some"},
        [],
        "model",
        1,
    ],
    ids=str,
)
def test_reads_that_cannot_be_understood_block(reads: object) -> None:
    with pytest.raises(PolicyUnavailable, match="Correct `reads`"):
        Reads.of_manifest(manifest({"id": "A-001", "stages": ["options"], "reads": reads}))
