"""The fixed list of mutation operators for Rego.

Each operator yields small, plausible mistakes of a rule's author. Whether a mutant
compiles is not decided here: those that do not are dropped by the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutation_ast import Node, Source, Span, bodies, branches, calls, terms

NEGATED = {"equal": "!=", "neq": "==", "lt": ">=", "lte": ">", "gt": "<=", "gte": "<"}
SHIFTED = {"lt": "<=", "lte": "<", "gt": ">=", "gte": ">"}
SET_OPERATORS = {"or": "&", "and": "|", "minus": "&"}


@dataclass(frozen=True)
class Mutant:
    """One changed file; ``before`` and ``after`` are the piece that changed."""

    file: Path
    line: int
    operator: str
    before: str
    after: str
    content: bytes

    def row(self, root: Path) -> dict[str, object]:
        return {
            "file": self.file.relative_to(root).as_posix(),
            "line": self.line,
            "operator": self.operator,
            "before": self.before,
            "after": self.after,
        }


Edit = tuple[Span, str]


def flip_comparison(source: Source) -> Iterator[Edit]:
    """Replace a comparison by its opposite, and move its bound by one."""
    for name, operator, _ in calls(source.rules):
        for table in (NEGATED, SHIFTED):
            span = source.span(operator)
            if name in table and span is not None:
                yield span, table[name]


def negate_condition(source: Source) -> Iterator[Edit]:
    """Put a ``not`` before a condition, or take it away."""
    for condition, span in _conditions(source):
        text = source.text(span)
        if condition.get("negated"):
            yield span, text.removeprefix("not").lstrip()
        elif not _binds(condition):
            yield span, f"not {text}"


def drop_condition(source: Source) -> Iterator[Edit]:
    """Let a condition always hold."""
    for condition, span in _conditions(source):
        if not _binds(condition):
            yield span, "true"


def swap_member(source: Source) -> Iterator[Edit]:
    """Drop one member of a literal set or list of constants, or swap a set operator."""
    for term in terms(source.rules):
        span = source.span(term)
        members = term.get("value")
        if term["type"] not in {"set", "array"} or span is None or not isinstance(members, list):
            continue
        constant = all(member["type"] in {"string", "number", "null"} for member in members)
        if not members or (term["type"] == "array" and not constant):
            continue
        spans = [source.span(member) for member in members]
        texts = [source.text(member) for member in spans if member is not None]
        if len(texts) != len(members):
            continue
        for left_out in range(len(texts)):
            rest = texts[:left_out] + texts[left_out + 1 :]
            opening, closing = ("{", "}") if term["type"] == "set" else ("[", "]")
            empty = "set()" if term["type"] == "set" else "[]"
            yield span, f"{opening}{', '.join(rest)}{closing}" if rest else empty
    for name, operator, _ in calls(source.rules):
        span = source.span(operator)
        if name in SET_OPERATORS and span is not None:
            yield span, SET_OPERATORS[name]


def change_constant(source: Source) -> Iterator[Edit]:
    """Change a string, number, truth value or null, wherever it is a value."""
    for term in terms(source.rules):
        span = source.span(term)
        if span is None:
            continue
        text = source.text(span)
        match term["type"]:
            case "string" if text[0] == '"':
                yield span, f'{text[:-1]}_changed"'
            case "string" if text[0] == "`":
                yield span, "`^changed$`"
            case "number":
                yield span, str(int(text) + 1) if text.isdigit() else "1"
            case "boolean":
                yield span, "false" if text == "true" else "true"
            case "null":
                yield span, '"changed"'


def delete_rule(source: Source) -> Iterator[Edit]:
    """Delete a rule with its else branches, or one else branch."""
    for branch in branches(source.rules):
        span = source.span(branch)
        if span is not None:
            yield span, ""


OPERATORS: dict[str, Callable[[Source], Iterator[Edit]]] = {
    "flip a comparison": flip_comparison,
    "negate a condition": negate_condition,
    "drop a condition": drop_condition,
    "swap a set or member": swap_member,
    "change a constant": change_constant,
    "delete a rule": delete_rule,
}


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file, each changed content once."""
    source = Source(path)
    seen = {source.content}
    for name, operator in OPERATORS.items():
        for span, after in operator(source):
            content = source.replaced(span, after)
            if content not in seen:
                seen.add(content)
                yield Mutant(path, span.line, name, source.text(span), after, content)


def _conditions(source: Source) -> Iterator[tuple[Node, Span]]:
    for body in bodies(source.rules):
        for condition in body:
            span = source.span(condition)
            if span is not None:
                yield condition, span


def _binds(condition: Node) -> bool:
    """Whether the condition gives variables their values, so that nothing runs without it."""
    parts = condition["terms"]
    if isinstance(parts, dict):
        return "symbols" in parts
    operator = parts[0].get("value")
    return isinstance(operator, list) and operator[0].get("value") == "assign"
