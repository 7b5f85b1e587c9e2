"""One question for all options that the rules cannot tell apart.

Options that differ only in what no rule reads (their names, region, term, hardware, other
workloads with the same residency and classification) get the same findings. One stands for
all: it is asked about under a made-up id, with only the fields that the manifest says the
rules read, so that a rule that reads another sees it absent. The findings then go to each
member with its own id, workload and place in the document.

An option that is pinned is asked about as it is: pins are compared with one another.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner.policy.verdicts import Finding


@dataclass(frozen=True)
class Reads:
    """The fields that the rules of stage ``options`` read, but for names and pins."""

    option: tuple[str, ...]
    spill: tuple[str, ...]
    workload: tuple[str, ...]

    @property
    def whole(self) -> tuple[str, ...]:
        """The fields of an option that are compared whole."""
        return tuple(name for name in self.option if name != "spill")

    @classmethod
    def of_manifest(cls, content: bytes) -> Reads | None:
        """Return what a manifest says that its rules read; None when it does not say."""
        reads = json.loads(content).get("reads")
        if not isinstance(reads, Mapping):
            return None
        return cls(*(tuple(map(str, reads[part])) for part in ("option", "spill", "workload")))


class _Member(NamedTuple):
    """One option: its place in the document, its id and its workload's name."""

    place: int
    id: str
    workload: str


@dataclass
class _Group:
    """Options that get the same findings; the first one's fields are asked about."""

    option: Mapping[str, Any]
    members: list[_Member] = field(default_factory=list)


@dataclass(frozen=True)
class Question:
    """The document to ask, and whose findings those about its options are."""

    document: Mapping[str, Any]
    _stands_for: Mapping[str, tuple[int, str, Sequence[_Member]]]

    def spread(self, findings: Iterable[Finding]) -> dict[str, list[Finding]]:
        """Return the findings of each option that has any, by its id."""
        spread: dict[str, list[Finding]] = {}
        for found in findings:
            if found.subject not in self._stands_for:
                spread.setdefault(found.subject, []).append(found)
                continue
            index, workload, members = self._stands_for[found.subject]
            own = _Template(found, index, workload).of
            for member in members:
                spread.setdefault(member.id, []).append(own(member))
        return spread


def share(document: Mapping[str, Any], reads: Reads | None) -> Question:
    """Return the question that decides about every option of ``document``.

    Without ``reads``, it is the document itself.
    """
    if reads is None:
        return Question(document, {})
    text, whole = _Texts(), reads.whole
    profiles = {
        name: text.of(_part(row, reads.workload)) for name, row in document["workloads"].items()
    }
    groups: dict[Any, _Group] = {}
    for index, option in enumerate(document["options"]):
        workload = option.get("workload")
        key: Any = index
        if option.get("pinned") is False and workload in profiles:
            spill = option.get("spill")
            parts = spill if isinstance(spill, dict) and "spill" in reads.option else {}
            key = (
                profiles[workload],
                *[text.of(option[name]) if name in option else None for name in whole],
                *[text.of(parts[name]) if name in parts else None for name in reads.spill],
                None if parts else text.of(spill),
            )
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Group(option)
        group.members.append(_Member(index, option["id"], str(workload)))
    return _question(document, groups.values(), reads)


def _question(document: Mapping[str, Any], groups: Iterable[_Group], reads: Reads) -> Question:
    mark = secrets.token_hex(8)
    workloads: dict[str, Any] = {}
    options: list[Mapping[str, Any]] = []
    stands_for: dict[str, tuple[int, str, Sequence[_Member]]] = {}
    names: dict[str, str] = {}
    for index, group in enumerate(groups):
        first = group.members[0]
        if len(group.members) == 1:
            if first.workload in document["workloads"]:
                workloads[first.workload] = document["workloads"][first.workload]
            options.append(document["options"][first.place])
            # Its evidence still has to point into the whole document.
            if first.place != index:
                stands_for[first.id] = (index, first.workload, group.members)
            continue
        profile = _part(document["workloads"][first.workload], reads.workload)
        workload = names.setdefault(json.dumps(profile), f"workload-{mark}-{len(names):08d}")
        workloads[workload] = profile
        id = f"option-{mark}-{index:08d}"
        options.append({**_relevant(group.option, reads), "id": id, "workload": workload})
        stands_for[id] = (index, workload, group.members)
    return Question({**document, "workloads": workloads, "options": options}, stands_for)


def _relevant(option: Mapping[str, Any], reads: Reads) -> dict[str, Any]:
    """Return the fields that rules read; nobody compares what is not pinned."""
    part = _part(option, ("pinned", *reads.option))
    if isinstance(spill := part.get("spill"), Mapping):
        part["spill"] = _part(spill, reads.spill)
    return part


def _part(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the named fields, absent ones left absent."""
    return {name: row[name] for name in names if name in row}


class _Texts:
    """Values as JSON text, which is equal only for equal values of equal types.

    Documents share their parts among options: what was written once is remembered by its
    identity, which the document keeps alive for as long as this is used.
    """

    def __init__(self) -> None:
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


class _Template:
    """A finding about one that stands for many, ready to be made each member's own."""

    def __init__(self, found: Finding, index: int, workload: str) -> None:
        self._found = found
        self._workload = workload
        fields = {name: getattr(found, name) for name in type(found).model_fields}
        at, self._rest = f"/options/{index}", found.evidence
        self._indexed = self._rest == at or self._rest.startswith(f"{at}/")
        if self._indexed:
            self._rest = self._rest.removeprefix(at)
        self._named = {
            name: value
            for name, value in fields.items()
            if name not in {"subject", "evidence"}
            and (found.subject in str(value) or workload in str(value))
        }

    def of(self, member: _Member) -> Finding:
        """Return the finding as it would be had the member itself been asked about."""
        swaps = ((self._found.subject, member.id), (self._workload, member.workload))
        changed = {name: _swapped(value, swaps) for name, value in self._named.items()}
        changed["subject"] = member.id
        changed["evidence"] = (
            f"/options/{member.place}{self._rest}" if self._indexed else _swapped(self._rest, swaps)
        )
        return self._found.model_copy(update=changed)


def _swapped(value: Any, swaps: Iterable[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for name, own in swaps:
            value = value.replace(name, own)
        return value
    if isinstance(value, Mapping):
        return {_swapped(key, swaps): _swapped(item, swaps) for key, item in value.items()}
    if isinstance(value, list):
        return [_swapped(item, swaps) for item in value]
    return value
