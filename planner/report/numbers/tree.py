"""An explained number walked down to what was declared and published, for people and programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planner.report.numbers.arithmetic import number
from planner.report.numbers.explained import Condition, Explained, Term, source_of

_STEP = "  "

_LONG_ID = 60
"""Characters up to which a list lines its columns up."""


def text(found: Explained, numbers: Mapping[str, Explained], depth: int) -> str:
    """Return a number with its formula, indented walks ``depth`` levels down its terms."""
    return "".join(f"{line}\n" for line in _lines(found, numbers, depth, "", set()))


def markdown(found: Explained, numbers: Mapping[str, Explained], depth: int) -> str:
    """Return a number with its formula as nested lists."""
    lines = [f"### {found.title}", "", f"`{found.id}` = **{amount(found)}** ({found.exactness})"]
    lines += ["", *_items(found, numbers, depth, "", {found.id})]
    return "\n".join(lines) + "\n"


def document(found: Explained, numbers: Mapping[str, Explained], depth: int) -> dict[str, Any]:
    """Return a number as plain data; terms that are numbers hold their own ``depth`` levels."""
    return {
        "id": found.id,
        "title": found.title,
        "value": found.value,
        "unit": found.unit,
        "formula": found.formula,
        "with_numbers": found.with_numbers,
        "rule": found.rule,
        "exactness": found.exactness,
        "agrees": found.agrees,
        "terms": [_term(term, numbers, depth) for term in found.terms],
        "conditions": [
            {
                "words": condition.words,
                "formula": condition.formula,
                "with_numbers": condition.with_numbers,
                "holds": condition.holds,
                "terms": [_term(term, numbers, depth) for term in condition.terms],
            }
            for condition in found.conditions
        ],
        "sources": list(found.sources),
    }


def listed(numbers: Iterable[Explained]) -> str:
    """Return the ids of numbers with their values, a line each."""
    rows = [(item.id, amount(item), item.title) for item in numbers]
    ids = min(_LONG_ID, max((len(row[0]) for row in rows), default=0))
    values = max((len(row[1]) for row in rows), default=0)
    return "".join(f"{name:<{ids}}  {value:<{values}}  {title}\n" for name, value, title in rows)


def amount(found: Explained | Term) -> str:
    """Return a value with its unit."""
    return f"{number(found.value)} {found.unit}".rstrip()


def stands_alone(found: Explained) -> bool:
    """Return whether there is nothing to work out: a figure as it stands, or a searched one."""
    return not found.terms or not found.formula or found.formula == found.terms[0].symbol


def how(found: Explained) -> str:
    """Return how a number came about in one line: its formula, or what was searched for."""
    return found.formula or found.rule


def _lines(
    found: Explained, numbers: Mapping[str, Explained], depth: int, indent: str, told: set[str]
) -> Iterator[str]:
    yield f"{indent}{found.id} = {amount(found)}  ({found.exactness}) {found.title}"
    inner = indent + _STEP
    if found.id in told:
        yield f"{inner}told above"
        return
    told.add(found.id)
    if not stands_alone(found):
        yield f"{inner}= {found.formula}"
        yield f"{inner}= {found.with_numbers}"
    if found.rule:
        yield f"{inner}{found.rule}"
    for condition in found.conditions:
        yield f"{inner}{_condition(condition)}"
    if not found.agrees:
        yield f"{inner}{_disagrees(found)}"
    for term in found.all_terms:
        below = numbers.get(term.ref) if term.origin == "number" else None
        if below is not None and depth > 0:
            if below.kind.rpartition("/")[2] != term.symbol:
                yield f"{inner}{term.symbol}:"
            yield from _lines(below, numbers, depth - 1, inner, told)
        else:
            yield f"{inner}{_leaf(term)}"


def _items(
    found: Explained, numbers: Mapping[str, Explained], depth: int, indent: str, told: set[str]
) -> Iterator[str]:
    if not stands_alone(found):
        yield f"{indent}- `{found.formula}`"
        yield f"{indent}- `= {found.with_numbers}`"
    if found.rule:
        yield f"{indent}- {found.rule}"
    for condition in found.conditions:
        yield f"{indent}- {condition.words}: `{condition.with_numbers}`"
    if not found.agrees:
        yield f"{indent}- {_disagrees(found)}"
    for term in found.all_terms:
        below = numbers.get(term.ref) if term.origin == "number" else None
        source = source_of(term)
        yield f"{indent}- `{term.symbol}` = {amount(term)}" + (f": {source}" if source else "")
        if below is not None and depth > 0 and below.id not in told:
            told.add(below.id)
            yield from _items(below, numbers, depth - 1, indent + _STEP, told)


def _term(term: Term, numbers: Mapping[str, Explained], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {
        "symbol": term.symbol,
        "value": list(term.value) if isinstance(term.value, tuple) else term.value,
        "unit": term.unit,
        "origin": term.origin,
        "ref": term.ref,
        "source": term.source,
    }
    below = numbers.get(term.ref) if term.origin == "number" else None
    if below is not None and depth > 0:
        made["number"] = document(below, numbers, depth - 1)
    return made


def _leaf(term: Term) -> str:
    source = source_of(term)
    return f"{term.symbol} = {amount(term)}" + (f"  [{source}]" if source else "")


def _condition(condition: Condition) -> str:
    return f"{condition.words}: {condition.formula}: {condition.with_numbers}"


def _disagrees(found: Explained) -> str:
    given = found.worked_out
    what = "a condition does not hold" if given is None else f"the formula gives {number(given)}"
    return f"NOT BORNE OUT: {what}; the plan's value stands, this explanation does not"
