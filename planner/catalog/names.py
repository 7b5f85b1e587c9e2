"""Resolve names: one canonical name for every spelling, and the nearest for a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner import faults
from planner.errors import Code, InputError, Problem
from planner.nearest import suggestion


class NameIndex:
    """Canonical names by any of their spellings; case does not matter.

    A spelling is the name itself, an alias, or the part of a repository name
    after its slash. One that means two things is kept out of the short forms
    and refused as an alias.
    """

    def __init__(self, kind: str, names: Mapping[str, Iterable[str]]) -> None:
        """Index ``names`` (canonical name to aliases); ``kind`` is for messages.

        Raises InputError when two entries claim the same alias.
        """
        self._kind = kind
        self._names = tuple(names)
        self._spellings = (*self._names, *(alias for found in names.values() for alias in found))
        self._known: dict[str, str] = {}
        problems: list[Problem] = []
        claims = [(name, name) for name in names]
        claims += [(alias, name) for name, aliases in names.items() for alias in aliases]
        for spelling, name in claims:
            holder = self._known.setdefault(spelling.casefold(), name)
            if holder != name:
                what = f"the {kind} name {spelling!r} also means {holder!r}"
                problems.append(faults.CATALOG_TWICE.at(name, what, "Remove one of the two."))
        if problems:
            raise InputError(problems)
        self._add_short_forms()

    def find(self, name: str) -> str | None:
        """Return the canonical name of ``name``, or None."""
        return self._known.get(name.casefold())

    def resolve(self, name: str, where: str = "") -> str:
        """Return the canonical name; ``where`` places the problem in the user's file.

        Raises InputError naming the nearest known names.
        """
        found = self.find(name)
        if found is None:
            raise InputError([unknown(self._kind, name, self._spellings, where)])
        return found

    def _add_short_forms(self) -> None:
        shorts: dict[str, set[str]] = {}
        for name in self._names:
            if "/" in name:
                shorts.setdefault(name.rsplit("/", 1)[1].casefold(), set()).add(name)
        for short, owners in shorts.items():
            if len(owners) == 1:
                self._known.setdefault(short, next(iter(owners)))


def unknown(
    kind: str,
    name: str,
    known: Iterable[str],
    where: str = "",
    code: Code = faults.UNKNOWN_NAME,
) -> Problem:
    """Return the problem of a name that is not known, with the nearest or all that are."""
    fix = suggestion(name, known)
    return code.at(where or kind, f"unknown {kind} {name!r}", fix)
