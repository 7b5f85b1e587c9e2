"""What an explained number is made of: plain values that text, JSON and pages print.

A formula is an expression over the symbols of its terms (see ``arithmetic``), and gives the
value when they are put in. A number that was found by a search has no closed formula: its
conditions then say what it satisfies and its neighbour does not, with both sides worked out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.report.numbers import arithmetic

Exactness = Literal["exact", "modelled", "measured", "declared", "published"]
"""exact: arithmetic on declared and published figures; modelled: a model stands behind it;
measured: somebody's measurement; declared: as the stack says; published: as a catalog row says."""

Origin = Literal["number", "declared", "catalog", "constant", "worked_out"]
"""Where a term comes from; worked_out is an intermediate of a model that has no line here."""

Amount = int | float | tuple[int | float, ...]
"""A term's value; several values stand for a series that a formula sums."""


@dataclass(frozen=True, slots=True)
class Term:
    """A symbol of a formula: its value and unit, and where it comes from.

    ``ref`` is the id of another explained number, a declared key with its file, or the name
    of a catalog row; ``source`` says who published or measured it, and when.
    """

    symbol: str
    value: Amount
    unit: str
    origin: Origin
    ref: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """What holds of a number that was searched for: words, and a comparison of terms."""

    words: str
    formula: str
    terms: tuple[Term, ...]

    @property
    def holds(self) -> bool:
        """Return whether the comparison is true of the terms' values."""
        return bool(arithmetic.evaluate(self.formula, values_of(self.terms)))

    @property
    def with_numbers(self) -> str:
        """Return the comparison with the numbers in it."""
        return arithmetic.with_numbers(self.formula, values_of(self.terms))


@dataclass(frozen=True, slots=True)
class Explained:
    """A number of a plan, and how it came about.

    ``group`` is the workload, or "total" for the stack; ``kind`` names the number in it, the
    same for every workload. ``rule`` says in words what the formula does and why.
    """

    group: str
    kind: str
    title: str
    value: int | float
    unit: str
    formula: str
    terms: tuple[Term, ...]
    exactness: Exactness
    rule: str = ""
    conditions: tuple[Condition, ...] = ()

    @property
    def id(self) -> str:
        """Return the number's name in the stack, such as ``case-notes/kv_tokens``."""
        return f"{self.group}/{self.kind}"

    @property
    def with_numbers(self) -> str:
        """Return the formula with the numbers in it; "" for a number without a formula."""
        return arithmetic.with_numbers(self.formula, values_of(self.terms))

    @property
    def worked_out(self) -> float | None:
        """Return what the formula gives, None for a number without one."""
        if not self.formula:
            return None
        return float(arithmetic.evaluate(self.formula, values_of(self.terms)))

    @property
    def agrees(self) -> bool:
        """Return whether formula and conditions bear the value out."""
        given = self.worked_out
        met = given is None or arithmetic.close(given, self.value)
        return met and all(condition.holds for condition in self.conditions)

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """Return the terms of the formula and of the conditions, each once."""
        found = dict.fromkeys(self.terms)
        for condition in self.conditions:
            found.update(dict.fromkeys(condition.terms))
        return tuple(found)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return where the terms come from, each source once."""
        given = (term for term in self.all_terms if term.origin != "worked_out")
        return tuple(dict.fromkeys(source_of(term) for term in given))

    def term(self, symbol: str = "") -> Term:
        """Return this number as a term of another formula."""
        name = symbol or self.kind.rpartition("/")[2].replace("-", "_")
        return Term(name, self.value, self.unit, "number", self.id)


def values_of(terms: tuple[Term, ...]) -> dict[str, Amount]:
    """Return the terms' values by symbol."""
    return {term.symbol: term.value for term in terms}


def source_of(term: Term) -> str:
    """Return in words where a term comes from."""
    if term.origin == "number" or not term.source:
        return term.ref
    return f"{term.ref}: {term.source}" if term.ref else term.source
