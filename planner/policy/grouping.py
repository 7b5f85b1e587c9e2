"""Which options agree in the fields that rules read, found without comparing them all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from planner.policy.reads import Fields


class Texts:
    """Values as JSON text, which is equal only for equal values of equal types.

    Documents share their parts among options: what was written once is remembered by its
    identity, which is kept alive for as long as this is used.
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self._known: dict[int, tuple[Any, str]] = {}

    def of(self, value: Any) -> str:
        """Return the text of a value."""
        if type(value) is str:
            return f'"{value}'
        known = self._known.get(id(value))
        if known is None:
            known = (value, json.dumps(value, separators=(",", ":")))
            self._known[id(value)] = known
        return known[1]


def mentioned(value: Any) -> frozenset[str]:
    """Return every text inside a value of JSON types, but for the names of fields."""
    if isinstance(value, str):
        return frozenset({value})
    rows = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list | tuple):
        return frozenset().union(*map(mentioned, rows))
    return frozenset()


class Grouping:
    """Numbers for options and workloads: equal exactly where the fields read are equal.

    The options must be kept alive meanwhile: one whose values were all seen before, which
    is most of them, is recognised by the addresses of these.
    """

    def __init__(self, fields: Fields, texts: Texts, names: frozenset[str]) -> None:
        """Take the fields that count, and the names of workloads that do."""
        self._fields = fields
        self._texts = texts
        self._names = names if fields.named else frozenset()
        self._option = [name for name in fields.option if name != "workload"]
        # One more than there are: of a single name, an itemgetter returns no tuple.
        stated = (*self._option, *self._option[:1])
        self._stated: Callable[[Any], tuple[Any, ...]] = (
            itemgetter(*stated) if stated else lambda _: ()
        )
        self._glances: dict[Any, int] = {}
        self._numbers: dict[Any, int] = {}
        self._profiles: dict[str, int] = {}

    def of_workload(self, name: str, workload: Mapping[str, Any]) -> tuple[int, str | None]:
        """Return the number of a workload's fields, and its name if that counts."""
        own = name if name in self._names else None
        text = json.dumps([own, self._fields.of_workload(workload)], separators=(",", ":"))
        return self._profiles.setdefault(text, len(self._profiles)), own

    def of(self, option: Mapping[str, Any], profile: int) -> int:
        """Return the number of an option's fields and of its workload's number."""
        # Another mapping might make its values anew each time, at the addresses of others.
        if type(option) is not dict:
            return self._number(option, profile)
        try:
            glance = (profile, *map(id, self._stated(option)))
        except KeyError:
            return self._number(option, profile)
        number = self._glances.get(glance)
        if number is None:
            number = self._glances[glance] = self._number(option, profile)
        return number

    def _number(self, option: Mapping[str, Any], profile: int) -> int:
        texts = self._texts.of
        key: list[Any] = [profile]
        for name in self._option:
            value = option.get(name)
            if name == "spill" and isinstance(value, Mapping):
                inner = self._fields.spill
                key += ["{", *(texts(value[part]) if part in value else None for part in inner)]
            else:
                key.append(texts(value) if name in option else None)
        return self._numbers.setdefault(tuple(key), len(self._numbers))
