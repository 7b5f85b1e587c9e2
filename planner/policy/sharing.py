"""One question for all options that the rules cannot tell apart.

Options that differ only in what a rule does not read (their names, region, term, hardware,
other workloads with the same residency and classification) get the same findings of it. So
rules that read the same fields are asked a part of the question of their own, in which one
option stands for all that agree in those fields: it has a made-up id and nothing but those
fields, so that a rule that reads another sees it absent. The findings then go to each
option with its own id, workload and place in the document.

An option that a rule must see whole, or whose workload nobody knows, is asked as it is.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from planner import faults
from planner.errors import PolicyUnavailable
from planner.policy.answer import worst
from planner.policy.grouping import Grouping, Texts, mentioned
from planner.policy.reads import Fields, Reads
from planner.policy.templates import Member, Template
from planner.policy.verdicts import Finding, Verdict

EVERY_RULE = ""
"""Stands for all rules where they are asked one and the same question."""


@dataclass
class Alike:
    """Options that some rules cannot tell apart, by one of them, and what is said of them."""

    option: Mapping[str, Any]
    workload: str
    asked: list[tuple[int, str]] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    verdict: Verdict = "allow"


@dataclass(frozen=True)
class Question:
    """The document to ask, and whose findings those about its options are.

    ``_alike`` holds, for each set of rules, what each option is alike with.
    """

    document: Mapping[str, Any]
    _members: Sequence[Member]
    _alike: Sequence[Sequence[Alike]]
    _asked: Mapping[tuple[int, str], Member]
    _part_of: Mapping[str, int]

    def spread(self, findings: Iterable[Finding]) -> Iterator[tuple[Member, tuple[Alike, ...]]]:
        """Yield every option, in order, with what is said of it; the findings are all of it.

        A finding on what its rule was not asked about is PolicyUnavailable.
        """
        found: dict[tuple[int, str], list[Template]] = {}
        for finding in findings:
            part = self._part_of.get(finding.rule_id, self._part_of.get(EVERY_RULE, -1))
            key = (part, finding.subject)
            if key not in self._asked:
                what = (
                    f"{finding.rule_id} has a finding on {finding.subject}, which "
                    "it was not asked about"
                )
                fix = "Load a bundle that passes its tests."
                raise PolicyUnavailable(faults.UNUSABLE_ANSWER.at("policy engine", what, fix))
            found.setdefault(key, []).append(Template(finding, self._asked[key]))
        for group in {id(group): group for group in chain(*self._alike)}.values():
            group.templates = [row for key in group.asked for row in found.get(key, ())]
            group.verdict = worst({row.finding.verdict for row in group.templates})
        return zip(self._members, zip(*self._alike, strict=True), strict=True)


def share(document: Mapping[str, Any], reads: Reads | None) -> Question:
    """Return the question that decides about every option of ``document``.

    Without ``reads``, it is the document itself.
    """
    members = [
        Member(option["id"], place, str(option.get("workload")))
        for place, option in enumerate(document["options"])
    ]
    if reads is None:
        alone = [Alike({}, member.workload, [(0, member.id)]) for member in members]
        asked = {(0, member.id): member for member in members}
        return Question(document, members, [alone], asked, {EVERY_RULE: 0})
    head = {name: row for name, row in document.items() if name not in ("workloads", "options")}
    texts, names = Texts(), mentioned(head)
    parts = {
        fields: _Part(number, fields, document["workloads"])
        for number, fields in enumerate(reads.rules)
    }
    alike = []
    for near in _near(reads.rules):
        groups = _alike(document, members, near, Grouping(Fields.union(near), texts, names))
        alike.append(groups)
        distinct = list({id(group): group for group in groups}.values())
        for fields in near:
            parts[fields].ask(distinct, Grouping(fields, texts, names))
    rows = [
        {"rules": rules, "workloads": parts[fields].workloads, "options": parts[fields].options}
        for fields, rules in reads.rules.items()
    ]
    return Question(
        {**head, "workloads": {}, "options": [], "parts": rows},
        members,
        alike,
        {key: member for part in parts.values() for key, member in part.asked.items()},
        {id: number for number, rules in enumerate(reads.rules.values()) for id in rules},
    )


def _near(rules: Iterable[Fields]) -> list[list[Fields]]:
    """Return what rules read in sets with no field of an option in common.

    Where a model serves and which model it is are independent: together they would tell
    as many options apart as there are pairs.
    """
    sets: list[list[Fields]] = []
    for fields in rules:
        near = [row for row in sets if any(set(fields.option) & set(x.option) for x in row)]
        sets = [*(row for row in sets if row not in near), [*chain(*near), fields]]
    return sets


def _alike(
    document: Mapping[str, Any],
    members: Iterable[Member],
    near: Iterable[Fields],
    grouping: Grouping,
) -> list[Alike]:
    """Return for each option what it is alike with to rules that read any of ``near``."""
    profiles = {
        name: grouping.of_workload(name, row)[0] for name, row in document["workloads"].items()
    }
    whole = {fields.whole for fields in near}
    alike: list[Alike] = []
    known: dict[int, Alike] = {}
    for member, option in zip(members, document["options"], strict=True):
        alone = "all" in whole or ("pinned" in whole and option.get("pinned") is not False)
        if alone or option.get("workload") not in profiles:
            alike.append(Alike(option, member.workload))
            continue
        key = grouping.of(option, profiles[member.workload])
        if key not in known:
            known[key] = Alike(option, member.workload)
        alike.append(known[key])
    return alike


class _Part:
    """What the rules that read some fields are asked."""

    def __init__(self, number: int, fields: Fields, all_workloads: Mapping[Any, Any]) -> None:
        self.workloads: dict[str, Any] = {}
        self.options: list[Mapping[str, Any]] = []
        self.asked: dict[tuple[int, str], Member] = {}
        self._number = number
        self._fields = fields
        self._all_workloads = all_workloads
        self._mark = f"{secrets.token_hex(8)}-{number}"

    def ask(self, alike: Iterable[Alike], grouping: Grouping) -> None:
        """Ask about every option, and note in ``alike`` what stands for it."""
        known: dict[int, tuple[int, str]] = {}
        profiles: dict[str, tuple[int, str | None]] = {}
        for group in alike:
            name = group.workload
            workload = self._all_workloads.get(group.option.get("workload"))
            if workload is None or self._is_whole(group.option):
                if workload is not None:
                    self.workloads[name] = workload
                group.asked.append(self._add(group.option, group.option["id"], name))
                continue
            if name not in profiles:
                profiles[name] = grouping.of_workload(name, workload)
            profile, own = profiles[name]
            key = grouping.of(group.option, profile)
            if key not in known:
                known[key] = self._stand(group.option, key, profile, own, workload)
            group.asked.append(known[key])

    def _stand(
        self,
        option: Mapping[str, Any],
        key: int,
        profile: int,
        own: str | None,
        workload: Mapping[str, Any],
    ) -> tuple[int, str]:
        """Ask about what is read of an option, as that of a workload which may be unnamed."""
        name = own or f"workload-{self._mark}-{profile:08d}"
        id = f"option-{self._mark}-{key:08d}"
        self.workloads.setdefault(name, self._fields.of_workload(workload))
        named = {"id": id, "workload": name}
        return self._add({**self._fields.of_option(option), **named}, id, name)

    def _is_whole(self, option: Mapping[str, Any]) -> bool:
        if self._fields.whole == "pinned":
            return option.get("pinned") is not False
        return self._fields.whole == "all"

    def _add(self, option: Mapping[str, Any], id: str, workload: str) -> tuple[int, str]:
        key = (self._number, id)
        self.asked[key] = Member(id, len(self.options), workload)
        self.options.append(option)
        return key
