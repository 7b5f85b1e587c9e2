"""Rego source with the positions of its syntax tree: where a mutation can bite.

Positions come from ``opa parse --format json --json-include locations``; every node that
is used is checked against the source text at its position, so nothing is edited blindly.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Node = dict[str, Any]


@dataclass(frozen=True)
class Span:
    """A piece of a file: byte offsets, and the line it begins on."""

    start: int
    end: int
    line: int


class Source:
    """One Rego file, as bytes and as a syntax tree."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content = path.read_bytes()
        tree = parse(path)
        self.package: list[Node] = tree["package"]["path"]
        self.annotations: list[Node] = tree.get("annotations", [])
        self.rules: list[Node] = tree.get("rules", [])
        self._lines = [0]
        for line in self.content.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def span(self, node: Node) -> Span | None:
        """Return where a node stands; None for one that the parser made up."""
        location = node.get("location")
        if not location or node.get("generated"):
            return None
        text = base64.b64decode(location["text"])
        start = self._lines[location["row"] - 1] + location["col"] - 1
        end = start + len(text)
        return Span(start, end, location["row"]) if self.content[start:end] == text else None

    def text(self, span: Span) -> str:
        return self.content[span.start : span.end].decode()

    def replaced(self, span: Span, text: str) -> bytes:
        return self.content[: span.start] + text.encode() + self.content[span.end :]


def parse(path: Path) -> Node:
    """Return the syntax tree of a file, with locations."""
    command = ["opa", "parse", "--format", "json", "--json-include", "locations", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tree: Node = json.loads(done.stdout)
    return tree


def branches(rules: list[Node]) -> Iterator[Node]:
    """Yield each rule and each of its else branches."""
    for rule in rules:
        branch: Node | None = rule
        while branch is not None:
            yield branch
            branch = branch.get("else")


def bodies(node: Any) -> Iterator[list[Node]]:
    """Yield every body below a node: of rules, comprehensions and ``every``."""
    if isinstance(node, list):
        for item in node:
            yield from bodies(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "body":
                yield value
            if key != "location":
                yield from bodies(value)


def operator_of(terms: Any) -> tuple[str, Node] | None:
    """Return the name of a call's function, such as ``gt`` or ``internal.member_2``."""
    if not isinstance(terms, list) or not terms or terms[0].get("type") != "ref":
        return None
    parts = terms[0]["value"]
    if not all(isinstance(part.get("value"), str) for part in parts):
        return None
    return ".".join(part["value"] for part in parts), terms[0]


def calls(node: Any) -> Iterator[tuple[str, Node, list[Node]]]:
    """Yield name, operator and arguments of every call, as condition or as value."""
    if isinstance(node, list):
        for item in node:
            yield from calls(item)
    elif isinstance(node, dict):
        terms = node.get("terms") if "terms" in node else node.get("value")
        if node.get("type") == "call" or isinstance(node.get("terms"), list):
            found = operator_of(terms)
            if found is not None and isinstance(terms, list):
                yield found[0], found[1], terms[1:]
        for key, value in node.items():
            if key != "location":
                yield from calls(value)


def terms(node: Any) -> Iterator[Node]:
    """Yield every value below a node, but not the steps of a reference (``a.b["c"]``)."""
    if isinstance(node, list):
        for item in node:
            yield from terms(item)
    elif isinstance(node, dict):
        if "type" in node:
            yield node
        if node.get("type") == "ref":
            # Steps that are references themselves are values; names and keys are not.
            yield from terms([step for step in node["value"] if step["type"] in {"ref", "call"}])
            return
        for key, value in node.items():
            if key not in {"location", "ref", "name"}:
                yield from terms(value)
