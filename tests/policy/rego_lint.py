"""Checks of Rego source that OPA itself does not make, after the rules of Regal.

Each takes a parsed file and yields what is wrong, with its line. They look for mistakes
that compile and quietly mean something else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.mutation_ast import Node, Source, bodies, branches, calls, operator_of

METADATA_KEYS = {
    "title", "description", "scope", "entrypoint", "organizations", "related_resources",
    "authors", "schemas", "custom", "compile",
}  # fmt: skip
SCALARS = {"string", "number", "boolean", "null"}
COMPARISONS = {"equal", "neq", "lt", "lte", "gt", "gte"}
SNAKE = re.compile(r"[a-z_][a-z0-9_]*")
VERB = re.compile(r"%(?:%|[-+# 0]*\d*(?:\.\d+)?[a-zA-Z])")

Findings = Iterator[tuple[int, str]]


def line(node: Node) -> int:
    return int(node["location"]["row"])


def nodes(node: Any) -> Iterator[Node]:
    """Yield every object of a tree but locations and annotations."""
    if isinstance(node, list):
        for item in node:
            yield from nodes(item)
    elif isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key not in {"location", "annotations"}:
                yield from nodes(value)


def steps(term: Node) -> list[Node]:
    """Return what follows the head of a reference."""
    return list(term["value"][1:]) if term.get("type") == "ref" else []


def name_of(rule: Node) -> str:
    return str(rule["head"]["ref"][0]["value"])


def conditions(source: Source) -> Iterator[Node]:
    for body in bodies(source.rules):
        yield from (condition for condition in body if not condition.get("generated"))


def time_now_ns_twice(source: Source) -> Findings:
    for rule in source.rules:
        times = [operator for name, operator, _ in calls(rule) if name == "time.now_ns"]
        if len(times) > 1:
            yield line(rule), "time.now_ns is read more than once"


def not_equals_in_loop(source: Source) -> Findings:
    for name, operator, arguments in calls(source.rules):
        wild = [
            step
            for argument in arguments
            for step in steps(argument)
            if step["type"] == "var" and step["value"].startswith("$")
        ]
        if name == "neq" and wild:
            yield line(operator), "!= over a loop holds when any one differs"


def impossible_not(source: Source) -> Findings:
    sets = {name_of(rule) for rule in source.rules if "key" in rule["head"]}
    for condition in conditions(source):
        terms = condition["terms"]
        if not condition.get("negated") or not isinstance(terms, dict):
            continue
        whole = terms["value"] if terms.get("type") == "var" else None
        if terms.get("type") == "ref" and not steps(terms):
            whole = terms["value"][0]["value"]
        if whole in sets:
            yield line(condition), f"{whole} is a set, which is never undefined"


def sprintf_arguments_mismatch(source: Source) -> Findings:
    for name, operator, arguments in calls(source.rules):
        if name != "sprintf" or arguments[0]["type"] != "string" or arguments[1]["type"] != "array":
            continue
        verbs = [verb for verb in VERB.findall(arguments[0]["value"]) if verb != "%%"]
        if len(verbs) != len(arguments[1]["value"]):
            yield line(operator), f"{len(verbs)} verbs, {len(arguments[1]['value'])} arguments"


def unused_output_variable(source: Source) -> Findings:
    for rule in source.rules:
        used = Counter(node["value"] for node in nodes(rule) if node.get("type") == "var")
        for node in nodes(rule):
            for step in steps(node):
                name = step["value"]
                if step["type"] == "var" and name[0] not in "$_" and used[name] == 1:
                    yield line(step), f"{name} is bound and never used: write _"


def constant_condition(source: Source) -> Findings:
    for condition in conditions(source):
        terms = condition["terms"]
        single = isinstance(terms, dict) and terms.get("type") in SCALARS
        called = operator_of(terms)
        both = (
            called is not None
            and called[0] in COMPARISONS
            and all(term["type"] in SCALARS for term in terms[1:])
        )
        if single or both:
            yield line(condition), "the condition does not depend on anything"


def comment_blocks(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the comments that stand together, with the line of the first."""
    block: list[str] = []
    rows = [*source.content.decode().splitlines(), ""]
    for number, row in enumerate(rows, start=1):
        if row.startswith("#"):
            block.append(row.removeprefix("#").removeprefix(" ").rstrip())
        elif block:
            yield number - len(block), block
            block = []


def keys(block: list[str]) -> list[str]:
    found = [re.match(r"([A-Za-z_]+):( |$)", row) for row in block]
    return [match[1] for match in found if match]


def invalid_metadata_attribute(source: Source) -> Findings:
    for number, block in comment_blocks(source):
        if "METADATA" in block:
            unknown = set(keys(block[block.index("METADATA") :])) - METADATA_KEYS
            yield from ((number, f"{key} is no attribute") for key in sorted(unknown))


def annotation_without_metadata(source: Source) -> Findings:
    for number, block in comment_blocks(source):
        if "METADATA" not in block and set(keys(block)) & METADATA_KEYS:
            yield number, "looks like METADATA, but does not say so"


def top_level_iteration(source: Source) -> Findings:
    for rule in source.rules:
        value = rule["head"].get("value", {})
        loose = [step for step in steps(value) if step["type"] == "var"]
        if loose and all(condition.get("generated") for condition in rule["body"]):
            yield line(rule), "iterates outside of any rule body"


def missing_metadata(source: Source) -> Findings:
    """A package says what it is; in a library, so does everything others may call."""
    notes = source.annotations
    if not any(note["scope"] == "package" and "title" in note for note in notes):
        yield 1, "the package has no METADATA with a title"
    if "lib" in source.path.parts:
        described = set()
        for rule in source.rules:
            name = name_of(rule)
            if rule.get("annotations"):
                described.add(name)
            if name not in described and "args" in rule["head"]:
                yield line(rule), f"{name} has no METADATA"


def naming_convention(source: Source) -> Findings:
    names = [(line(branch), name_of(branch)) for branch in branches(source.rules)]
    names += [
        (line(node), node["value"]) for node in nodes(source.rules)
        if node.get("type") == "var" and "location" in node and node["value"][0] != "$"
    ]  # fmt: skip
    names += [(1, part["value"]) for part in source.package]
    for number, name in sorted(set(names)):
        if not SNAKE.fullmatch(name):
            yield number, f"{name} is not snake_case"


CHECKS: dict[str, Callable[[Source], Findings]] = {
    check.__name__.replace("_", "-"): check
    for check in (
        time_now_ns_twice, not_equals_in_loop, impossible_not, sprintf_arguments_mismatch,
        unused_output_variable, constant_condition, invalid_metadata_attribute,
        annotation_without_metadata, top_level_iteration, missing_metadata, naming_convention,
    )
}  # fmt: skip
